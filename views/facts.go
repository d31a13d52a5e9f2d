package views

import (
	"fmt"

	"storozh/core"
)

// Fact is one line of what a run was judged with.
type Fact struct {
	Name  string
	Value string
	Hint  string // small print below; may be empty
	Warn  bool
}

// facts lists what a reader needs to weigh a run's flags: corpus, models, policy, cache, and where the block went.
func facts(p Page, r core.Record, in ReviewInput) []Fact {
	run := r.Run
	var out []Fact
	add := func(name, value, hint string) {
		if value != "" {
			out = append(out, Fact{Name: name, Value: short(value, nameLimit), Hint: short(hint, 400)})
		}
	}
	if b := run.Block; b != nil {
		if b.Corpus != nil {
			commit := ""
			if b.Corpus.Commit != "" { // a block of an older version may lack it
				commit = "at commit " + short(b.Corpus.Commit, 12)
			}
			add("Corpus", plural(b.Corpus.Items, "item"), commit)
		}
		add("Neighbours", fmt.Sprintf("k = %d", b.K), "")
	}
	add("Judge", run.JudgeModel, promptHint(run.PromptVersion))
	add("Embeddings", run.EmbedModel, "")
	add("Policy", run.PolicySource, "")
	if in.Judged > 0 {
		add("Verdicts", fmt.Sprintf("%d of %d from the cache", in.Cached, in.Judged), "")
	}
	if !run.FinishedAt.IsZero() && !run.StartedAt.IsZero() {
		add("Took", run.FinishedAt.Sub(run.StartedAt).Round(100_000_000).String(), attempts(run.Attempt))
	}
	return append(out, writeBack(p, r))
}

func promptHint(version string) string {
	if version == "" {
		return ""
	}
	return "prompt " + version
}

func attempts(n int) string {
	if n < 2 {
		return ""
	}
	return fmt.Sprintf("attempt %d", n)
}

// writeBack says in words where the block is.
func writeBack(p Page, r core.Record) Fact {
	w := r.Run.WriteBack
	f := Fact{Name: "Block", Hint: w.Detail}
	path := short(w.Path, nameLimit)
	switch w.State {
	case core.Written:
		f.Value = "written to " + path
		if !w.At.IsZero() {
			f.Value += ", " + ago(p.Now, w.At)
		}
	case core.MovedOn:
		f.Value, f.Warn = "not written: "+path+" has moved on and holds another manifest", true
	case core.WriteFailed:
		f.Value, f.Warn = "could not be written to "+path, true
	case core.WritePend:
		f.Value = "not yet written to " + path
	case "":
		f.Value = "will be written to " + short(r.Target, nameLimit)
		if r.Target == "" {
			f.Value = "will be kept here only"
		}
		if r.Run.Status.Finished() {
			f.Value = "there is none"
		}
	default:
		f.Value = "kept here only"
		if f.Hint == "" {
			f.Hint = "This manifest belongs to no file that Storozh may write."
		}
	}
	f.Hint = short(f.Hint, 400)
	return f
}

// sourceWord names the way a manifest came in.
func sourceWord(s core.Source) string {
	switch s {
	case core.SourceFile:
		return "the watched file"
	case core.SourceCheck:
		return "web check"
	case core.SourceSample:
		return "the sample"
	}
	return short(string(s), 40)
}
