package app

import (
	"context"
	"fmt"
	"path/filepath"

	"storozh/core"
	"storozh/core/manifest"
)

// Outcome is what the command line shows of a run.
type Outcome struct {
	ID        int64         `json:"id"`
	Status    core.Status   `json:"status"`
	Error     string        `json:"error,omitempty"`
	Progress  core.Progress `json:"progress"`
	BLUF      string        `json:"bluf"`
	URL       string        `json:"url"`
	Block     *core.Block   `json:"block,omitempty"`
	WriteBack writeBackJSON `json:"writeBack"`
}

type writeBackJSON struct {
	State  core.WriteState `json:"state"`
	Path   string          `json:"path,omitempty"`
	Detail string          `json:"detail,omitempty"`
}

// Ended tells whether nothing more will happen to this run.
func (o Outcome) Ended() bool { return o.Status.Finished() && o.WriteBack.State != core.WritePend }

// Desk is what the command line asks for, of this process or of the one that is running.
type Desk interface {
	// Check submits a manifest's bytes; its block belongs in the file at path (absolute).
	Check(ctx context.Context, raw []byte, path string) (id int64, err error)
	// RunSample runs the sample ecosystem.
	RunSample(ctx context.Context) (id int64, err error)
	// Outcome gives the state of a run now.
	Outcome(ctx context.Context, id int64) (Outcome, error)
	// Link makes a one-time sign-in link.
	Link(ctx context.Context, c core.Cosigner) (string, error)
	// Sync reads the corpus at HEAD and embeds what is new.
	Sync(ctx context.Context) (core.CorpusState, error)
	// SaveEvaluation keeps what `web eval` measured.
	SaveEvaluation(ctx context.Context, e core.Evaluation) (id int64, err error)
}

var _ Desk = (*App)(nil)

// Check submits a manifest's bytes with the file its block belongs in.
func (a *App) Check(ctx context.Context, raw []byte, path string) (int64, error) {
	if path != "" && !filepath.IsAbs(path) {
		return 0, fmt.Errorf("%w: the path %q is not absolute", core.ErrInvalid, path)
	}
	arr, _, err := manifest.Arrive(raw, core.SourceCheck, path)
	if err != nil {
		return 0, err
	}
	r, err := a.Submit(ctx, arr)
	if err != nil {
		return 0, err
	}
	if !r.New && r.Status == core.Done {
		// Judged before: the block that is kept goes into this file.
		rec, err := a.db.Record(ctx, r.ManifestID)
		if err != nil {
			return 0, err
		}
		a.writeBlock(ctx, rec.Run)
	}
	return r.ManifestID, nil
}

// Outcome gives the state of a manifest's latest run.
func (a *App) Outcome(ctx context.Context, id int64) (Outcome, error) {
	rec, err := a.db.Record(ctx, id)
	if err != nil {
		return Outcome{}, err
	}
	w := rec.Run.WriteBack
	return Outcome{
		ID: id, Status: rec.Run.Status, Error: rec.Run.Error, Progress: rec.Run.Progress, BLUF: rec.BLUF, Block: rec.Run.Block,
		URL: fmt.Sprintf("%s/manifests/%d", a.cfg.URL(), id), WriteBack: writeBackJSON{w.State, w.Path, w.Detail},
	}, nil
}

// Sync reads the corpus at HEAD and embeds what is new, without any manifest.
func (a *App) Sync(ctx context.Context) (core.CorpusState, error) {
	defer a.ended.fire() // there may be an index to build
	return a.guard.Sync(ctx)
}
