package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"storozh/core"
)

// maxReport bounds what a report over the control socket may have, in bytes; a real one has a few kilobytes.
const maxReport = 1 << 20

// SaveEvaluation keeps what `web eval` measured and gives its id.
func (a *App) SaveEvaluation(ctx context.Context, e core.Evaluation) (int64, error) {
	return a.db.SaveEvaluation(ctx, e)
}

// SaveEvaluation asks the running process.
func (r *Remote) SaveEvaluation(ctx context.Context, e core.Evaluation) (id int64, err error) {
	body, err := json.Marshal(e)
	if err != nil {
		return 0, err
	}
	err = r.call(ctx, http.MethodPost, "/evaluations", body, &id)
	return id, err
}

// serveEvaluation is the control socket's side of it.
func serveEvaluation(d Desk) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var b bytes.Buffer
		_, err := b.ReadFrom(http.MaxBytesReader(w, r.Body, maxReport))
		var e core.Evaluation
		if err == nil {
			err = json.Unmarshal(b.Bytes(), &e)
		}
		if err != nil {
			answer(w, nil, fmt.Errorf("%w: the report cannot be read: %v", core.ErrInvalid, err))
			return
		}
		id, err := d.SaveEvaluation(r.Context(), e)
		answer(w, id, err)
	}
}
