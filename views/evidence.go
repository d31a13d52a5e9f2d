package views

import (
	"context"
	"io"
	"net/url"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"storozh/core"
)

// Names is a short list of ids with links, and how many more there are.
type Names struct {
	IDs  []string
	More int
}

func newNames(ids []string) Names {
	if len(ids) > namesLimit {
		return Names{IDs: ids[:namesLimit], More: len(ids) - namesLimit}
	}
	return Names{IDs: ids}
}

func (n Names) cost() int {
	total := 0
	for _, id := range n.IDs {
		total += 60 + 3*min(len(id), 2*nameLimit)
	}
	return total
}

// more counts the ids that are not listed.
func (n Names) more() string { return "and " + strconv.Itoa(n.More) + " more" }

// prose tells a Markdown file by its path.
func prose(path string) bool { return strings.HasSuffix(strings.ToLower(path), ".md") }

// proseItem tells a lesson or a memory note by the item's id.
func proseItem(id string) bool { return prose(id) || strings.Contains(strings.ToLower(id), ".md#") }

// unitHeading and itemHeading are the levels that the outlines of the two pages have room for inside a text.
const (
	unitHeading = 5
	itemHeading = 3
)

// markdownLevel is level for prose, 0 for anything else.
func markdownLevel(isProse bool, level int) int {
	if isProse {
		return level
	}
	return 0
}

// itemID tells the id of an item from that of a unit elsewhere: items lie in the shield repo.
func itemID(id string) bool { return strings.HasPrefix(id, core.Shield+"/") }

// complete adds to a unit that is shown in full what only such a unit needs: the marked words, the mode of its diff, and what the
// manifest itself resolves.
func (v *UnitView) complete(in ReviewInput, base string, u core.UnitResult) {
	v.markWords(u)
	v.Diff.Split = in.Diff == "split"
	v.Diff.Open = in.Diff != "" && !v.Quiet || in.Unit != ""
	v.Diff.Other = reviewURL(base, in, map[bool]string{true: "unified", false: "split"}[v.Diff.Split]) + "#" + v.DOM
	if b := in.Record.Run.Block; b != nil {
		var items []string
		for _, r := range b.Resolved {
			if r.Unit == u.Unit.ID {
				items = append(items, r.Item)
			}
		}
		v.Resolved = newNames(items)
	}
}

// markWords compares the unit with the neighbours that carry a flag. In each of them the words are marked that the unit lacks; in the
// unit, those that the first of them lacks.
func (v *UnitView) markWords(u core.UnitResult) {
	for i, p := range u.Pairs {
		if p.Label != core.Contra && p.Label != core.Dup {
			continue
		}
		this, that, note := wordDiff(u.Unit.Text, p.ItemText)
		near := &v.Pairs[i].Text
		near.Runs, near.Note = cutRuns(that, len(near.Text)), note
		if v.Against == "" && !p.Resolved { // a clash that is resolved here is not what the unit is held against
			v.Against, v.Text.Runs, v.Text.Note = v.Pairs[i].Item, cutRuns(this, len(v.Text.Text)), note
		}
	}
}

// cutRuns keeps the runs that cover the first limit bytes.
func cutRuns(all []Run, limit int) []Run {
	for i, r := range all {
		if len(r.Text) >= limit {
			r.Text = r.Text[:limit]
			return append(all[:i:i], r)
		}
		limit -= len(r.Text)
	}
	return all
}

// reviewURL is the review page as it was asked for, with another mode of its diffs.
func reviewURL(base string, in ReviewInput, diff string) string {
	q := url.Values{"diff": {diff}}
	for name, value := range map[string]string{"show": filterName(in.Show), "unit": in.Unit, "q": searched(in.Find)} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if in.From > 0 && in.Unit == "" {
		q.Set("from", strconv.Itoa(in.From))
	}
	return base + "?" + q.Encode()
}

// proseText prints an excerpt: with its differing words marked, or rendered, or as written.
func proseText(e Excerpt) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		var b strings.Builder
		writeProse(&b, e)
		_, err := io.WriteString(w, b.String())
		return err
	})
}

func writeProse(b *strings.Builder, e Excerpt) {
	if e.Runs == nil && e.Note == "" && e.Markdown > 0 {
		if out, ok := markdownHTML(e.Text, e.Markdown); ok {
			b.WriteString(`<div class="text md">` + out + "</div>")
			return
		}
	}
	b.WriteString(`<pre class="text">`)
	if e.Runs == nil {
		writeMarked(b, e.Text)
	}
	for _, r := range e.Runs {
		if r.Only {
			b.WriteString("<mark>")
		}
		writeMarked(b, r.Text)
		if r.Only {
			b.WriteString("</mark>")
		}
	}
	b.WriteString("</pre>")
}
