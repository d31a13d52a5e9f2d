package app

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"storozh/core"
)

func TestMarkersAreLookedAtAndNeverTouched(t *testing.T) {
	home := t.TempDir()
	now := time.Now()
	path := filepath.Join(home, ".claude-cosign-owner")
	look := func() core.MarkerState { return lookAtMarker(home, core.Owner, now).State }
	if s := look(); s != core.MarkerAbsent {
		t.Errorf("without a file: %s", s)
	}
	for _, tt := range []struct {
		text string
		age  time.Duration
		want core.MarkerState
	}{
		{"cosign: owner\n", time.Minute, core.MarkerFresh},
		{"cosign: owner\n", 6 * time.Minute, core.MarkerStale},
		{"cosign: claude\n", time.Minute, core.MarkerAbsent},
	} {
		if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		at := now.Add(-tt.age)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		if s := look(); s != tt.want {
			t.Errorf("%q, %v old: %s, want %s", tt.text, tt.age, s, tt.want)
		}
		st, err := os.Stat(path)
		b, _ := os.ReadFile(path)
		if err != nil || !st.ModTime().Equal(at) || string(b) != tt.text {
			t.Error("the marker was touched")
		}
	}
	if s := lookAtMarker("", core.Owner, now).State; s != core.MarkerUnseen {
		t.Errorf("without a home folder: %s", s)
	}
}
