package passage

import (
	"fmt"
	"strings"

	"storozh/core"
)

// splitTurtle makes a passage of each subject's statement. Statements of one subject that follow each other are one passage; a
// subject that comes again later gets `~2`. The literals are what a claim binds its reader to.
func splitTurtle(text string) ([]Passage, []core.Fault) {
	d := &turtle{scan: scanner{src: text, line: 1}, prefixes: map[string]string{}, unknown: map[string]bool{}}
	for {
		st, bad, ok := d.scan.statement()
		if !ok {
			break
		}
		if bad == nil {
			bad = d.take(st)
		}
		if bad != nil {
			d.f.add(bad.line, bad.what+"; this statement is left out")
			if st.end == 0 && !bad.back {
				d.scan.skip()
			}
			d.salvage(st)
			d.subject = ""
		}
	}
	return d.out, d.f.list
}

// turtle is one Turtle text being split.
type turtle struct {
	scan     scanner
	prefixes map[string]string
	base     string
	unknown  map[string]bool // prefixes that were missed already
	names    anchors
	subject  string // of the last passage; empty if another statement stood between
	from     int    // offset of the last passage
	out      []Passage
	f        faults
}

func (d *turtle) take(st statement) *broken {
	if word, ok := st.directive(); ok {
		return d.declare(word, st)
	}
	lits, bad := decode(st)
	if bad != nil {
		return bad
	}
	for _, t := range st.toks {
		if t.kind == kName {
			d.expand(t.text, t.line)
		}
	}
	subject, name := d.name(st)
	text := d.normative(lits, st.line)
	if subject != "" && subject == d.subject {
		last := &d.out[len(d.out)-1]
		last.Text, last.End = d.scan.src[d.from:st.end], st.last
		last.Normative = strings.TrimSpace(last.Normative + "\n" + text)
		return nil
	}
	p := Passage{Title: shorten(name, maxTitle), Text: d.scan.src[st.start:st.end], Normative: text, Start: st.line, End: st.last}
	if name == "" || len(name) > maxAnchor*4 {
		name = lineAnchor(st.line)
	}
	p.Anchor, _ = d.names.take(name)
	d.subject, d.from = subject, st.start
	d.out = append(d.out, p)
	return nil
}

// declare keeps a prefix or a base.
func (d *turtle) declare(word string, st statement) *broken {
	want := 2
	if word == "prefix" {
		want = 3
	}
	if len(st.toks) != want {
		return &broken{line: st.line, what: "this declaration is incomplete"}
	}
	iri := d.resolve(st.toks[want-1].text)
	if word == "base" {
		d.base = iri
	} else {
		d.prefixes[strings.TrimSuffix(st.toks[1].text, ":")] = iri
	}
	return nil
}

// salvage keeps the declaration of a broken statement: a missing full stop behind a prefix must not cost every name that uses it.
func (d *turtle) salvage(st statement) {
	if len(st.toks) > 0 {
		if word, ok := st.directive(); ok {
			_ = d.declare(word, st) // an incomplete one was reported already
		}
	}
}

func (d *turtle) resolve(iri string) string {
	if strings.Contains(iri, ":") {
		return iri
	}
	return d.base + iri
}

// expand turns a prefixed name into an IRI. An undeclared prefix is reported once and stands for itself: a part of a file, as a
// diff shows it, rarely holds the declarations.
func (d *turtle) expand(name string, line int) string {
	prefix, local, _ := strings.Cut(name, ":")
	ns, ok := d.prefixes[prefix]
	if !ok {
		if !d.unknown[prefix] {
			d.unknown[prefix] = true
			d.f.add(line, fmt.Sprintf("the prefix `%s:` is not declared; its names are taken as written", shorten(prefix, 40)))
		}
		return name
	}
	return ns + strings.ReplaceAll(local, `\`, "")
}

// name gives the subject twice: what tells subjects apart, and as written. A subject without a name of its own is empty.
func (d *turtle) name(st statement) (subject, written string) {
	switch t := st.toks[0]; t.kind {
	case kIRI:
		return d.resolve(t.text), t.text
	case kName:
		return d.expand(t.text, t.line), t.text
	case kBlank:
		return t.text, ""
	}
	return "", ""
}

// normative joins the literals that say something: dates, numbers, booleans and addresses are data about a claim, as is a string
// without a single letter.
func (d *turtle) normative(lits []token, line int) string {
	var out []string
	for _, t := range lits {
		text := strings.TrimSpace(t.text)
		if hasLetter(text) && (t.dt == "" || !metadata(d.datatype(t.dt, line))) {
			out = append(out, clean(text))
		}
	}
	return strings.Join(out, "\n")
}

func (d *turtle) datatype(dt string, line int) string {
	prefix, _, ok := strings.Cut(dt, ":")
	if _, declared := d.prefixes[prefix]; ok && declared {
		return d.expand(dt, line)
	}
	return dt
}

// metadata tells by its last part whether a datatype is one of the XSD types for data rather than words.
func metadata(dt string) bool {
	i := strings.LastIndexAny(dt, "#:/")
	ns, name := strings.ToLower(dt[:i+1]), dt[i+1:]
	if !strings.Contains(ns, "xmlschema") && ns != "xsd:" && ns != "xs:" {
		return false
	}
	switch name {
	case "string", "normalizedString", "token":
		return false
	}
	return true
}
