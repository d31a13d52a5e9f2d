package app

import (
	"crypto/sha256"
	"sync"
	"testing"

	"storozh/core"
)

// Processes that start at the same time on an empty database: each token that one of them shows is good.
func TestTokensShownAtAStartAreGood(t *testing.T) {
	a := idleApp(t, nil)
	for range 10 {
		startTogether(t, a)
	}
}

func startTogether(t *testing.T, a *App) {
	t.Helper()
	if _, err := a.db.SQL().Exec("TRUNCATE cosigner_tokens"); err != nil {
		t.Fatal(err)
	}
	a.cfg.OwnerToken, a.cfg.ClaudeToken = "", ""
	const processes = 8
	var wg sync.WaitGroup
	made := make([]map[core.Cosigner]string, processes)
	begin := make(chan struct{})
	for i := range processes {
		wg.Go(func() {
			<-begin
			var err error
			if made[i], err = a.EnsureTokens(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	close(begin)
	wg.Wait()
	shown := map[core.Cosigner]int{}
	for _, m := range made {
		for c, token := range m {
			shown[c]++
			if who, err := a.db.ByToken(t.Context(), sha256.Sum256([]byte(token))); err != nil || who != c {
				t.Errorf("a token of %s that was shown is nobody's: %v", c, err)
			}
		}
	}
	if shown[core.Owner] != 1 || shown[core.Claude] != 1 {
		t.Errorf("shown %v times", shown)
	}
}
