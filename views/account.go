package views

import (
	"fmt"
	"time"

	"storozh/core"
)

// Account is the page about the reader's own sign-in.
type Account struct{ Page }

// NewAccount builds it.
func NewAccount(p Page) Account {
	p.Title = "Your sign-in"
	return Account{p}
}

// Keys is the page with the keyboard map.
type Keys struct{ Page }

// NewKeys builds it.
func NewKeys(p Page) Keys {
	p.Title = "Keys"
	return Keys{p}
}

// keyMap is what the script listens to, in the order of the sheet.
func keyMap() [][2]string {
	return [][2]string{
		{"j  k", "next and previous flag"}, {"J  K", "next and previous unit"}, {"1  2  3  4", "land, fix, accept, drop as dup"},
		{"c", "confirm what was decided before"}, {"e", "open and close the neighbours of the unit"}, {"m", "diff in one column or two"},
		{"/", "search"}, {"Ctrl Enter", "in the reason: accept"}, {"Esc", "leave the field"}, {"?", "this sheet"},
	}
}

// MarkerView is one co-sign marker as last seen.
type MarkerView struct {
	Who   core.Cosigner
	State string // word and age
	Fresh bool
}

// Cosign is the panel about contract C2: what is seen of the markers, and the reader's own command.
type Cosign struct {
	Markers []MarkerView
	Command string
}

// newCosign builds the panel; nil: markers are not looked at.
func newCosign(who core.Cosigner, markers []core.Marker) *Cosign {
	if len(markers) == 0 || !who.Valid() {
		return nil
	}
	c := &Cosign{Command: core.CosignCommand(who)}
	for _, m := range markers {
		v := MarkerView{Who: m.Cosigner, State: string(m.State), Fresh: m.State == core.MarkerFresh}
		if m.State == core.MarkerFresh || m.State == core.MarkerStale {
			v.State += ", " + age(m.Age)
		}
		c.Markers = append(c.Markers, v)
	}
	return c
}

// age says how old a marker is.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return plural(int(d.Seconds()), "second") + " old"
	case d < time.Hour:
		return fmt.Sprintf("%d min old", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h old", int(d.Hours()))
	}
	return plural(int(d.Hours()/24), "day") + " old"
}
