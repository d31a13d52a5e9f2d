package db

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"storozh/core"
)

// percentOf is a pair's similarity in whole percent, rounded down, as migration 00009 has it. What cannot be is below everything.
const percentOf = "CASE WHEN p.similarity BETWEEN -1.5 AND 1.5 THEN floor(p.similarity * 100 + 1e-9) ELSE -100 END"

// countSimilarities keeps at what similarity pairs were asked about and flags were raised, as rows of counted_units come and go.
func countSimilarities(ctx context.Context, tx *sqlx.Tx, runID int64, old, fresh []countedRow) error {
	var runs, ords, signs pq.Int64Array
	for sign, rows := range map[int64][]countedRow{-1: old, 1: fresh} {
		for _, r := range rows {
			runs, ords, signs = append(runs, r.RunID), append(ords, int64(r.Ord)), append(signs, sign)
		}
	}
	_, err := tx.ExecContext(ctx, `
		INSERT INTO similarities AS s (embed_model, percent, pairs)
		SELECT left(r.embed_model, 200), `+percentOf+`, sum(c.sign)
		FROM unnest($1::bigint[], $2::integer[], $3::integer[]) AS c (run_id, ord, sign)
		JOIN runs r ON r.id = c.run_id JOIN pairs p ON p.run_id = c.run_id AND p.ord = c.ord
		WHERE r.embed_model <> '' AND p.judge <> '' GROUP BY 1, 2 ORDER BY 1, 2
		ON CONFLICT (embed_model, percent) DO UPDATE SET pairs = s.pairs + excluded.pairs`, runs, ords, signs)
	if err != nil {
		return err
	}
	// Rows of what was counted before went with their units. The key is that of flag_history; see digest.
	_, err = tx.ExecContext(ctx, `
		INSERT INTO flag_nearest (key, flag, embed_model, label, percent, stamped)
		SELECT c.key, sha256(c.session || '\x00' || convert_to(c.unit, 'UTF8') || '\x00' || convert_to('semantic', 'UTF8') || '\x00' || convert_to(p.label, 'UTF8')),
			left(r.embed_model, 200), p.label, max(`+percentOf+`), c.stamped
		FROM counted_units c JOIN runs r ON r.id = c.run_id
		JOIN pairs p ON p.run_id = c.run_id AND p.ord = c.ord AND NOT p.resolved AND p.label = CASE WHEN c.contra THEN 'contra' ELSE 'dup' END
		WHERE c.run_id = $1 AND (c.contra OR c.dup) AND r.embed_model <> ''
		GROUP BY c.key, c.session, c.unit, r.embed_model, p.label, c.stamped`, runID)
	return err
}

// WhatIf gives what a floor under the similarity could have cut off, for one embedding model; empty: the one of the latest finished run.
func (d *DB) WhatIf(ctx context.Context, model string) (core.WhatIfData, error) {
	out := core.WhatIfData{Model: text(model)}
	err := d.x.SelectContext(ctx, &out.Models, "SELECT embed_model FROM similarities GROUP BY embed_model HAVING sum(pairs) > 0 ORDER BY 1 LIMIT $1", maxRepos)
	if err != nil {
		return out, wrap(err, "WhatIf")
	}
	if out.Model == "" {
		if out.Model, err = d.latestEmbedModel(ctx); err != nil {
			return out, wrap(err, "WhatIf")
		}
	}
	var pairs []pairsAtRow
	err = d.x.SelectContext(ctx, &pairs, "SELECT percent, pairs FROM similarities WHERE embed_model = $1 AND pairs > 0 ORDER BY percent", out.Model)
	if err != nil {
		return out, wrap(err, "WhatIf")
	}
	var flags []flagsAtRow
	err = d.x.SelectContext(ctx, &flags, `
		SELECT n.percent, n.label, coalesce(h.owner, '') AS owner, coalesce(h.claude, '') AS claude, count(*) AS flags
		FROM flag_nearest n LEFT JOIN flag_history h ON h.key = n.flag AND h.owner <> ''
		WHERE n.embed_model = $1 GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4`, out.Model)
	for _, p := range pairs {
		out.Pairs = append(out.Pairs, core.PairsAt(p))
	}
	for _, f := range flags {
		out.Flags = append(out.Flags, core.FlagsAt(f))
	}
	return out, wrap(err, "WhatIf")
}

type pairsAtRow struct {
	Percent int `db:"percent"`
	Pairs   int `db:"pairs"`
}

type flagsAtRow struct {
	Percent int         `db:"percent"`
	Label   core.Label  `db:"label"`
	Owner   core.Choice `db:"owner"`
	Claude  core.Choice `db:"claude"`
	Flags   int         `db:"flags"`
}

// latestEmbedModel is the model of the latest finished run that had one; empty if none had.
func (d *DB) latestEmbedModel(ctx context.Context) (string, error) {
	var model string
	err := d.x.GetContext(ctx, &model, `
		SELECT left(r.embed_model, 200) FROM runs r JOIN manifests m ON m.id = r.manifest_id
		WHERE r.status = 'done' AND NOT r.demo AND m.source <> 'sample' AND r.embed_model <> '' ORDER BY r.id DESC LIMIT 1`)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return model, err
}

// WhatIfFlags lists the flags under one embedding model of which every item lies below a floor in percent, newest manifest first.
func (d *DB) WhatIfFlags(ctx context.Context, model string, floor, limit int) ([]core.WhatIfFlag, error) {
	var rows []struct {
		ManifestID int64     `db:"manifest_id"`
		Unit       string    `db:"unit"`
		Label      string    `db:"label"`
		Percent    int       `db:"percent"`
		Stamped    time.Time `db:"stamped"`
		Owner      string    `db:"owner"`
		Claude     string    `db:"claude"`
	}
	err := d.x.SelectContext(ctx, &rows, `
		WITH page AS MATERIALIZED (
			SELECT * FROM flag_nearest WHERE embed_model = $1 AND percent < $2 ORDER BY stamped DESC, key LIMIT $3)
		SELECT c.manifest_id, c.unit, n.label, n.percent, n.stamped, coalesce(h.owner, '') AS owner, coalesce(h.claude, '') AS claude
		FROM page n JOIN counted_units c ON c.key = n.key LEFT JOIN flag_history h ON h.key = n.flag ORDER BY n.stamped DESC, n.key`,
		text(model), floor, limit)
	if err != nil {
		return nil, wrap(err, "WhatIfFlags")
	}
	out := make([]core.WhatIfFlag, len(rows))
	for i, r := range rows {
		out[i] = core.WhatIfFlag{
			ManifestID: r.ManifestID, UnitID: r.Unit, Label: core.Label(r.Label), Percent: r.Percent, At: r.Stamped.UTC(),
			Owner: core.Choice(r.Owner), Claude: core.Choice(r.Claude),
		}
	}
	return out, nil
}
