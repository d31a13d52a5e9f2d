package views

import (
	"fmt"
	"strings"

	"storozh/core"
)

// UnitsOnPage is how many units the review page shows at once; the bodies share a budget, and each takes a line all the same.
const UnitsOnPage = 100

// UnitQuery is what the review page asks the store for; show, find and from are untrusted.
func UnitQuery(r core.Record, reader core.Cosigner, show, find, at string, from int) core.UnitQuery {
	q := core.UnitQuery{ManifestID: r.ID, Reader: reader, Show: show, Find: searched(find), At: at, From: from, Limit: UnitsOnPage}
	if r.Judged != nil {
		q.RunID = r.Judged.ID
	}
	return q
}

// searched are the words of a search as they are looked for and shown: the beginning of a long one, without an ellipsis, which no unit holds.
func searched(find string) string {
	head, _ := cut(find, nameLimit)
	return strings.TrimSpace(head)
}

// pages links the pages of the units, where one does not hold all.
func (m *Review) pages(in ReviewInput) {
	of := in.Counts[core.ShowAll]
	if m.Show != "" {
		of = in.Counts[m.Show]
	}
	if of <= len(in.Units) {
		return
	}
	m.Stretch = fmt.Sprintf("Units %d to %d of %d, the most urgent first.", in.From+1, in.From+len(in.Units), of)
	if in.From > 0 {
		m.Before = unitsURL(m.Base, m.Show, searched(in.Find), max(0, in.From-UnitsOnPage))
	}
	if next := in.From + len(in.Units); next < of && len(in.Units) > 0 {
		m.After = unitsURL(m.Base, m.Show, searched(in.Find), next)
	}
	m.At = m.Base + "?at="
}
