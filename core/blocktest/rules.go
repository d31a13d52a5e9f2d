package blocktest

import (
	"fmt"
	"strings"

	"storozh/core"
)

// tally counts flags as C4 counts units.
type tally struct {
	misroute, contra, dup int
	ok                    int // routing ok, semantic ok
	open                  int // routing ok, no label: nothing to judge, or unjudged
	labelled              int
}

func tallyOf(flags []core.Flag) tally {
	var n tally
	for _, f := range flags {
		if f.Semantic != "" {
			n.labelled++
		}
		switch f.Semantic {
		case core.Contra:
			n.contra++
		case core.Dup:
			n.dup++
		}
		switch {
		case f.Routing == core.Misroute:
			n.misroute++
		case f.Semantic == core.OK:
			n.ok++
		case f.Semantic == "":
			n.open++
		}
	}
	return n
}

// counts checks the summary against the flags. Which units without a label had nothing to judge the block does not say, so
// `ok` and `unjudged` are checked as far as they are bound.
func counts(b core.Block) []error {
	var errs []error
	wrong := func(format string, args ...any) { errs = append(errs, fmt.Errorf("summary: "+format, args...)) }
	n, s := tallyOf(b.Flags), b.Summary
	for _, c := range []struct {
		name      string
		got, want int
	}{{"units", s.Units, len(b.Flags)}, {"misroute", s.Misroute, n.misroute}, {"contra", s.Contra, n.contra}, {"dup", s.Dup, n.dup}} {
		if c.got != c.want {
			wrong("%s is %d, the flags have %d", c.name, c.got, c.want)
		}
	}
	if s.OK < n.ok || s.OK > n.ok+n.open {
		wrong("ok is %d, by the flags it is %d to %d", s.OK, n.ok, n.ok+n.open)
	}
	// Units without a label and with routing ok that are not in ok are unjudged; misrouted ones may be.
	unlabelled := len(b.Flags) - n.labelled
	low, high := n.ok+n.open-s.OK, unlabelled-(s.OK-n.ok)
	skipped := strings.HasPrefix(b.ContraCheck, "skipped")
	if b.ContraCheck == core.ContraRan || b.ContraCheck == core.SkippedNoKnowledge {
		high = 0
	}
	if s.Unjudged < low || s.Unjudged > high {
		wrong("unjudged is %d, by the flags, ok and contra-check it is %d to %d", s.Unjudged, low, high)
	}
	if skipped && n.labelled > 0 {
		errs = append(errs, fmt.Errorf("contra-check is %q, yet %d flags have a label", b.ContraCheck, n.labelled))
	}
	return errs
}

// order checks that flagged units come first, each part by unit id, no unit twice.
func order(flags []core.Flag) []error {
	var errs []error
	seen := map[string]bool{}
	for i, f := range flags {
		if seen[f.Unit] {
			errs = append(errs, fmt.Errorf("flags[%d]: %s is there twice", i, f.Unit))
		}
		seen[f.Unit] = true
		if i == 0 {
			continue
		}
		before := flags[i-1]
		if f.Flagged() && !before.Flagged() {
			errs = append(errs, fmt.Errorf("flags[%d]: %s is flagged and comes behind %s, which is not", i, f.Unit, before.Unit))
		} else if f.Flagged() == before.Flagged() && f.Unit < before.Unit {
			errs = append(errs, fmt.Errorf("flags[%d]: %s comes behind %s", i, f.Unit, before.Unit))
		}
	}
	return errs
}
