package views

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"storozh/core"
)

// Eval is the page with what `web eval` measured. Only figures over the same content stand in one table.
type Eval struct {
	Page
	Sets    []EvalSet       // judges, latest set first
	Recalls []EvalRetrieval // embedding models, latest set first
	InUse   *InUseFigures   // nil: not counted
	Limited int             // how many measurements are shown at most; 0: all are
}

// EvalSet holds the runs over one labelled set, newest first.
type EvalSet struct {
	Title string
	Runs  []EvalRun
}

// EvalRun is one run of a judge over a set, as a row and with its details.
type EvalRun struct {
	ID     int64
	At     time.Time
	Demo   bool
	Score  core.JudgeScore
	Labels []EvalLabel
}

// EvalLabel is one label's figures within a run.
type EvalLabel struct {
	core.LabelScore
	Mark IntervalMark
}

// EvalRetrieval holds the runs over one retrieval set, newest first.
type EvalRetrieval struct {
	Title string
	Runs  []RecallRun
}

// RecallRun is one run of an embedding model.
type RecallRun struct {
	ID    int64
	At    time.Time
	Demo  bool
	Score core.RecallScore
}

// demoNote stands beside every figure of the demo model.
const demoNote = "demo model: these figures say nothing about a real model"

// NewEval builds the page from measurements, newest first. limit is how many were asked for at most.
func NewEval(p Page, all []core.Evaluation, limit int) Eval {
	p.Title, p.Here = "Evaluation", "eval"
	m := Eval{Page: p}
	if len(all) >= limit {
		m.Limited = limit
	}
	for _, e := range all {
		if s := e.Judge; s != nil {
			title := fmt.Sprintf("Set %s, %s, %s", s.Set, plural(s.Pairs, "pair"), short(s.SetHash, 12))
			i := slices.IndexFunc(m.Sets, func(in EvalSet) bool { return in.Title == title })
			if i < 0 {
				i, m.Sets = len(m.Sets), append(m.Sets, EvalSet{Title: title})
			}
			m.Sets[i].Runs = append(m.Sets[i].Runs, newEvalRun(e))
		}
		if s := e.Retrieval; s != nil {
			title := fmt.Sprintf("%s among %s, %s", plural(s.Statements, "statement"), plural(s.Items, "item"), short(s.SetHash, 12))
			i := slices.IndexFunc(m.Recalls, func(in EvalRetrieval) bool { return in.Title == title })
			if i < 0 {
				i, m.Recalls = len(m.Recalls), append(m.Recalls, EvalRetrieval{Title: title})
			}
			m.Recalls[i].Runs = append(m.Recalls[i].Runs, RecallRun{ID: e.ID, At: e.At, Demo: e.Demo, Score: *s})
		}
	}
	return m
}

func newEvalRun(e core.Evaluation) EvalRun {
	r := EvalRun{ID: e.ID, At: e.At, Demo: e.Demo, Score: *e.Judge}
	for _, l := range e.Judge.Labels {
		r.Labels = append(r.Labels, EvalLabel{l, scaled(l.F1)})
	}
	return r
}

// label is one label's figures of a run; a report without them (of another version) has an empty one.
func (r EvalRun) label(l core.Label) EvalLabel {
	for _, have := range r.Labels {
		if have.Label == l {
			return have
		}
	}
	return EvalLabel{LabelScore: core.LabelScore{Label: l}}
}

// recall is the rate at k, or an empty one.
func (r RecallRun) recall(k int) core.Rate { return recallAt(r.Score.At, k) }

func recallAt(all []core.RecallAt, k int) core.Rate {
	for _, a := range all {
		if a.K == k {
			return a.Rate
		}
	}
	return core.Rate{}
}

// markWidth is the length of an interval's scale, in SVG units.
const markWidth = 80

// IntervalMark is an interval as drawn on a scale from 0 to markWidth.
type IntervalMark struct{ Low, At, High string }

func scaled(r core.Rate) IntervalMark {
	on := func(v float64) string { return fmt.Sprintf("%.1f", 2+(markWidth-4)*min(max(v, 0), 1)) }
	return IntervalMark{on(r.Low), on(r.Value), on(r.High)}
}

// f1Text is an F1 with its interval: `0.83 (0.70–0.91)`.
func f1Text(r core.Rate) string {
	if r.Of == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f (%.2f–%.2f)", r.Value, r.Low, r.High)
}

// rateText is a share with its interval in percent: `83 % (70–91)`.
func rateText(r core.Rate) string {
	if r.Of == 0 {
		return "–"
	}
	return fmt.Sprintf("%.0f %% (%.0f–%.0f)", 100*r.Value, 100*r.Low, 100*r.High)
}

// swapText says how often the order made no difference.
func swapText(s *core.SwapScore) string {
	if s == nil {
		return "not asked"
	}
	return rateText(s.Same)
}

// tookText is a time that people can compare.
func tookText(d time.Duration) string {
	switch {
	case d <= 0:
		return "–"
	case d < time.Second:
		return fmt.Sprintf("%d ms", max(1, d.Milliseconds()))
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// reasonsText lists why pairs are unjudged.
func reasonsText(reasons map[string]int) string {
	var out []string
	for r, n := range reasons {
		out = append(out, fmt.Sprintf("%d × %s", n, r))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}
