package corpus

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"testing"
)

// splitterSays is what [Splitter] made of the texts below. When it is another, the rules have changed: raise Splitter, and write the new sum here.
const (
	splitterIs   = 2
	splitterSays = "632fb1a4aa48ee06"
)

var splitTexts = map[string]string{
	"claims/a.ttl": "@prefix ex: <http://example.org/c#> .\nex:rule.v2 ex:text \"Prices are net\" .\n# a comment\nex:a ex:b ex:c.\nex:d ex:says \"one\"@en , \"два\"@ru ; ex:since \"2020\" .\nex:bad ex:text \"not closed .\n",
	"invariants/core.txt": "preface\n#1 [critical] [O] Times are UTC | Why: zones | Counter: the export screen\n\n" +
		"#2 rule without marks\n#3 [style] [P] one | Counter: a | Counter: b\nno number\n",
	"invariants.md":       "# Invariants\n\n- #7 [important] [F] never on Friday | Why: nobody is there\n",
	"lessons/short.md":    "---\nsummary: Logs are for machines\ncategory: ops\n---\n# Logs\n\nOne object per line.\n",
	"lessons/long.md":     "# Long\n\nIntro.\n\n## First part\n\n" + long + "\n\n## Second part\n\n- one bullet\n- another bullet\n  with a second line\n\n## Second part\n\n" + long + "\n",
	"memory/names.ru.md":  "Имена веток пишутся латиницей.\n",
	"memory/front.md":     "---\nmemory_type: fact\nsummary: \"Σ is a sum\"\n---\n",
	"lessons/code.go":     "package lessons\n",
	"lessons/plain":       "A lesson without an ending.\n",
	"lessons/crlf.txt":    "One line.\r\nAnother line.\r\n",
	"memory/setext.md":    "Title\n=====\n\nText under it.\n\n```\n# no heading\n```\n",
	"memory/no-yaml.md":   "---\nsummary: Reception: a note\ntype: lesson\n---\nThe reader projects.\n",
	"memory/lines.md":     "Two *lines*\nof title\n=====\n\nText under it.\n",
	"memory/wide.md":      "\xff\xfeR\x00u\x00l\x00e\x00",
	"invariants/off.md":   "#1 [O] in force\n<!--\n#2 [O] out of force\n-->\n#3 [O] in force again\n",
	"unrelated/readme.md": "No part of the corpus.\n",
}

var long = func() (s string) {
	for len(s) < 1600 {
		s += "Words that make the lesson too long to be one item. "
	}
	return s
}()

func TestTheSplittersVersionIsRaisedWithItsRules(t *testing.T) {
	t.Parallel()
	var all []any
	for _, name := range []string{"claims/a.ttl", "invariants/core.txt", "invariants.md", "lessons/short.md", "lessons/long.md", "memory/names.ru.md",
		"memory/front.md", "lessons/code.go", "lessons/plain", "lessons/crlf.txt", "memory/setext.md", "memory/no-yaml.md", "memory/lines.md", "memory/wide.md", "invariants/off.md", "unrelated/readme.md"} {
		kind, ok := KindOf(name)
		f := file{path: name, blob: "b", kind: kind}
		if ok {
			f.fill([]byte(splitTexts[name]), "")
		}
		all = append(all, ok, f.items, f.faults)
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(text)
	if got := hex.EncodeToString(sum[:8]); got != splitterSays || Splitter != splitterIs {
		t.Errorf("Splitter %d makes other items than version %d did (now %s): raise it, so that unchanged files are read again", Splitter, splitterIs, got)
	}
}
