package views

import (
	"fmt"
	"time"
)

// stamp is the machine-readable form of a time element.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// clock is the full form people read, in the location of now.
func clock(now, t time.Time) string { return t.In(now.Location()).Format("2 Jan 2006, 15:04:05 MST") }

// ago says how long before now a time lies, and names the date once that is easier to grasp. Times that lie ahead, from a
// clock that differs, read as dates too.
func ago(now, t time.Time) string {
	d := now.Sub(t)
	switch {
	case d < -time.Minute, d >= 7*24*time.Hour:
		return t.In(now.Location()).Format("2 Jan 2006, 15:04")
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	default:
		return plural(int(d.Hours()/24), "day") + " ago"
	}
}
