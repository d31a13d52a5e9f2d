package app

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"storozh/core"
)

// modelCheck is how long what was last seen of the model is shown without asking again.
const modelCheck = 15 * time.Second

// lastModel keeps what was last seen of the model, so that a status page that is reloaded does not become load.
type lastModel struct {
	mu    sync.Mutex
	at    time.Time
	state core.LLMState
}

// System describes the process for the status page.
func (a *App) System(ctx context.Context) (core.System, error) {
	s := core.System{
		Version: a.cfg.Version, Database: a.version, Demo: a.model.Demo(), CorpusDir: a.cfg.ShieldDir, ManifestPath: a.cfg.ManifestPath,
		LLM: a.lookAtModel(ctx), PolicySource: a.guard.PolicySource(ctx),
	}
	var err error
	if s.Queued, err = a.db.Unfinished(ctx); err != nil {
		return s, err
	}
	state, at, err := a.db.Corpus(ctx, a.cfg.ShieldDir)
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		return s, err
	}
	s.Corpus, s.CorpusReadAt = state, at.Time
	if s.ManifestPath != "" {
		f, err := os.Open(s.ManifestPath)
		s.Watching = err == nil
		if err == nil {
			_ = f.Close()
		}
	}
	return s, nil
}

func (a *App) lookAtModel(ctx context.Context) core.LLMState {
	a.seen.mu.Lock()
	defer a.seen.mu.Unlock()
	if time.Since(a.seen.at) < modelCheck {
		return a.seen.state
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	st := core.LLMState{URL: a.model.URL(), Reachable: true}
	m, err := a.model.Resolve(ctx)
	if err != nil {
		st.Reachable, st.Detail = false, err.Error()
	}
	st.EmbedModel, st.JudgeModel = m.Embed, m.Judge
	if len(m.Warnings) > 0 {
		st.Detail = m.Warnings[0]
	}
	a.seen.at, a.seen.state = time.Now(), st
	return st
}
