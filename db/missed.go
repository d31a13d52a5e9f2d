package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"storozh/core"
)

type missedRow struct {
	ID         int64     `db:"id"`
	ManifestID int64     `db:"manifest_id"`
	RunID      int64     `db:"run_id"`
	Cosigner   string    `db:"cosigner"`
	Unit       string    `db:"unit"`
	UnitHash   string    `db:"unit_hash"`
	Item       string    `db:"item"`
	ItemHash   []byte    `db:"item_hash"`
	Label      string    `db:"label"`
	Rank       int       `db:"rank"`
	Said       string    `db:"said"`
	Note       string    `db:"note"`
	Demo       bool      `db:"demo"`
	NamedAt    time.Time `db:"named_at"`
}

func (r missedRow) missed() core.Missed {
	return core.Missed{
		ID: r.ID, ManifestID: r.ManifestID, RunID: r.RunID, UnitID: r.Unit, Unit: r.UnitHash, Item: r.Item, ItemHash: r.ItemHash,
		Label: core.Label(r.Label), Rank: r.Rank, Said: core.Label(r.Said), Note: r.Note, By: core.Cosigner(r.Cosigner), At: r.NamedAt.UTC(),
	}
}

// AddMissed keeps a clash that a cosigner names, or that they take one back (an empty label). Where the cosigner's last word about the same
// two contents is the same already, that one is given and nothing is added. ErrStale: the manifest was judged again, m.RunID is not its
// latest run.
func (d *DB) AddMissed(ctx context.Context, m core.Missed) (kept core.Missed, added bool, err error) {
	if len(m.ItemHash) == 0 {
		return kept, false, fmt.Errorf("db.AddMissed: %w: the item's hash is missing", core.ErrInvalid)
	}
	err = d.transact(ctx, func(tx *sqlx.Tx) error {
		judged, err := lockManifest(ctx, tx, m.ManifestID)
		if err != nil {
			return err
		}
		if judged != m.RunID {
			return ErrStale
		}
		var last missedRow
		err = tx.GetContext(ctx, &last, `
			SELECT * FROM missed WHERE unit_hash = $1 AND item_hash = $2 AND cosigner = $3 ORDER BY id DESC LIMIT 1`, m.Unit, m.ItemHash, m.By)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		kept = last.missed()
		if last.Label == string(m.Label) && (m.Label == "" || last.Note == text(m.Note)) {
			return nil
		}
		added = true
		var row missedRow
		err = tx.GetContext(ctx, &row, `
			INSERT INTO missed (manifest_id, run_id, cosigner, unit, unit_hash, item, item_hash, label, rank, said, note, demo)
			SELECT m.id, r.id, $3, $4, $5, $6, $7, $8, $9, $10, $11, r.demo OR m.source = 'sample'
			FROM manifests m JOIN runs r ON r.manifest_id = m.id WHERE m.id = $1 AND r.id = $2 RETURNING *`,
			m.ManifestID, m.RunID, m.By, text(m.UnitID), m.Unit, text(m.Item), m.ItemHash, m.Label, m.Rank, m.Said, text(m.Note))
		kept = row.missed()
		return err
	})
	return kept, added, wrap(err, "AddMissed")
}

// MissedOf lists the clashes that cosigners name of units with these contents, oldest first, without those that were taken back.
func (d *DB) MissedOf(ctx context.Context, unitHashes []string) ([]core.Missed, error) {
	if len(unitHashes) == 0 {
		return nil, nil
	}
	var rows []missedRow
	err := d.x.SelectContext(ctx, &rows, `
		SELECT * FROM (
			SELECT DISTINCT ON (unit_hash, item_hash, cosigner) * FROM missed WHERE unit_hash = ANY($1)
			ORDER BY unit_hash, item_hash, cosigner, id DESC) m
		WHERE label <> '' ORDER BY id`, list(unitHashes))
	if err != nil {
		return nil, wrap(err, "MissedOf")
	}
	var out []core.Missed
	for _, r := range rows {
		out = append(out, r.missed())
	}
	return out, nil
}

// InUse counts the clashes that reviewers know of. One that was named as missed stays so when a later run flags it: it was missed when it
// came in.
func (d *DB) InUse(ctx context.Context) (core.InUse, error) {
	var row struct {
		Found      int `db:"found"`
		NotBrought int `db:"not_brought"`
		OtherLabel int `db:"other_label"`
	}
	err := d.x.GetContext(ctx, &row, `
		WITH holding AS (
			SELECT DISTINCT ON (d.manifest_id, d.unit, d.label, d.unit_hash, d.covers, d.cosigner)
				d.manifest_id, d.unit, d.label, d.unit_hash, d.covers, d.decision
			FROM decisions d JOIN runs r ON r.id = d.run_id JOIN manifests m ON m.id = d.manifest_id
			WHERE d.kind = 'semantic' AND NOT r.demo AND m.source <> 'sample'
			ORDER BY d.manifest_id, d.unit, d.label, d.unit_hash, d.covers, d.cosigner, d.id DESC),
		confirmed AS (
			SELECT unit_hash, covers FROM holding GROUP BY manifest_id, unit, label, unit_hash, covers
			HAVING count(*) = 2 AND bool_or(decision IN ('fix', 'drop-as-dup'))),
		named AS (
			SELECT unit_hash, encode(item_hash, 'hex') AS item_hash, min(rank) AS rank FROM (
				SELECT DISTINCT ON (unit_hash, item_hash, cosigner) * FROM missed WHERE NOT demo
				ORDER BY unit_hash, item_hash, cosigner, id DESC) m
			WHERE label <> '' GROUP BY 1, 2)
		SELECT (SELECT count(*) FROM (
				SELECT unit_hash, split_part(cover, ':', 1) FROM confirmed, unnest(covers) cover
				EXCEPT SELECT unit_hash, item_hash FROM named) f) AS found,
			count(*) FILTER (WHERE rank = 0) AS not_brought, count(*) FILTER (WHERE rank > 0) AS other_label
		FROM named`)
	return core.InUse{Found: row.Found, NotBrought: row.NotBrought, OtherLabel: row.OtherLabel}, wrap(err, "InUse")
}
