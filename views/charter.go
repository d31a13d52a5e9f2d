package views

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"storozh/core"
	"storozh/core/trends"
)

// charter draws the charts of one page.
type charter struct {
	form  TrendForm
	span  trends.Span
	days  []core.TrendRow
	marks []trends.Mark
}

// series is one of the numbers of a bucket.
type series struct {
	class, word string
	of          func(core.TrendCounts) int
}

var flagSeries = []series{
	{"misroute", "misroute", func(c core.TrendCounts) int { return c.Misroute }},
	{"contra", "contra", func(c core.TrendCounts) int { return c.Contra }},
	{"dup", "dup", func(c core.TrendCounts) int { return c.Dup }},
}

func (c charter) start(id, title, note, repo string, p plot, columns ...column) Chart {
	return Chart{
		ID: id, Title: title, Note: note, Grid: p.levels(), Ticks: p.ticks(), Marks: p.marks(c.marks), Zero: p.y(0),
		CSV: c.form.withRepo(repo).URL("/trends.csv"), Table: c.table(p.line, columns),
	}
}

// column is one number of the table behind a chart; share: with its share of the units, where there are enough.
type column struct {
	word  string
	of    func(core.TrendCounts) int
	share bool
}

var (
	unitsColumn = column{"units", func(c core.TrendCounts) int { return c.Units }, false}
	flagColumns = []column{
		unitsColumn, {"misroute", flagSeries[0].of, true}, {"contra", flagSeries[1].of, true}, {"dup", flagSeries[2].of, true},
		{"ok", func(c core.TrendCounts) int { return c.OK }, true},
	}
	flowColumns = []column{
		{"raised", func(c core.TrendCounts) int { return c.Raised }, false}, {"resolved", func(c core.TrendCounts) int { return c.Resolved }, false},
	}
	unjudgedColumns = []column{unitsColumn, {"unjudged", func(c core.TrendCounts) int { return c.Unjudged }, true}}
)

// table holds what is drawn, as numbers; buckets without anything are left out.
func (c charter) table(line []core.TrendRow, columns []column) Table {
	t := Table{Head: []string{string(c.span.By)}}
	for _, col := range columns {
		t.Head = append(t.Head, col.word)
	}
	for _, r := range line {
		if r.TrendCounts == (core.TrendCounts{}) {
			continue
		}
		row := []string{r.At.Format(time.DateOnly)}
		for _, col := range columns {
			n := col.of(r.TrendCounts)
			text := strconv.Itoa(n)
			if s := share(n, r.Units); s != "" && col.share && n > 0 {
				text += " (" + s + ")"
			}
			row = append(row, text)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// link is the search for the units of one bucket.
func (c charter) link(repo, label, went string, bucket time.Time) string {
	first, last := c.span.Bounds(bucket)
	v := url.Values{"from": {first.Format(time.DateOnly)}, "to": {last.Format(time.DateOnly)}}
	for k, s := range map[string]string{"repo": repo, "label": label, "went": went} {
		if s != "" {
			v.Set(k, s)
		}
	}
	return "/search?" + v.Encode()
}

// flags draws misroutes, contradictions and duplicates as numbers.
func (c charter) flags(id, name, repo string) Chart {
	line := trends.Line(c.days, c.span, repo)
	high := 0
	for _, r := range line {
		high = max(high, r.Misroute, r.Contra, r.Dup)
	}
	p := newPlot(c.span, line, 0, float64(high))
	out := c.start(id, "Flags, "+name, "", repo, p, flagColumns...)
	for i, r := range line {
		for k, s := range flagSeries {
			n := s.of(r.TrendCounts)
			if n == 0 {
				continue
			}
			b := p.bar(i, k, len(flagSeries), float64(n))
			b.Class, b.URL = s.class, c.link(repo, s.word, "", r.At)
			b.Name = fmt.Sprintf("%s: %d %s of %s", bucketName(c.span.By, r.At), n, s.word, plural(r.Units, "unit"))
			out.Bars = append(out.Bars, b)
		}
	}
	for _, s := range flagSeries {
		out.Legend = append(out.Legend, Legend{s.class, s.word})
	}
	return out
}

// rates draws the shares of units. A line ends before a bucket in which the judge, its prompt or the embedding model changed, and at a
// bucket with too few units.
func (c charter) rates(name string) Chart {
	line := trends.Line(c.days, c.span, c.form.Repo)
	high := .1
	for _, r := range line {
		for _, s := range flagSeries {
			if v, ok := trends.Rate(s.of(r.TrendCounts), r.Units); ok {
				high = max(high, v)
			}
		}
	}
	p := newPlot(c.span, line, 0, high)
	p.high, p.percent = min(p.high, 1), true
	note := fmt.Sprintf("Share of the units of each %s. Fewer than %d units make no rate: the table has their numbers. A line never crosses a change of the judge model, the prompt or the embedding model.",
		c.span.By, trends.MinRate)
	out := c.start("rates", "Rates, "+name, note, c.form.Repo, p, flagColumns...)
	broken := map[time.Time]bool{}
	for _, m := range c.marks {
		broken[m.At] = broken[m.At] || m.Breaks
	}
	for _, s := range flagSeries {
		var points []string
		end := func() {
			if len(points) > 1 {
				out.Lines = append(out.Lines, ChartLine{s.class, strings.Join(points, " ")})
			}
			points = nil
		}
		for i, r := range line {
			v, ok := trends.Rate(s.of(r.TrendCounts), r.Units)
			if !ok || broken[r.At] {
				end()
			}
			if !ok {
				continue
			}
			x, y := p.x(i)+p.step/2, p.y(v)
			points = append(points, px(x)+","+px(y))
			out.Dots = append(out.Dots, Dot{s.class, x, y, c.link(c.form.Repo, s.word, "", r.At),
				fmt.Sprintf("%s: %s %.1f %%, %d of %d units", bucketName(c.span.By, r.At), s.word, 100*v, s.of(r.TrendCounts), r.Units)})
		}
		end()
		out.Legend = append(out.Legend, Legend{s.class, s.word})
	}
	return out
}

// flow draws flags raised upwards and resolved downwards.
func (c charter) flow(name string) Chart {
	line := trends.Line(c.days, c.span, c.form.Repo)
	in, gone := 0, 0
	for _, r := range line {
		in, gone = max(in, r.Raised), max(gone, r.Resolved)
	}
	p := newPlot(c.span, line, -float64(gone), float64(in))
	out := c.start("flow", "Flags in and out, "+name,
		"Up: flags first shown. Down: flags resolved, because both cosigners decided fix or drop, or because the session's latest manifest no longer has them.", c.form.Repo, p, flowColumns...)
	for i, r := range line {
		for _, f := range []struct {
			class string
			n     int
			sign  float64
		}{{"raised", r.Raised, 1}, {"resolved", r.Resolved, -1}} {
			if f.n == 0 {
				continue
			}
			b := p.bar(i, 0, 1, f.sign*float64(f.n))
			b.Class, b.URL = f.class, c.link(c.form.Repo, "", f.class, r.At)
			b.Name = fmt.Sprintf("%s: %s %s", bucketName(c.span.By, r.At), plural(f.n, "flag"), f.class)
			out.Bars = append(out.Bars, b)
		}
	}
	out.Legend = []Legend{{"raised", "raised"}, {"resolved", "resolved"}}
	return out
}

// unjudged draws all units, and those that should have a label and have none.
func (c charter) unjudged(name string) Chart {
	line := trends.Line(c.days, c.span, c.form.Repo)
	high := 0
	for _, r := range line {
		high = max(high, r.Units)
	}
	p := newPlot(c.span, line, 0, float64(high))
	out := c.start("unjudged", "Units and unjudged, "+name, "Unjudged: there is text to judge and no honest label.", c.form.Repo, p, unjudgedColumns...)
	for i, r := range line {
		for _, s := range []struct {
			class, label string
			n            int
		}{{"units", "", r.Units}, {"unjudged", "unjudged", r.Unjudged}} {
			if s.n == 0 {
				continue
			}
			b := p.bar(i, 0, 1, float64(s.n))
			b.Class, b.URL = s.class, c.link(c.form.Repo, s.label, "", r.At)
			b.Name = fmt.Sprintf("%s: %s", bucketName(c.span.By, r.At), plural(r.Units, "unit"))
			if s.label != "" {
				b.Name = fmt.Sprintf("%s: %d unjudged of %s", bucketName(c.span.By, r.At), s.n, plural(r.Units, "unit"))
				if sh := share(s.n, r.Units); sh != "" {
					b.Name += " (" + sh + ")"
				}
			}
			out.Bars = append(out.Bars, b)
		}
	}
	out.Legend = []Legend{{"units", "units"}, {"unjudged", "unjudged"}}
	return out
}
