package app

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"storozh/core"
)

// markerFresh is how long a co-sign marker counts (contract C2).
const markerFresh = 300 * time.Second

// Markers looks at the two co-sign markers of contract C2. It only ever looks: writing a marker for a cosigner would be a breach.
func (a *App) Markers() []core.Marker {
	out := make([]core.Marker, 0, 2)
	for _, c := range []core.Cosigner{core.Owner, core.Claude} {
		out = append(out, lookAtMarker(a.cfg.MarkerHome, c, a.now()))
	}
	return out
}

func lookAtMarker(home string, c core.Cosigner, now time.Time) core.Marker {
	m := core.Marker{Cosigner: c, State: core.MarkerUnseen}
	if home == "" {
		return m
	}
	path := filepath.Join(home, ".claude-cosign-"+string(c))
	st, err := os.Stat(path)
	switch {
	case os.IsNotExist(err):
		m.State = core.MarkerAbsent
		return m
	case err != nil || !st.Mode().IsRegular() || st.Size() > 64<<10:
		return m
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return m
	}
	m.Age = max(now.Sub(st.ModTime()), 0)
	switch {
	case !hasLine(string(text), "cosign: "+string(c)):
		m.State = core.MarkerAbsent // a file without the line does not count at the gate
	case m.Age < markerFresh:
		m.State = core.MarkerFresh
	default:
		m.State = core.MarkerStale
	}
	return m
}

func hasLine(text, line string) bool {
	for l := range strings.Lines(text) {
		if strings.TrimSpace(l) == line {
			return true
		}
	}
	return false
}
