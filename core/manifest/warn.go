package manifest

import (
	"fmt"
	"strings"
	"time"
)

// warn notes what could not be read and where.
func (d *decoder) warn(place, what string) {
	if len(d.warnings) == maxWarnings {
		d.unsaid++
		return
	}
	d.warnings = append(d.warnings, place+": "+what)
}

// mismatch warns about a value of another kind.
func (d *decoder) mismatch(place, expected string, at span) {
	d.warn(place, "expected "+expected+", found "+kindOf(d.data[at.from]))
}

// kindOf names the kind of value that begins with c.
func kindOf(c byte) string {
	switch c {
	case '"':
		return "text"
	case '{':
		return "an object"
	case '[':
		return "a list"
	case 't', 'f':
		return "true or false"
	case 'n':
		return "null"
	default:
		return "number"
	}
}

// The forms of a timestamp that are understood: RFC 3339 (fractions of a second are read in any of them), then near misses.
// One without a zone is taken as UTC, as C1 demands UTC.
var timeForms = []string{
	time.RFC3339, "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05",
	"2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05 Z0700", "2006-01-02 15:04:05",
}

// timestamp reads an instant, in UTC; zero if there is none or it is unreadable.
func (d *decoder) timestamp(p pick, place string) time.Time {
	text := d.text(p, place)
	if text == "" {
		return time.Time{}
	}
	for _, form := range timeForms {
		t, err := time.Parse(form, strings.ToUpper(strings.TrimSpace(text)))
		// Beyond these years a zone's offset could lead out of what RFC 3339 and databases can hold.
		if err == nil && t.UTC().Year() >= 1 && t.UTC().Year() <= 9999 {
			return t.UTC()
		}
	}
	d.warn(place, fmt.Sprintf("expected an RFC 3339 time, found %s", shorten(text)))
	return time.Time{}
}

// shorten quotes text for a message, capped.
func shorten(text string) string {
	const limit = 60
	if len(text) > limit {
		text = strings.ToValidUTF8(text[:limit], "") + "…"
	}
	return fmt.Sprintf("%q", text)
}
