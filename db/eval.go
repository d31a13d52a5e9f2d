package db

import (
	"context"
	"encoding/json"
	"fmt"

	"storozh/core"
)

// SaveEvaluation keeps a measurement and gives its id.
func (d *DB) SaveEvaluation(ctx context.Context, e core.Evaluation) (int64, error) {
	report, err := json.Marshal(e)
	if err != nil {
		return 0, fmt.Errorf("db.SaveEvaluation: %w", err)
	}
	var j core.JudgeScore
	var r core.RecallScore
	if e.Judge != nil {
		j = *e.Judge
	}
	if e.Retrieval != nil {
		r = *e.Retrieval
	}
	var id int64
	err = d.x.GetContext(ctx, &id, `
		INSERT INTO evaluations (made_at, demo, judge, prompt, set_name, set_hash, embedder, retrieval_hash, report)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING id`,
		e.At, e.Demo, text(j.Model), j.Prompt, j.Set, j.SetHash, text(r.Model), r.SetHash, noNUL(report))
	return id, wrap(err, "SaveEvaluation")
}

// Evaluations gives the latest measurements, newest first, at most limit.
func (d *DB) Evaluations(ctx context.Context, limit int) ([]core.Evaluation, error) {
	var rows []struct {
		ID     int64  `db:"id"`
		Report []byte `db:"report"`
	}
	if err := d.x.SelectContext(ctx, &rows, "SELECT id, report FROM evaluations ORDER BY made_at DESC, id DESC LIMIT $1", limit); err != nil {
		return nil, wrap(err, "Evaluations")
	}
	out := make([]core.Evaluation, len(rows))
	for i, r := range rows {
		if err := json.Unmarshal(r.Report, &out[i]); err != nil {
			return nil, fmt.Errorf("db.Evaluations: report %d: %w", r.ID, err)
		}
		out[i].ID = r.ID
	}
	return out, nil
}
