package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
)

// Export writes everything the database holds to w as JSON lines, and tells how many rows.
func (a *App) Export(ctx context.Context, w io.Writer) (int64, error) { return a.db.Export(ctx, w) }

// Import fills the empty database of a configuration with what Export wrote. Nothing else of a process is started, so that it finds the
// database as empty as it was made.
func Import(ctx context.Context, cfg Config, log *slog.Logger, say func(string), r io.Reader) (n int64, err error) {
	if _, ok := Dial(ctx, cfg.DataDir); ok {
		return 0, errors.New("a storozh is running on this data folder: stop it first, an import needs an empty database to itself")
	}
	if err := os.MkdirAll(cfg.DataDir, 0o700); err != nil {
		return 0, fmt.Errorf("the data folder cannot be made: %w (set STOROZH_DATA_DIR to a folder that you can write)", err)
	}
	a := &App{cfg: cfg, log: log, say: say}
	if err := a.openDatabase(ctx); err != nil {
		return 0, err
	}
	n, err = a.db.Import(ctx, r)
	return n, errors.Join(err, a.Close())
}

// exporter is a Desk that can export.
type exporter interface {
	Export(ctx context.Context, w io.Writer) (int64, error)
}

var (
	_ exporter = (*App)(nil)
	_ exporter = (*Remote)(nil)
)

// exportError is the trailer in which the control socket tells why an export broke off.
const exportError = "Storozh-Error"

// serveExport streams an export over the control socket.
func serveExport(d exporter) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/jsonl")
		w.Header().Set("Trailer", exportError)
		if _, err := d.Export(r.Context(), w); err != nil {
			w.Header().Set(exportError, fmt.Sprintf("%q", err.Error()))
		}
	}
}

// Export asks the running process. The number of rows stands in the export's last line; here it is not counted.
func (r *Remote) Export(ctx context.Context, w io.Writer) (int64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://storozh/export", nil)
	if err != nil {
		return 0, err
	}
	res, err := r.c.Do(req)
	if err != nil {
		return 0, fmt.Errorf("the running storozh does not answer: %w", err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("the running storozh cannot export (%s): is it of an older version?", res.Status)
	}
	if _, err := io.Copy(w, res.Body); err != nil {
		return 0, fmt.Errorf("the export broke off: %w", err)
	}
	if why := res.Trailer.Get(exportError); why != "" {
		return 0, fmt.Errorf("the export broke off: %s", why)
	}
	return 0, nil
}
