package db

import (
	"context"

	"github.com/jmoiron/sqlx"
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

type verdictRow struct {
	Key        []byte  `db:"key"`
	Label      string  `db:"label"`
	Reason     string  `db:"reason"`
	Judge      string  `db:"judge"`
	Prompt     string  `db:"prompt"`
	UnitHash   []byte  `db:"unit_hash"`
	ItemHash   []byte  `db:"item_hash"`
	Similarity float64 `db:"similarity"`
	Unstable   bool    `db:"unstable"`
}

// SaveVerdicts keeps what the judge said of pairs, each under its key, so that a run that is cut off goes on where it stopped. A newer answer
// replaces an older one (judging afresh). No key may come twice.
func (d *DB) SaveVerdicts(ctx context.Context, keys [][]byte, pairs []core.Pair) error {
	rows := make([]verdictRow, len(keys))
	for i, p := range pairs {
		rows[i] = verdictRow{keys[i], string(p.Label), text(p.Note), text(p.Judge), p.Prompt, p.UnitHash, p.ItemHash, p.Similarity, p.Unstable}
	}
	err := d.transact(ctx, func(tx *sqlx.Tx) error {
		return insertAll(ctx, tx, `
			INSERT INTO verdicts (key, label, reason, judge, prompt, unit_hash, item_hash, similarity, unstable)
			VALUES (:key, :label, :reason, :judge, :prompt, :unit_hash, :item_hash, :similarity, :unstable)
			ON CONFLICT (key) DO UPDATE SET label = excluded.label, reason = excluded.reason, similarity = excluded.similarity,
				unstable = excluded.unstable, judged_at = now()`, rows)
	})
	return wrap(err, "SaveVerdicts")
}
