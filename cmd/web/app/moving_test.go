package app

import (
	"context"
	"strings"
	"testing"
	"time"

	"storozh/core"
	"storozh/core/guard"
	"storozh/core/localllm"
	"storozh/core/manifest"
	"storozh/db"
	"storozh/db/dbtest"
)

// movingStore lets something happen before units are looked up.
type movingStore struct {
	*db.DB
	before func()
}

func (s *movingStore) NearestAll(ctx context.Context, dir string, model int, hashes [][]byte, n int) ([][]core.Near, error) {
	s.before()
	return s.DB.NearestAll(ctx, dir, model, hashes, n)
}

// deadModel cannot be had: a guard with it reads the corpus and embeds nothing.
type deadModel struct{ localllm.Model }

func (deadModel) Resolve(context.Context) (localllm.Models, error) {
	return localllm.Models{}, &localllm.Error{Kind: localllm.KindUnreachable, Op: "models"}
}

// Another process reads a newer corpus while a run looks for neighbours: an item whose new text has no vector yet is not passed over.
func TestACorpusThatChangesUnderARunIsLookedAtAgain(t *testing.T) {
	for _, always := range []bool{false, true} {
		e := newEco(t)
		e.change("shield/lessons/fridays.md", "# Fridays\n\nDeploys on a Friday are welcome at any hour.\n")
		m, err := manifest.Parse(e.manifest("s", "2026-05-01T12:00:00Z"))
		if err != nil {
			t.Fatal(err)
		}
		d, opt, times := dbtest.Open(t), guardOptions(e, 5, 2), 0
		store := &movingStore{DB: d, before: func() {
			if times++; times > 1 && !always {
				return
			}
			text := "#1 [critical] [F] deploy on a Friday at any hour" + strings.Repeat(" at all", times) + "\n"
			e.write("shield/invariants/core.txt", text)
			e.git("shield", "commit", "-q", "-m", "edited", "--", "invariants/core.txt")
			if _, err := guard.New(d, deadModel{}, opt).Sync(t.Context()); localllm.KindOf(err) != localllm.KindUnreachable {
				t.Fatal(err)
			}
		}}
		res, err := guard.New(store, localllm.NewFake(), opt).Run(t.Context(), guard.Job{Manifest: m, RanAt: time.Now()})
		if err != nil {
			t.Fatal(err)
		}
		u := unitNamed(t, res.Units, "shield/lessons/fridays.md")
		if _, ok := pairWith(u, "shield/invariants/core.txt#1"); ok == always || ok && res.Block.Corpus.Items != 4 {
			t.Errorf("always %v: compared with %v of %+v", always, items(u), res.Block.Corpus)
		}
		if warned := strings.Contains(strings.Join(res.Block.Warnings, "\n"), "changed while"); warned != always || times > 5 {
			t.Errorf("always %v: %q after %d looks", always, res.Block.Warnings, times)
		}
	}
}
