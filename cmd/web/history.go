package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // a slim container has no zones

	"storozh/cmd/web/app"
)

// history reads in which zone days are counted and how long raw manifests are kept.
func (r *reader) history(cfg *app.Config) {
	var err error
	if name := r.env("STOROZH_TZ"); name == "" {
		cfg.Zone = r.ownZone()
	} else if cfg.Zone, err = namedZone(name); err != nil {
		r.fail("STOROZH_TZ", "must be a zone such as Europe/Berlin or UTC", err)
	}
	if cfg.KeepRaw, err = keepRaw(r.env("STOROZH_KEEP_RAW")); err != nil {
		r.fail("STOROZH_KEEP_RAW", `must be "forever" or a time such as 90d, 12w or 48h, of at least an hour`, nil)
	}
}

// namedZone takes IANA names only: the database keeps the name, and every process must find the same zone by it.
func namedZone(name string) (*time.Location, error) {
	if name == "Local" {
		return nil, os.ErrInvalid
	}
	return time.LoadLocation(name)
}

// ownZone is the machine's zone under its IANA name, as TZ or the link /etc/localtime gives it; UTC where neither names one.
func (r *reader) ownZone() *time.Location {
	name := strings.TrimPrefix(r.env("TZ"), ":")
	if name == "" {
		target, _ := filepath.EvalSymlinks("/etc/localtime")
		_, name, _ = strings.Cut(target, "/zoneinfo/")
	}
	if z, err := namedZone(name); err == nil {
		return z
	}
	return time.UTC
}

var keepForm = regexp.MustCompile(`^(\d{1,6})([hdw])$`)

// keepRaw reads a retention: 0 for ever.
func keepRaw(text string) (time.Duration, error) {
	if text == "" || text == "forever" {
		return 0, nil
	}
	m := keepForm.FindStringSubmatch(text)
	if m == nil {
		return 0, os.ErrInvalid
	}
	n, err := strconv.Atoi(m[1])
	unit := map[string]time.Duration{"h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour}[m[2]]
	if err != nil || n < 1 || time.Duration(n) > (200*365*24*time.Hour)/unit {
		return 0, os.ErrInvalid
	}
	return time.Duration(n) * unit, nil
}
