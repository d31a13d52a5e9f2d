package judge

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"storozh/core"
)

// wholeObject reads an answer that is nothing but one JSON object (perhaps in a fence): then there is no thinking to cut off, and
// its reason may quote whatever it likes.
func wholeObject(s string) ([]found, bool) {
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "```") && strings.HasSuffix(s, "```") && len(s) > 6 {
		s = strings.TrimSpace(strings.TrimPrefix(strings.Trim(s, "`"), "json"))
	}
	if !strings.HasPrefix(s, "{") || len(s) > maxVerdicts {
		return nil, false
	}
	f, n, ok := object(s)
	return f, ok && n == len(s)
}

// startsObject finds braces that are meant as JSON.
var startsObject = regexp.MustCompile(`\{\s*["}]`)

// objects takes the JSON objects out of s; rest is what stands between them. An object that breaks off or off the grammar is an
// unknown verdict: what it quotes must not be read in its place.
func objects(s string) (all []found, rest string) {
	var b strings.Builder
	for {
		at := startsObject.FindStringIndex(s)
		if at == nil {
			b.WriteString(s)
			return all, b.String()
		}
		b.WriteString(s[:at[0]])
		b.WriteByte('\n')
		f, n, ok := object(s[at[0]:])
		if !ok {
			return append(all, found{label: unknown}), b.String()
		}
		all = append(all, f...)
		s = s[at[0]+n:]
	}
}

// object reads one JSON object at the start of s: its label keys, however deep, each a verdict of its own, so that two in one
// object must agree, too. n is its length.
func object(s string) (all []found, n int, ok bool) {
	dec := json.NewDecoder(strings.NewReader(s))
	reason := ""
	var aside []found // labels under other keys: they can contradict, but are no verdict
	var keys []string // by depth: the key whose value comes next; in arrays ""
	var isKey []bool  // by depth: a key comes next; always false in arrays
	var arrays []bool
	for {
		tok, err := dec.Token()
		if err != nil {
			return nil, 0, false
		}
		top := len(keys) - 1
		switch t := tok.(type) {
		case json.Delim:
			if t == '{' || t == '[' {
				if top >= 0 && isLabelKey(keys[top]) {
					all = append(all, found{label: unknown})
				}
				keys, isKey, arrays = append(keys, ""), append(isKey, t == '{'), append(arrays, t == '[')
				continue
			}
			keys, isKey, arrays = keys[:top], isKey[:top], arrays[:top]
			if top == 0 {
				if slices.ContainsFunc(all, func(f found) bool { return f.label != unknown }) {
					all = append(all, aside...)
				}
				for i := range all {
					all[i].reason = reason
				}
				return all, int(dec.InputOffset()), true
			}
			top--
		default:
			text, _ := tok.(string)
			if isKey[top] {
				keys[top], isKey[top] = strings.ToLower(text), false
				continue
			}
			switch key := keys[top]; {
			case isLabelKey(key) && key != "label" && key != "verdict":
				all = append(all, found{label: unknown}) // a look-alike
			case isLabelKey(key):
				all = append(all, found{label: labelValue(text)})
			case key == "reason" || key == "note":
				reason = cmp.Or(reason, text)
			default:
				if l := labelValue(text); l == core.Contra || l == core.Dup { // `ok` may be said of anything
					aside = append(aside, found{label: l})
				}
			}
		}
		if !arrays[top] { // a value is complete
			keys[top], isKey[top] = "", true
		}
	}
}

// isLabelKey also takes what looks like a label key to a reader; its value is then unknown, see [labelValue] and [object].
func isLabelKey(key string) bool {
	key = strings.TrimSpace(plain(key))
	return key == "label" || key == "verdict"
}

// denied begins a pattern whose first group is a denial of what follows.
const denied = `(?i)((?:\b(?:not|no|neither|nor|never|without)|n[’']t)\s+(?:an?\s+)?)?\b`

var (
	labelLine = regexp.MustCompile(`(?i)^[\s*_#>"'` + "`" + `-]*(label|verdict)[\s*_"'` + "`" + `]*[:=](.*)$`)
	noteLine  = regexp.MustCompile(`(?i)^[\s*_#>"'` + "`" + `-]*(note|reason)[\s*_"'` + "`" + `]*[:=](.*)$`)
	elsewhere = regexp.MustCompile(`(?i)\b(label|verdict)\b[\s*_"'` + "`" + `]*([:=]|is\b)[\s*_"'` + "`" + `]*[\p{L}\p{N}]`)
	// bare is a label with what may follow it: a full stop, a dash, a colon or the end.
	bare        = regexp.MustCompile(`(?i)^[\s*_"'` + "`" + `]*(contra|dup|ok)[*_"'` + "`" + `]*(?:\s*$|\.(?:\s+(.*))?$|\s*[:—–](.*)$|\s*-\s+(.*)$)`)
	sentenceEnd = regexp.MustCompile(`[.!?;:](?:\s+|$)`)
	// again is a sentence that is a label and nothing else, such as second thoughts.
	again = regexp.MustCompile(`(?i)^(?:actually|rather|no|wait|so|final(?:ly)?|answer|correction|hence)?[\s,]*(contra|dup|ok)\s*$`)
	// named and clash are a label, and what contra means, in a sentence.
	named = regexp.MustCompile(denied + `(contra|dup)\b`)
	clash = regexp.MustCompile(denied + `contradict(?:s|ory|ions?)?\b`)
)

// inText reads the forms without JSON, line by line: `label: contra` with an optional note line, and a bare label at the very
// beginning. A label that is only spoken of makes the answer unreadable, because it may be negated; a bare label further down is no
// answer either, but it can contradict one (already tells that JSON held one).
func inText(s string, already bool) (all []found) {
	note, first := "", true
	var aside []found
	for line := range strings.Lines(s) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") || strings.Trim(line, "[], ") == "" {
			continue
		}
		aside = append(aside, secondThoughts(line)...)
		if m := bare.FindStringSubmatch(line); m != nil && first {
			// "OK." may also be how a model begins to speak: what it says then must not be another verdict.
			rest := m[2] + m[3] + m[4]
			all = append(all, found{labelValue(m[1]), rest})
			aside = append(aside, meant(rest)...)
		} else if m := noteLine.FindStringSubmatch(line); m != nil {
			if note == "" {
				note = m[2]
			}
		} else if m := labelLine.FindStringSubmatch(line); m != nil && strings.TrimSpace(m[2]) != "" {
			all = append(all, found{label: labelValue(m[2])})
		} else if m == nil && elsewhere.MatchString(line) {
			all = append(all, found{label: unknown})
		} else if note == "" && len(all) > 0 {
			note = line
		}
		first = false
	}
	if already || len(all) > 0 {
		all = append(all, aside...)
	}
	for i := range all {
		if all[i].reason == "" {
			all[i].reason = note
		}
	}
	return all
}

// meant finds a verdict in what follows a bare label.
func meant(rest string) (all []found) {
	if elsewhere.MatchString(rest) {
		all = append(all, found{label: unknown})
	}
	for _, m := range clash.FindAllStringSubmatch(rest, -1) {
		if m[1] == "" {
			all = append(all, found{label: core.Contra})
		}
	}
	return all
}

// secondThoughts finds sentences that are a label and nothing else, and sentences that name one without denying it. Of the labels only `ok`
// is a word that people use.
func secondThoughts(line string) (all []found) {
	if noteLine.MatchString(line) {
		return nil
	}
	for _, m := range named.FindAllStringSubmatch(line, -1) {
		if m[1] == "" {
			all = append(all, found{label: labelValue(m[2])})
		}
	}
	for _, sentence := range sentenceEnd.Split(line, -1) {
		if m := again.FindStringSubmatch(strings.Trim(sentence, " *_`\"'")); m != nil {
			all = append(all, found{label: labelValue(m[1])})
		}
	}
	return all
}
