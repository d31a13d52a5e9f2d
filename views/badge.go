package views

import "storozh/core"

// Badge is a mark on a unit, a pair or a run. Kind chooses icon and colour in app.css, Word is always printed beside it, so
// that neither colour nor shape is needed to read it.
type Badge struct {
	Kind string // misroute, contra, dup, unjudged, ok, none, hidden, wait, warn, failed
	Word string
	Hint string // shown on hover; may be empty
}

// labelBadge is the badge of a pair's or a unit's label; an empty label is unjudged.
func labelBadge(l core.Label) Badge {
	switch l {
	case core.Contra:
		return Badge{Kind: "contra", Word: "contra", Hint: "both could not be followed, or be true"}
	case core.Dup:
		return Badge{Kind: "dup", Word: "dup", Hint: "restates what the corpus already says"}
	case core.OK:
		return Badge{Kind: "ok", Word: "ok"}
	}
	return Badge{Kind: "unjudged", Word: "unjudged", Hint: "there is no label: nothing was assumed"}
}

// unitBadges are the badges of one unit, the most urgent first.
func unitBadges(u core.UnitResult) []Badge {
	var out []Badge
	if u.Flag.Routing == core.Misroute {
		b := Badge{Kind: "misroute", Word: "misroute", Hint: "landed in another repo than the policy names for its type"}
		if u.Flag.Severity == core.CrossLane {
			b.Word = "misroute, cross-lane"
		}
		out = append(out, b)
	}
	switch {
	case u.Flag.Semantic == core.Contra, u.Flag.Semantic == core.Dup:
		out = append(out, labelBadge(u.Flag.Semantic))
	case u.Unjudged:
		out = append(out, labelBadge(""))
	case len(out) == 0 && u.Flag.Semantic == "":
		out = append(out, Badge{Kind: "none", Word: "routing ok", Hint: "there is no text to compare"})
	case len(out) == 0:
		out = append(out, labelBadge(core.OK))
	}
	return out
}

// statusBadge is the badge of a run's status; a finished run with its flags in the BLUF needs none but a plain word.
func statusBadge(s core.Status) Badge {
	switch s {
	case core.Queued:
		return Badge{Kind: "wait", Word: "queued"}
	case core.Running:
		return Badge{Kind: "wait", Word: "running"}
	case core.Failed:
		return Badge{Kind: "failed", Word: "failed"}
	case core.Cancelled:
		return Badge{Kind: "none", Word: "cancelled"}
	}
	return Badge{Kind: "ok", Word: "done"}
}
