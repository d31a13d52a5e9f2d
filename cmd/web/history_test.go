package main

import (
	"strings"
	"testing"
	"time"
)

func TestZoneAndRetentionAreRead(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		tz, keep, zone string
		kept           time.Duration
		err            string
	}{
		{tz: "Europe/Berlin", zone: "Europe/Berlin"},
		{tz: "Asia/Kathmandu", keep: "forever", zone: "Asia/Kathmandu"},
		{tz: "UTC", keep: "90d", zone: "UTC", kept: 90 * 24 * time.Hour},
		{tz: "UTC", keep: "12w", zone: "UTC", kept: 12 * 7 * 24 * time.Hour},
		{tz: "UTC", keep: "48h", zone: "UTC", kept: 48 * time.Hour},
		{tz: "Berlin", err: "STOROZH_TZ"},
		{tz: "../etc/passwd", err: "STOROZH_TZ"},
		{tz: "Local", err: "STOROZH_TZ"},
		{tz: "UTC", keep: "0d", err: "STOROZH_KEEP_RAW"},
		{tz: "UTC", keep: "90", err: "STOROZH_KEEP_RAW"},
		{tz: "UTC", keep: "-5d", err: "STOROZH_KEEP_RAW"},
		{tz: "UTC", keep: "999999w", err: "STOROZH_KEEP_RAW"},
		{tz: "UTC", keep: "never", err: "STOROZH_KEEP_RAW"},
	} {
		home := t.TempDir()
		cfg, err := config(func(name string) string {
			return map[string]string{"HOME": home, "STOROZH_TZ": tt.tz, "STOROZH_KEEP_RAW": tt.keep, "STOROZH_LLM_URL": "demo"}[name]
		})
		if tt.err != "" {
			if err == nil || !strings.HasPrefix(err.Error(), tt.err) {
				t.Errorf("%+v: %v", tt, err)
			}
			continue
		}
		if err != nil || cfg.Zone.String() != tt.zone || cfg.KeepRaw != tt.kept {
			t.Errorf("%+v: %v %v %v", tt, cfg.Zone, cfg.KeepRaw, err)
		}
	}
}

// Without STOROZH_TZ the zone has a name that any process finds again.
func TestTheOwnZoneHasAName(t *testing.T) {
	t.Parallel()
	for tz, want := range map[string]string{"America/New_York": "America/New_York", ":Europe/Moscow": "Europe/Moscow", "no such zone": "UTC"} {
		r := reader{env: func(name string) string { return map[string]string{"TZ": tz}[name] }}
		if got := r.ownZone().String(); got != want {
			t.Errorf("TZ=%q gives %s", tz, got)
		}
	}
	r := reader{env: func(string) string { return "" }}
	if z := r.ownZone(); z.String() == "Local" || z.String() == "" {
		t.Errorf("the machine's own zone is %q", z)
	}
}
