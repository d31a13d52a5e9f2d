package passage

import (
	"fmt"
	"strings"
)

const (
	maxStatement = 1 << 20 // bytes of one statement
	maxNesting   = 64      // brackets within brackets
)

// statement is the tokens of one Turtle statement without the full stop at its end.
type statement struct {
	toks  []token
	start int // offset of its first byte
	end   int // offset behind the full stop
	line  int // of the first token
	last  int // line of the full stop
}

// directive tells whether the statement declares a prefix or a base, in Turtle's or SPARQL's spelling.
func (s statement) directive() (word string, ok bool) {
	t := s.toks[0]
	word = strings.ToLower(t.text)
	if word != "prefix" && word != "base" {
		return "", false
	}
	return word, t.kind == kAt || t.kind == kWord
}

// state says what may come next in a statement outside all brackets.
type state byte

const (
	wantSubject state = iota
	wantPredicate
	wantObject
	wantEnd
)

// broken is a fault inside a statement. back is set if the scanner already stands where reading can go on.
type broken struct {
	line int
	what string
	back bool
}

// statement collects the next statement. ok is false at the end of the text; bad says why the statement can't be used.
func (s *scanner) statement() (st statement, bad *broken, ok bool) {
	var (
		at    state
		depth int
		head  *token // what may be the next statement's subject, taken for a predicate behind a last `;`
	)
	for {
		t, err := s.next()
		if len(st.toks) == 0 {
			st.start, st.line = t.start, t.line
		}
		if err != nil {
			return st, &broken{line: t.line, what: err.Error()}, true
		}
		if t.kind == kEOF && len(st.toks) == 0 {
			return st, nil, false
		}
		if t.kind == kEOF {
			return st, &broken{line: st.line, what: "this statement is not closed by a full stop", back: true}, true
		}
		if t.end-st.start > maxStatement {
			return st, &broken{line: st.line, what: fmt.Sprintf("this statement is longer than %d bytes", maxStatement)}, true
		}
		if t.is(".") {
			st.end, st.last = t.end, t.line
			return st, st.stopped(depth), true
		}
		before, next := len(st.toks), t.first && at == wantPredicate && depth == 0
		if what := st.accept(t, &at, &depth); what != "" {
			b := &broken{line: t.line, what: what}
			// A statement that lacks its full stop, or its end, must not cost the next one, which begins in the first column.
			if t.first && before > 0 {
				head = &t
			}
			if head != nil {
				s.pos, s.line, b.back = head.start, head.line, true
			}
			return st, b, true
		}
		if next && before > 1 && t.kind != kPunct {
			head = &t
		}
		if st.sparqlDone() {
			st.end, st.last = t.end, t.line
			return st, nil, true
		}
	}
}

// stopped says what is wrong with a statement at its full stop, which ends it in any case.
func (s statement) stopped(depth int) *broken {
	switch {
	case len(s.toks) == 0:
		return &broken{line: s.line, what: "a full stop that ends nothing"}
	case depth > 0:
		return &broken{line: s.line, what: "a bracket of this statement is not closed"}
	}
	return nil
}

// sparqlDone tells whether the statement is a complete `PREFIX p: <iri>` or `BASE <iri>`, which have no full stop.
func (s statement) sparqlDone() bool {
	word, ok := s.directive()
	if !ok || s.toks[0].kind != kWord {
		return false
	}
	return word == "base" && len(s.toks) == 2 || word == "prefix" && len(s.toks) == 3
}

// accept adds a token, or says why it can't stand there. Only the level outside all brackets is checked here, as far as it takes to
// find where a statement ends; the rest of the grammar is the decoder's.
func (s *statement) accept(t token, at *state, depth *int) string {
	if len(s.toks) > 0 {
		if _, ok := s.directive(); ok {
			return s.acceptDirective(t)
		}
		prev := &s.toks[len(s.toks)-1]
		switch {
		case t.kind == kAt && prev.kind == kString && prev.end == t.start:
			prev.end = t.end // the language of a literal binds nobody
			return ""
		case prev.kind == kTyped:
			return s.acceptType(t)
		case t.kind == kTyped && prev.kind == kString:
			s.toks = append(s.toks, t)
			return ""
		}
	}
	what := ""
	switch {
	case len(s.toks) == 0 && (t.kind == kAt || t.kind == kWord):
		s.toks = append(s.toks, t)
		if _, ok := s.directive(); !ok {
			what = fmt.Sprintf("`%s` can't begin a statement", shorten(t.text, 40))
		}
		return what
	case t.kind == kAt, t.kind == kTyped:
		what = "`@` or `^^` stands behind something that is no string"
	case t.kind == kWord && t.text != "a" && t.text != "true" && t.text != "false":
		what = fmt.Sprintf("`%s` is no name: a prefix and a colon are missing", shorten(t.text, 40))
	case t.is("]"), t.is(")"):
		if *depth--; *depth < 0 {
			what = fmt.Sprintf("`%s` closes nothing", t.text)
		} else if *depth == 0 {
			*at++
		}
	case *depth > 0:
		if t.is("[") || t.is("(") {
			*depth++
		}
	default:
		what = step(t, at, depth)
	}
	if *depth > maxNesting {
		what = fmt.Sprintf("brackets are nested deeper than %d", maxNesting)
	}
	s.toks = append(s.toks, t)
	return what
}

// step moves the state on by a token outside all brackets.
func step(t token, at *state, depth *int) string {
	switch {
	case t.is(";") && (*at == wantEnd || *at == wantPredicate):
		*at = wantPredicate
	case t.is(",") && *at == wantEnd:
		*at = wantObject
	case t.kind == kPunct && !t.is("[") && !t.is("("):
		return fmt.Sprintf("unexpected `%s`", t.text)
	case *at == wantEnd:
		return "`.`, `;` or `,` is missing before this"
	case t.kind == kPunct:
		*depth++
	default:
		*at++
	}
	return ""
}

func (s *statement) acceptType(t token) string {
	if t.kind != kIRI && t.kind != kName {
		return "`^^` is not followed by a datatype"
	}
	s.toks = s.toks[:len(s.toks)-1] // the mark itself
	lit := &s.toks[len(s.toks)-1]
	lit.dt, lit.end = t.text, t.end
	return ""
}

func (s *statement) acceptDirective(t token) string {
	n := len(s.toks)
	word, _ := s.directive()
	if word == "prefix" && n == 1 {
		if t.kind != kName || !strings.HasSuffix(t.text, ":") {
			return "a prefix declaration wants a name with a colon, such as `ex:`"
		}
	} else if t.kind != kIRI || word == "prefix" && n != 2 || word == "base" && n != 1 {
		return "a declaration wants one IRI in `<…>` and, after @, a full stop"
	}
	s.toks = append(s.toks, t)
	return ""
}

// skip reads on to where the next statement can begin: behind a full stop, or at a line that begins in the first column like one.
func (s *scanner) skip() {
	for {
		s.space()
		if s.pos == len(s.src) || s.pos > 0 && s.src[s.pos-1] == '\n' && strings.IndexByte("]).;,\"'^", s.src[s.pos]) < 0 {
			return
		}
		if t, err := s.next(); err == nil && t.is(".") {
			return
		}
	}
}
