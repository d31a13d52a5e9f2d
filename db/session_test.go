package db_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"testing"
	"time"

	"storozh/core"
	"storozh/db"
	"storozh/db/dbtest"
)

const (
	life = 30 * 24 * time.Hour
	idle = 7 * 24 * time.Hour
	aDay = 24 * time.Hour
	year = 365 * aDay
)

func found(t *testing.T, s *db.Sessions, token string) bool {
	t.Helper()
	_, ok, err := s.Find(t.Context(), token)
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// What was ended stays ended, whatever a request that had read it before writes afterwards.
func TestAnEndedSessionStaysEnded(t *testing.T) {
	s := dbtest.Open(t).Sessions(life, idle)
	for _, token := range []string{"one", "two", "three"} {
		must(t, s.Add(t.Context(), token, []byte(token)))
	}
	must(t, s.End(t.Context(), "one"))
	n, err := s.EndAll(t.Context(), func(data []byte) bool { return string(data) == "two" })
	if err != nil || n != 1 {
		t.Errorf("%d ended (%v)", n, err)
	}
	for _, token := range []string{"one", "two", "three"} {
		must(t, s.Update(t.Context(), token, []byte("later")))
		if got := found(t, s, token); got != (token == "three") {
			t.Errorf("session %s: found %v", token, got)
		}
	}
}

// The clock is set forward and back while somebody is signed in: no session and no link lives longer than it may by more than a day, and a
// small correction signs nobody out.
func TestSessionsAndLinksWhileTheClockJumps(t *testing.T) {
	link := sha256.Sum256([]byte("link"))
	for _, tc := range []struct {
		name    string
		jump    time.Duration
		session bool // still valid after the jump
		link    bool
	}{
		{"a second back", -time.Second, true, true},
		{"a day back", -aDay + time.Minute, true, false}, // the link would be valid for a day and an hour
		{"a year back", -year, false, false},
		{"a minute forward", time.Minute, true, true},
		{"a day forward", aDay, true, false},
		{"a year forward", year, false, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := dbtest.Open(t)
			s := d.Sessions(life, idle)
			must(t, s.Add(t.Context(), "s", []byte("x")))
			must(t, d.AddLink(t.Context(), core.Owner, link, time.Hour))
			dbtest.Jump(t, d, tc.jump)
			if got := found(t, s, "s"); got != tc.session {
				t.Errorf("the session is valid: %v", got)
			}
			if _, err := d.RedeemLink(t.Context(), link); (err == nil) != tc.link || err != nil && !errors.Is(err, core.ErrNotFound) {
				t.Errorf("the link: %v", err)
			}
			if !tc.session {
				return
			}
			// Used daily, it still ends a life after the sign-in, or at most a day later.
			var used time.Duration
			for ; found(t, s, "s") && used < 2*life; used += aDay {
				must(t, s.Update(t.Context(), "s", []byte("x")))
				dbtest.Jump(t, d, aDay)
			}
			if used > life+aDay || used < life-2*aDay {
				t.Errorf("it was good for another %s", used)
			}
		})
	}
}

// A run is leased, or waits for its next try, while the clock is set: it is neither lost for the length of the jump nor done twice.
func TestRunsWhileTheClockJumps(t *testing.T) {
	for name, jump := range map[string]time.Duration{"a day back": -aDay, "a year back": -year, "a day forward": aDay, "a year forward": year} {
		t.Run(name, func(t *testing.T) {
			d := dbtest.Open(t)
			submit(t, d, arrival("s", "2026-03-01T10:00:00Z", "x"))
			killed := claim(t, d)
			dbtest.Jump(t, d, jump)
			second := claim(t, d) // the worker is dead, and its lease seems to last for a day, or to have ended long ago
			if second.ID != killed.ID || second.Fence == killed.Fence {
				t.Fatalf("claimed %+v after %+v", second, killed)
			}
			if _, err := d.Heartbeat(t.Context(), killed, core.Progress{}); !errors.Is(err, db.ErrLeaseLost) {
				t.Errorf("the first worker, which was not dead after all: %v", err)
			}
			must(t, d.Retry(t.Context(), second, "the model is away", time.Minute))
			dbtest.Jump(t, d, jump)
			third := claim(t, d)
			if _, err := d.Heartbeat(t.Context(), third, core.Progress{}); err != nil {
				t.Error(err)
			}
			if _, err := d.Claim(t.Context()); !errors.Is(err, core.ErrNotFound) {
				t.Errorf("a leased run was claimed: %v", err)
			}
		})
	}
}

// A living worker's lease is renewed at its next beat after the clock was set; a backoff is still waited for.
func TestLeasesAndBackoffsHold(t *testing.T) {
	d := dbtest.Open(t)
	submit(t, d, arrival("s", "2026-03-01T10:00:00Z", "x"))
	run := claim(t, d)
	for _, step := range []time.Duration{-time.Second, time.Second} { // as a time server does
		dbtest.Jump(t, d, step)
		if _, err := d.Claim(context.Background()); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("after a step of %s: %v", step, err)
		}
	}
	must(t, d.Retry(t.Context(), run, "the model is away", time.Minute))
	if _, err := d.Claim(t.Context()); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("a run was tried again before its time: %v", err)
	}
}
