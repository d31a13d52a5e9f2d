package db

import (
	"context"

	"github.com/lib/pq"

	"storozh/core"
)

// Verdicts gives the verdicts that are kept under these keys; the map's key is the verdict's.
func (d *DB) Verdicts(ctx context.Context, keys [][]byte) (map[string]core.Verdict, error) {
	var rows []struct {
		Key      []byte `db:"key"`
		Label    string `db:"label"`
		Reason   string `db:"reason"`
		Unstable bool   `db:"unstable"`
	}
	if err := d.x.SelectContext(ctx, &rows, "SELECT key, label, reason, unstable FROM verdicts WHERE key = ANY($1)", pq.ByteaArray(keys)); err != nil {
		return nil, wrap(err, "Verdicts")
	}
	out := make(map[string]core.Verdict, len(rows))
	for _, r := range rows {
		out[string(r.Key)] = core.Verdict{Label: core.Label(r.Label), Reason: r.Reason, Unstable: r.Unstable}
	}
	return out, nil
}

// SaveVerdict keeps what the judge said of a pair, at once, so that a run that is cut off goes on where it stopped. A newer answer
// replaces an older one (judging afresh).
func (d *DB) SaveVerdict(ctx context.Context, key []byte, p core.Pair) error {
	_, err := d.x.ExecContext(ctx, `
		INSERT INTO verdicts (key, label, reason, judge, prompt, unit_hash, item_hash, similarity, unstable)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
		ON CONFLICT (key) DO UPDATE SET label = excluded.label, reason = excluded.reason, similarity = excluded.similarity,
			unstable = excluded.unstable, judged_at = now()`,
		key, p.Label, text(p.Note), text(p.Judge), p.Prompt, p.UnitHash, p.ItemHash, p.Similarity, p.Unstable)
	return wrap(err, "SaveVerdict")
}
