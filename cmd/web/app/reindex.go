package app

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"storozh/core/localllm"
)

const (
	tendEvery    = 10 * time.Minute // beside the wake-up when a run has ended
	tendAgain    = 5 * time.Second  // after a failure; doubled each time, up to tendEvery
	reindexLease = "reindex"
	reindexHold  = 5 * time.Minute     // longer than a batch takes on a server that has to load its model first
	keepVectors  = 30 * 24 * time.Hour // of a model that is no longer in use: changing back costs nothing until then
	runsFirst    = 10 * time.Second    // how long a batch waits for runs at most: they come first, but must not starve it
	lookForRuns  = 500 * time.Millisecond
)

// tendCorpus sees to what makes the corpus quick to search, beside the runs, until ctx ends: vectors of a new embedding model, the index, and
// vectors that nobody uses any more.
func (a *App) tendCorpus(ctx context.Context) {
	holder, again := rand.Text(), tendAgain
	for {
		ended := a.ended.next()
		wait := tendEvery
		if err := a.tend(ctx, holder); err == nil {
			again = tendAgain
		} else if ctx.Err() == nil {
			a.log.Warn("corpus not tended", "err", err, "again in", again)
			wait, again = again, min(2*again, tendEvery)
			ended = nil // an outage is waited out, whatever ends meanwhile
		}
		select {
		case <-ctx.Done():
			return
		case <-ended:
		case <-time.After(wait):
		}
	}
}

func (a *App) tend(ctx context.Context, holder string) error {
	head, err := a.db.CorpusHead(ctx, a.cfg.ShieldDir)
	if err != nil {
		return err
	}
	if head.Reindex != 0 {
		if err := a.reindex(ctx, holder); err != nil {
			return err
		}
		if head, err = a.db.CorpusHead(ctx, a.cfg.ShieldDir); err != nil {
			return err
		}
	}
	if head.Embedded == 0 {
		return nil
	}
	if err := a.db.UseEmbedModel(ctx, head.Embedded); err != nil {
		return err
	}
	began := time.Now()
	built, err := a.db.BuildVectorIndex(ctx, a.cfg.ShieldDir, head.Embedded)
	if err != nil {
		return err
	}
	if built {
		a.log.Info("vectors indexed", "items", head.Items, "took", time.Since(began).Round(time.Second))
	}
	n, err := a.db.DropEmbedModels(ctx, time.Now().Add(-keepVectors))
	if n > 0 {
		a.log.Info("vectors dropped", "models", n, "unused for", keepVectors)
	}
	return err
}

var errLeaseLost = errors.New("another process goes on with the reindexing")

// reindex embeds the corpus by a new model, unless another process is at it.
func (a *App) reindex(ctx context.Context, holder string) error {
	held, err := a.db.Lease(ctx, reindexLease, holder, reindexHold)
	if err != nil || !held {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeLimit)
		defer cancel()
		if err := a.db.EndLease(ctx, reindexLease, holder); err != nil {
			a.log.Warn("lease not given back, it ends by itself", "err", err)
		}
	}()
	began, texts := time.Now(), 0
	err = a.guard.Reindex(ctx, func(ctx context.Context, done int) error {
		texts = done
		held, err := a.db.Lease(ctx, reindexLease, holder, reindexHold)
		if err == nil && !held {
			return errLeaseLost
		}
		return errors.Join(err, a.letRunsPass(ctx))
	})
	if errors.Is(err, errLeaseLost) {
		return nil
	}
	if texts > 0 {
		a.log.Info("reindexing", "texts", texts, "finished", err == nil, "took", time.Since(began).Round(time.Second))
	}
	return err
}

// letRunsPass waits while there are runs to do, but not for ever.
func (a *App) letRunsPass(ctx context.Context) error {
	limit := time.After(runsFirst)
	for {
		n, err := a.db.Unfinished(ctx)
		if err != nil || n == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-limit:
			return nil
		case <-time.After(lookForRuns):
		}
	}
}

// EmbedWith times the model's, if it can be asked for vectors of another model.
func (o observed) EmbedWith(ctx context.Context, model string, texts []string) ([][]float32, error) {
	by, ok := o.Model.(localllm.NamedEmbedder)
	if !ok {
		return nil, errors.New("this model has no other vectors than its own")
	}
	began := time.Now()
	v, err := by.EmbedWith(ctx, model, texts)
	o.watch("embed", began, err)
	return v, err
}
