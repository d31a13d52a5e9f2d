package views

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"storozh/core"
	"storozh/core/trends"
)

// WhatIfInput is what [NewWhatIf] needs.
type WhatIfInput struct {
	Floor   string // as typed, untrusted; empty: none
	Percent int    // the same, read
	Data    core.WhatIfData
	Flags   []core.WhatIfFlag // below the floor, newest first; one more than Limit where there are more
	Limit   int
	Problem error // what is wrong with the floor
}

// WhatIfModel is the page about what a floor under the similarity would have cut off.
type WhatIfModel struct {
	Page
	Floor   string
	Percent int // of the floor that was asked for; -1: none
	Problem string
	Model   string
	Models  []string
	Flags   int // of this model, in all
	Pairs   int
	Rows    []core.WhatIfRow
	Lost    []WhatIfView
	More    bool // there are older ones
}

// WhatIfView is one flag that would have been lost.
type WhatIfView struct {
	core.WhatIfFlag
	URL   string
	Badge Badge
}

// NewWhatIf builds the page: a table of floors from 0.1 to 0.9 and the one asked for, with the flags below that one.
func NewWhatIf(p Page, in WhatIfInput) WhatIfModel {
	p.Title, p.Here = "What if similarity had a floor?", "eval"
	m := WhatIfModel{Page: p, Floor: in.Floor, Percent: -1, Model: in.Data.Model, Models: in.Data.Models}
	if m.Model != "" && !slices.Contains(m.Models, m.Model) {
		m.Models = append([]string{m.Model}, m.Models...)
	}
	for _, f := range in.Data.Flags {
		m.Flags += f.Flags
	}
	for _, n := range in.Data.Pairs {
		m.Pairs += n.Pairs
	}
	var floors []int
	for f := 10; f <= 90; f += 10 {
		floors = append(floors, f)
	}
	switch {
	case in.Problem != nil:
		m.Problem = core.Detail(in.Problem)
	case in.Floor != "":
		m.Percent, m.Floor = in.Percent, floorText(in.Percent)
		if !slices.Contains(floors, in.Percent) {
			floors = append(floors, in.Percent)
			slices.Sort(floors)
		}
	}
	m.Rows = trends.WhatIf(in.Data, floors)
	for _, f := range in.Flags[:min(len(in.Flags), in.Limit)] {
		k := core.FlagKey{UnitID: f.UnitID, Kind: core.FlagSemantic}
		m.Lost = append(m.Lost, WhatIfView{f, FlagURL(f.ManifestID, k, true, ""), labelBadge(f.Label)})
	}
	m.More = len(in.Flags) > in.Limit
	return m
}

// url is this page under another floor.
func (m WhatIfModel) url(percent int) string {
	return "/whatif?" + url.Values{"floor": {floorText(percent)}, "model": {m.Model}}.Encode()
}

// floorText is a floor as it is typed: `0.65`.
func floorText(percent int) string { return strconv.FormatFloat(float64(percent)/100, 'f', 2, 64) }

// partOf is a count with its share: `12 of 80, 15 %`.
func partOf(n, of int) string {
	if of == 0 {
		return "–"
	}
	return fmt.Sprintf("%d of %d, %.0f %%", n, of, 100*float64(n)/float64(of))
}

// decidedLine says what both decided on a flag.
func (f WhatIfView) decidedLine() string {
	if f.Owner == "" {
		return "not decided by both"
	}
	return "owner: " + ChoiceWord(f.Owner) + ", claude: " + ChoiceWord(f.Claude)
}
