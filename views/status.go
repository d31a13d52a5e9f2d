package views

import (
	"fmt"
	"strings"

	"storozh/core"
)

// Status is the page about the process and the parts around it.
type Status struct {
	Page
	Parts  []Part
	Faults []core.Fault // places of the corpus that could not be read, at most listLimit
	More   int          // faults left out
	Audit  []AuditLine
}

// Part is one thing Storozh needs, with how it is.
type Part struct {
	Name  string
	Badge Badge
	Facts []Fact
}

// NewStatus builds the status page.
func NewStatus(p Page, s core.System) Status {
	p.Title, p.Here = "Status", "status"
	m := Status{Page: p, Parts: []Part{model(s), corpus(p, s), policy(s), watched(s), program(s)}}
	m.Demo = m.Demo || s.Demo
	m.Faults = s.Corpus.Faults
	if len(m.Faults) > listLimit {
		m.Faults, m.More = m.Faults[:listLimit], len(m.Faults)-listLimit
	}
	return m
}

func model(s core.System) Part {
	p := Part{Name: "Local model", Badge: good("reachable")}
	switch {
	case s.Demo:
		p.Badge = Badge{Kind: "unjudged", Word: "demo model"}
	case !s.LLM.Reachable:
		p.Badge = Badge{Kind: "failed", Word: "unreachable"}
	}
	p.Facts = some(Fact{Name: "Address", Value: s.LLM.URL}, Fact{Name: "Judge", Value: s.LLM.JudgeModel},
		Fact{Name: "Embeddings", Value: s.LLM.EmbedModel}, Fact{Name: "Remark", Value: s.LLM.Detail})
	return p
}

func corpus(page Page, s core.System) Part {
	p := Part{Name: "Shield corpus", Badge: good("current")}
	read := "not yet"
	if !s.CorpusReadAt.IsZero() {
		read = ago(page.Now, s.CorpusReadAt)
	}
	switch {
	case s.Corpus.Commit == "":
		p.Badge = Badge{Kind: "failed", Word: "not read"}
	case s.Corpus.Stale:
		p.Badge = Badge{Kind: "warn", Word: "stale"}
	case len(s.Corpus.Faults) > 0:
		p.Badge = Badge{Kind: "warn", Word: "current, " + plural(len(s.Corpus.Faults), "fault")}
	}
	p.Facts = some(Fact{Name: "Folder", Value: s.CorpusDir}, Fact{Name: "Commit", Value: short(s.Corpus.Commit, 12)},
		Fact{Name: "Items", Value: fmt.Sprint(s.Corpus.Items)}, Fact{Name: "Read", Value: read}, Fact{Name: "Reindexing", Value: reindexing(s.Corpus)}, Fact{Name: "Remark", Value: s.Corpus.Reason})
	return p
}

// reindexing tells how far the vectors of a new embedding model are; empty when none is on its way.
func reindexing(c core.CorpusState) string {
	if c.Reindexing.Of == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d texts have a vector of the new embedding model; until then runs are compared by those of the old one", c.Reindexing.Done, c.Reindexing.Of)
}

func policy(s core.System) Part {
	p := Part{Name: "Routing policy", Badge: good("in force")}
	if strings.HasPrefix(s.PolicySource, "built-in") {
		p.Badge = Badge{Kind: "warn", Word: "built-in copy"}
	}
	p.Facts = some(Fact{Name: "Source", Value: s.PolicySource})
	return p
}

func watched(s core.System) Part {
	p := Part{Name: "Watched file", Badge: good("watching")}
	switch {
	case s.ManifestPath == "":
		p.Badge = Badge{Kind: "none", Word: "none"}
	case !s.Watching:
		p.Badge = Badge{Kind: "wait", Word: "not there yet"}
	}
	p.Facts = some(Fact{Name: "Path", Value: s.ManifestPath})
	return p
}

func program(s core.System) Part {
	return Part{Name: "Program", Badge: good("running"), Facts: some(Fact{Name: "Version", Value: s.Version},
		Fact{Name: "Database", Value: s.Database}, Fact{Name: "Runs waiting", Value: fmt.Sprint(s.Queued)})}
}

func good(word string) Badge { return Badge{Kind: "ok", Word: word} }

// some drops the facts that say nothing.
func some(in ...Fact) []Fact {
	out := in[:0]
	for _, f := range in {
		if f.Value != "" {
			f.Value = short(f.Value, 400)
			out = append(out, f)
		}
	}
	return out
}

// place names where a fault lies: `claims/a.ttl:41`, or the file alone.
func place(f core.Fault) string {
	if f.Line < 1 {
		return f.Path
	}
	return fmt.Sprintf("%s:%d", f.Path, f.Line)
}
