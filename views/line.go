package views

import (
	"fmt"
	"strings"

	"storozh/core"
)

// Line is the first line about a manifest: the BLUF of its latest judged run, else how far its run is. The demo model is always named
// (design §7).
func Line(r core.Record) string { return RunLine(shown(r)) }

// shown is the record with the run that pages show: the latest judged one, while a newer is under way or came to nothing.
func shown(r core.Record) core.Record {
	if r.Judged != nil {
		r.Run = *r.Judged
	}
	return r
}

// RunLine is the same about the latest run, judged or not.
func RunLine(r core.Record) string {
	line := statusLine(r)
	if r.Run.Demo && !strings.Contains(strings.ToLower(line), "demo model") {
		line += " (demo model)"
	}
	return line
}

func statusLine(r core.Record) string {
	switch r.Run.Status {
	case core.Done:
		if r.BLUF == "" && r.Run.Block != nil {
			return core.BLUF(*r.Run.Block)
		}
		return r.BLUF
	case core.Running:
		if p := r.Run.Progress; p.Of > 0 {
			return fmt.Sprintf("running: %d of %s judged", p.Done, plural(p.Of, "pair"))
		}
		return "running: reading the changeset"
	case core.Failed:
		if r.Run.Error == "" {
			return "failed: no reason was recorded; see the log"
		}
		return "failed: " + r.Run.Error
	case core.Cancelled:
		return "cancelled"
	}
	return "queued"
}
