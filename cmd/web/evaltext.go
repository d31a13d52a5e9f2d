package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"storozh/core"
)

// demoRemark stands above and below every figure of the demo model.
const demoRemark = "demo model: these figures say nothing about a real model"

// evalText is the report for a terminal.
func evalText(e evaluation) string {
	var b strings.Builder
	if e.Demo {
		fmt.Fprintf(&b, "%s\n\n", strings.ToUpper(demoRemark[:1])+demoRemark[1:])
	}
	if e.Judge != nil {
		judgeText(&b, e.Judge)
	}
	if e.Retrieval != nil {
		recallText(&b, e.Retrieval)
	}
	fmt.Fprintf(&b, "asked %s, %s in all\n", printable(e.Server), seconds(e.Took))
	for _, l := range e.Left {
		fmt.Fprintf(&b, "%s\n", printable(l))
	}
	if e.ID != 0 {
		fmt.Fprintf(&b, "stored as %d; the page /eval shows it beside the others\n", e.ID)
	}
	if e.Demo {
		fmt.Fprintln(&b, demoRemark)
	}
	return b.String()
}

func table(b *strings.Builder, rows ...[]string) {
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		_, _ = fmt.Fprintln(w, strings.Join(r, "\t")) // a strings.Builder takes everything
	}
	_ = w.Flush()
	b.WriteByte('\n')
}

// rate is a share with its interval in percent: `83 % (70–91), 25 of 30`.
func rate(r core.Rate) string {
	if r.Of == 0 {
		return "–"
	}
	return fmt.Sprintf("%.0f %% (%.0f–%.0f), %d of %d", 100*r.Value, 100*r.Low, 100*r.High, r.N, r.Of)
}

func judgeText(b *strings.Builder, s *core.JudgeScore) {
	fmt.Fprintf(b, "judge %s, prompt %s\nset %s, %d pairs, %.12s\nin brackets: 95 %% intervals (Wilson)\n\n", printable(s.Model), s.Prompt, s.Set, s.Pairs, s.SetHash)
	rows := [][]string{{"label ↓  answer →", "contra", "dup", "ok", "unjudged"}}
	scores := [][]string{{"label", "precision", "recall", "F1"}}
	for _, l := range s.Labels {
		a := l.Answers
		rows = append(rows, []string{string(l.Label), fmt.Sprint(a.Contra), fmt.Sprint(a.Dup), fmt.Sprint(a.OK), fmt.Sprint(a.Unjudged)})
		scores = append(scores, []string{string(l.Label), rate(l.Precision), rate(l.Recall), fmt.Sprintf("%.2f (%.2f–%.2f)", l.F1.Value, l.F1.Low, l.F1.High)})
	}
	table(b, rows...)
	table(b, scores...)
	rows = [][]string{{"right", rate(s.Right)}, {"unjudged", rate(s.Unjudged) + why(s.Reasons)}}
	if s.Swap != nil {
		rows = append(rows, []string{"same label with the order swapped", fmt.Sprintf("%s; %d without a label in one order", rate(s.Swap.Same), s.Swap.Unjudged)})
	}
	rows = append(rows, []string{"calls", fmt.Sprintf("%d, about %d tokens in and %d out (estimated)", s.Calls, s.PromptTokens, s.AnswerTokens)},
		[]string{"time of a call", fmt.Sprintf("median %s, 95 of 100 within %s, slowest %s", seconds(s.Median), seconds(s.P95), seconds(s.Slowest))})
	table(b, rows...)
	groupText(b, "kind", s.Kinds)
	groupText(b, "language", s.Languages)
}

// why names the reasons of unjudged pairs, the same way every time.
func why(reasons map[string]int) string {
	var out []string
	for r, n := range reasons {
		out = append(out, fmt.Sprintf("%d × %s", n, printable(r)))
	}
	if len(out) == 0 {
		return ""
	}
	slices.Sort(out)
	return " (" + strings.Join(out, ", ") + ")"
}

func groupText(b *strings.Builder, what string, groups []core.GroupScore) {
	rows := [][]string{{what, "right", "unjudged"}}
	for _, g := range groups {
		rows = append(rows, []string{g.Name, rate(g.Right), fmt.Sprint(g.Unjudged)})
	}
	table(b, rows...)
}

func recallText(b *strings.Builder, s *core.RecallScore) {
	fmt.Fprintf(b, "retrieval by %s, %d dimensions\n%d statements, each clashes with one of %d items, %.12s\n\n", printable(s.Model), s.Dimensions, s.Statements, s.Items, s.SetHash)
	var rows [][]string
	for _, a := range s.At {
		rows = append(rows, []string{fmt.Sprintf("recall@%d", a.K), rate(a.Rate)})
	}
	rows = append(rows, []string{"mean reciprocal rank", fmt.Sprintf("%.2f", s.MeanRank)}, []string{"not among the nearest 10", strings.Join(s.Missed, " ")},
		[]string{"time to embed", seconds(s.Took)})
	table(b, rows...)
	wordsText(b, s)
}

// wordsText is what a search by words would bring, alone and beside the embedding.
func wordsText(b *strings.Builder, s *core.RecallScore) {
	if len(s.Words) == 0 {
		return
	}
	b.WriteString("search by words on the same set; a run takes the nearest and one more by words (STOROZH_WORDS)\n\n")
	var rows [][]string
	for _, a := range s.Words {
		rows = append(rows, []string{fmt.Sprintf("%d by words", a.K), rate(a.Rate)})
	}
	for i, a := range s.Beside {
		rows = append(rows, []string{fmt.Sprintf("%d nearest and 1 by words", a.K), rate(a.Rate) + fmt.Sprintf("; one more question for %d", s.Extra[i].Rate.N)})
	}
	for _, l := range s.Languages {
		rows = append(rows, []string{fmt.Sprintf("%s: %d nearest", l.Name, l.K), rate(l.Near)}, []string{l.Name + ": and 1 by words", rate(l.Beside)})
	}
	table(b, rows...)
}

// seconds is a time that a person can compare.
func seconds(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}
