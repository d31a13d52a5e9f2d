package routing

import (
	"fmt"
	"strings"

	"storozh/core"
)

// Aliases maps a checkout's name, in lower case, to the repo's canonical name (C3). Matching ignores letter case.
type Aliases map[string]string

// DefaultAliases are the names that C3 knows: `shield` and `SolitaryEquilibriumShield` are one repo, a checkout of it may be
// called `learning`; the canonical names stand for themselves in any letter case.
func DefaultAliases() Aliases {
	a := Aliases{"solitaryequilibriumshield": core.Shield, "learning": core.Shield}
	for _, name := range []string{core.Shield, core.NeuroMatrix, core.Mirabilis, core.Darwin} {
		a[name] = name
	}
	return a
}

// ParseAliases reads the value of STOROZH_ALIASES, `name=canonical` separated by commas, and adds it to [DefaultAliases]. Empty
// members are skipped; a member without both sides is an error.
func ParseAliases(s string) (Aliases, error) {
	a := DefaultAliases()
	for member := range strings.SplitSeq(s, ",") {
		if strings.TrimSpace(member) == "" {
			continue
		}
		name, canonical, ok := strings.Cut(member, "=")
		name, canonical = strings.TrimSpace(name), strings.TrimSpace(canonical)
		if !ok || name == "" || canonical == "" {
			return nil, fmt.Errorf("alias %q: write name=canonical, for example notes=shield", strings.TrimSpace(member))
		}
		a[strings.ToLower(name)] = DefaultAliases().Canonical(canonical)
	}
	return a, nil
}

// Canonical returns the canonical name behind name; an unknown name stands for itself, surrounding space removed.
func (a Aliases) Canonical(name string) string {
	name = strings.TrimSpace(name)
	if c, ok := a[strings.ToLower(name)]; ok {
		return c
	}
	return name
}
