package views

import (
	"fmt"
	"math"
	"strings"
	"time"

	"storozh/core"
	"storozh/core/trends"
)

// The size of every chart, in units of its viewBox. It scales with the page.
const (
	chartWidth  = 960
	chartHeight = 200
	plotLeft    = 44
	plotRight   = 952
	plotTop     = 18 // room for the signs of the marks
	plotBottom  = 176
	widestBar   = 40
)

// Chart is a small drawing of one line of buckets, with the same numbers as a table behind it. Colour is never alone: a bar has its
// place in the group, and word and number as its name.
type Chart struct {
	ID     string // of the heading and, with -table, of the table
	Title  string
	Note   string
	Bars   []Bar
	Lines  []ChartLine
	Dots   []Dot
	Grid   []GridLine
	Ticks  []Tick
	Marks  []ChartMark
	Legend []Legend
	Table  Table
	CSV    string // the same numbers, path
	Zero   float64
}

// Bar is one bar; an empty URL is a bar without a link.
type Bar struct {
	Class      string // series: misroute, contra, dup, raised, resolved, unjudged, units
	X, Y, W, H float64
	URL, Name  string
}

// ChartLine is one unbroken stretch of a rate.
type ChartLine struct{ Class, Points string }

// Dot is one rate.
type Dot struct {
	Class     string
	X, Y      float64
	URL, Name string
}

// GridLine is a level with its number.
type GridLine struct {
	Y    float64
	Text string
}

// Tick is a date below the axis.
type Tick struct {
	X    float64
	Text string
}

// ChartMark is a change of what runs were judged with.
type ChartMark struct {
	X      float64
	Number int
	Name   string
	Breaks bool
}

// Legend names one series.
type Legend struct{ Class, Text string }

// Table is the data behind a chart.
type Table struct {
	Head []string
	Rows [][]string
}

// plot places buckets and values.
type plot struct {
	span    trends.Span
	line    []core.TrendRow
	step    float64
	low     float64 // lowest value, 0 or below
	high    float64
	percent bool
}

func newPlot(span trends.Span, line []core.TrendRow, low, high float64) plot {
	if high <= 0 && low >= 0 {
		high = 1
	}
	return plot{span: span, line: line, step: (plotRight - plotLeft) / float64(max(len(line), 1)), low: -nice(-low), high: nice(high)}
}

// nice rounds up to a number that divides well.
func nice(v float64) float64 {
	if v <= 0 {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 4, 5, 8, 10} {
		if v <= m*unit*(1+1e-9) {
			return m * unit
		}
	}
	return 10 * unit
}

func (p plot) x(i int) float64     { return plotLeft + float64(i)*p.step }
func (p plot) y(v float64) float64 { return plotBottom - (v-p.low)/(p.high-p.low)*(plotBottom-plotTop) }

// bar is a bar from zero to v, the nth of of in bucket i.
func (p plot) bar(i, nth, of int, v float64) Bar {
	gap := max(min(p.step*.18, 6), (p.step-float64(of)*widestBar)/2)
	w := (p.step - 2*gap) / float64(of)
	top, bottom := p.y(max(v, 0)), p.y(min(v, 0))
	return Bar{X: p.x(i) + gap + float64(nth)*w, Y: top, W: max(w-min(1, w*.15), .8), H: max(bottom-top, 1)}
}

// levels are the lines at the top, the middle, zero and, where there is one, the bottom.
func (p plot) levels() []GridLine {
	values := []float64{0, p.high / 2, p.high}
	if p.low < 0 {
		values = append(values, p.low)
	}
	var out []GridLine
	for _, v := range values {
		text := fmt.Sprintf("%g", math.Abs(v))
		if p.percent {
			text = fmt.Sprintf("%g %%", math.Round(v*1000)/10)
		}
		if !p.percent && v != math.Trunc(v) {
			continue // half a flag
		}
		out = append(out, GridLine{Y: p.y(v), Text: text})
	}
	return out
}

// ticks are at most twelve dates.
func (p plot) ticks() []Tick {
	every := (len(p.line) + 11) / 12
	var out []Tick
	for i := 0; i < len(p.line); i += every {
		form := "2 Jan"
		if p.span.By == trends.Month || i == 0 || p.line[i].At.Year() != p.line[i-every].At.Year() {
			form = "Jan 2006"
			if p.span.By != trends.Month {
				form = "2 Jan 06"
			}
		}
		out = append(out, Tick{X: p.x(i) + p.step/2, Text: p.line[i].At.Format(form)})
	}
	return out
}

// marks places the changes; they carry the numbers of the list below the charts.
func (p plot) marks(all []trends.Mark) []ChartMark {
	var out []ChartMark
	for n, m := range all {
		for i, r := range p.line {
			if r.At.Equal(m.At) {
				out = append(out, ChartMark{X: p.x(i), Number: n + 1, Breaks: m.Breaks, Name: fmt.Sprintf("%d: %s", n+1, markWords(m))})
			}
		}
	}
	return out
}

func markWords(m trends.Mark) string {
	var kinds []string
	seen := map[string]bool{}
	for _, e := range m.Events {
		if !seen[e.Kind] {
			seen[e.Kind] = true
			kinds = append(kinds, eventWord(e.Kind))
		}
	}
	return strings.Join(kinds, ", ") + " changed"
}

func eventWord(kind string) string {
	switch kind {
	case "judge-model":
		return "judge model"
	case "embed-model":
		return "embedding model"
	}
	return kind
}

// bucketName is a bucket for people.
func bucketName(by trends.By, at time.Time) string {
	switch by {
	case trends.Week:
		_, w := at.ISOWeek()
		return fmt.Sprintf("week %d, from %s", w, at.Format("2 Jan 2006"))
	case trends.Month:
		return at.Format("January 2006")
	}
	return at.Format("Mon 2 Jan 2006")
}

// px prints a place in a drawing.
func px(v float64) string {
	return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0")
}
