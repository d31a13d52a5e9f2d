package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"storozh/core"
)

type flagRow struct {
	RunID    int64          `db:"run_id"`
	Ord      int            `db:"ord"`
	Unit     string         `db:"unit"`
	Kind     string         `db:"kind"`
	Label    string         `db:"label"`
	UnitHash string         `db:"unit_hash"`
	Covers   pq.StringArray `db:"covers"`
}

type decisionRow struct {
	ID         int64          `db:"id"`
	ManifestID int64          `db:"manifest_id"`
	RunID      int64          `db:"run_id"`
	Cosigner   string         `db:"cosigner"`
	Unit       string         `db:"unit"`
	Kind       string         `db:"kind"`
	Label      string         `db:"label"`
	UnitHash   string         `db:"unit_hash"`
	Covers     pq.StringArray `db:"covers"`
	Decision   string         `db:"decision"`
	Rationale  string         `db:"rationale"`
	CarriedID  sql.NullInt64  `db:"carried_id"`
	DecidedAt  time.Time      `db:"decided_at"`
}

func (r decisionRow) decision() core.Decision {
	return core.Decision{
		ID: r.ID, ManifestID: r.ManifestID, RunID: r.RunID, By: core.Cosigner(r.Cosigner), UnitID: r.Unit,
		Basis:  core.Basis{Flag: core.FlagKind(r.Kind), Label: r.Label, Unit: r.UnitHash, Covers: r.Covers},
		Choice: core.Choice(r.Decision), Rationale: r.Rationale, At: r.DecidedAt.UTC(), CarriedID: r.CarriedID.Int64,
	}
}

func insertFlags(ctx context.Context, tx *sqlx.Tx, runID int64, flags []core.FlagBasis) error {
	rows := make([]flagRow, len(flags))
	for i, f := range flags {
		rows[i] = flagRow{runID, i, text(f.UnitID), string(f.Basis.Flag), f.Basis.Label, f.Basis.Unit, list(f.Basis.Covers)}
	}
	return insertAll(ctx, tx, `
		INSERT INTO flags (run_id, ord, unit, kind, label, unit_hash, covers)
		VALUES (:run_id, :ord, :unit, :kind, :label, :unit_hash, :covers)`, rows)
}

// Flags lists what a run left to decide, in the page's order.
func (d *DB) Flags(ctx context.Context, runID int64) ([]core.FlagBasis, error) {
	var rows []flagRow
	if err := d.x.SelectContext(ctx, &rows, "SELECT * FROM flags WHERE run_id = $1 ORDER BY ord", runID); err != nil {
		return nil, wrap(err, "Flags")
	}
	out := make([]core.FlagBasis, len(rows))
	for i, r := range rows {
		out[i] = core.FlagBasis{UnitID: r.Unit, Basis: core.Basis{Flag: core.FlagKind(r.Kind), Label: r.Label, Unit: r.UnitHash, Covers: r.Covers}}
	}
	return out, nil
}

// Decisions lists every decision on a manifest, oldest first.
func (d *DB) Decisions(ctx context.Context, manifestID int64) ([]core.Decision, error) {
	out, err := d.decisions(ctx, "WHERE manifest_id = $1 ORDER BY id", manifestID)
	return out, wrap(err, "Decisions")
}

// maxEarlier bounds what is looked through for one page; the latest come first.
const maxEarlier = 2000

// EarlierDecisions lists decisions on other manifests about units with these content hashes, latest first.
func (d *DB) EarlierDecisions(ctx context.Context, manifestID int64, unitHashes []string) ([]core.Decision, error) {
	if len(unitHashes) == 0 {
		return nil, nil
	}
	out, err := d.decisions(ctx, "WHERE unit_hash = ANY($1) AND manifest_id <> $2 ORDER BY id DESC LIMIT $3", list(unitHashes), manifestID, maxEarlier)
	return out, wrap(err, "EarlierDecisions")
}

func (d *DB) decisions(ctx context.Context, where string, args ...any) ([]core.Decision, error) {
	var rows []decisionRow
	if err := d.x.SelectContext(ctx, &rows, "SELECT * FROM decisions "+where, args...); err != nil {
		return nil, err
	}
	out := make([]core.Decision, len(rows))
	for i, r := range rows {
		out[i] = r.decision()
	}
	return out, nil
}

// ErrStale means that a decision was made on a page that is out of date: the cosigner's last decision on that flag is another one, or the
// manifest was judged again. Nothing was stored.
var ErrStale = fmt.Errorf("%w: the page this was decided on is out of date", core.ErrConflict)

// Decide adds decisions of one cosigner on one manifest, all or none. seen gives, per flag, the id of the cosigner's decision that the page
// showed (0: none); d.RunID is the run that it showed.
func (d *DB) Decide(ctx context.Context, decisions []core.Decision, seen map[core.FlagKey]int64) error {
	if len(decisions) == 0 {
		return nil
	}
	manifest := decisions[0].ManifestID
	err := d.transact(ctx, func(tx *sqlx.Tx) error {
		judged, err := lockManifest(ctx, tx, manifest)
		if err != nil {
			return err
		}
		for _, dec := range decisions {
			if dec.RunID != judged {
				return ErrStale
			}
			if err := insertDecision(ctx, tx, dec, seen); err != nil {
				return err
			}
		}
		if err := recount(ctx, tx, manifest); err != nil {
			return err
		}
		sums := changes{}
		if err := d.syncFlags(ctx, tx, manifest, sums); err != nil {
			return err
		}
		if err := sums.apply(ctx, tx); err != nil {
			return err
		}
		// Both done, or no longer agreed: the block in the file is to be brought up to date.
		_, err = tx.ExecContext(ctx, `
			UPDATE runs SET write_state = 'pending' WHERE id = $1
				AND EXISTS (SELECT 1 FROM manifests WHERE id = $2 AND open_owner = 0 AND open_claude = 0)`, judged, manifest)
		return err
	})
	return wrap(err, "Decide")
}

// lockManifest orders decisions and new results of one manifest, and gives its latest judged run.
func lockManifest(ctx context.Context, tx *sqlx.Tx, id int64) (judged int64, err error) {
	if err := tx.GetContext(ctx, &id, "SELECT id FROM manifests WHERE id = $1 FOR UPDATE", id); err != nil {
		return 0, err
	}
	err = tx.GetContext(ctx, &judged, "SELECT id FROM runs WHERE manifest_id = $1 AND status = 'done' ORDER BY id DESC LIMIT 1", id)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, ErrStale
	}
	return judged, err
}

func insertDecision(ctx context.Context, tx *sqlx.Tx, dec core.Decision, seen map[core.FlagKey]int64) error {
	b := dec.Basis
	var last int64
	err := tx.GetContext(ctx, &last, `
		SELECT coalesce(max(id), 0) FROM decisions WHERE manifest_id = $1 AND cosigner = $2 AND unit = $3 AND kind = $4`,
		dec.ManifestID, dec.By, text(dec.UnitID), b.Flag)
	if err != nil {
		return err
	}
	if last != seen[core.FlagKey{UnitID: dec.UnitID, Kind: b.Flag}] {
		return ErrStale
	}
	_, err = tx.ExecContext(ctx, `
		INSERT INTO decisions (manifest_id, run_id, cosigner, unit, kind, label, unit_hash, covers, decision, rationale, carried_id)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, nullif($11, 0))`,
		dec.ManifestID, dec.RunID, dec.By, text(dec.UnitID), b.Flag, b.Label, b.Unit, list(b.Covers), dec.Choice, text(dec.Rationale), dec.CarriedID)
	return err
}

// recount brings the manifest's open counts up to date with flags and decisions. A decision holds while the flag has its basis.
func recount(ctx context.Context, tx *sqlx.Tx, manifest int64) error {
	const holding = `LEFT JOIN LATERAL (
			SELECT d.id, d.decision FROM decisions d
			WHERE d.manifest_id = $1 AND d.unit = f.unit AND d.kind = f.kind AND d.label = f.label AND d.unit_hash = f.unit_hash
				AND d.covers = f.covers AND d.cosigner = '%s'
			ORDER BY d.id DESC LIMIT 1) %s ON true `
	_, err := tx.ExecContext(ctx, `
		UPDATE manifests SET open_owner = s.owner, open_claude = s.claude, differ = s.differ FROM (
			SELECT count(*) FILTER (WHERE o.id IS NULL) AS owner, count(*) FILTER (WHERE c.id IS NULL) AS claude,
				count(*) FILTER (WHERE o.decision <> c.decision) AS differ
			FROM (SELECT id FROM runs WHERE manifest_id = $1 AND status = 'done' ORDER BY id DESC LIMIT 1) r
			JOIN flags f ON f.run_id = r.id `+fmt.Sprintf(holding, core.Owner, "o")+fmt.Sprintf(holding, core.Claude, "c")+`) s
		WHERE manifests.id = $1`, manifest)
	return err
}

// Reveal records that a cosigner asked to see the other's decision on a flag.
func (d *DB) Reveal(ctx context.Context, manifestID int64, c core.Cosigner, k core.FlagKey) error {
	_, err := d.x.ExecContext(ctx, `
		INSERT INTO reveals (manifest_id, cosigner, unit, kind) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`, manifestID, c, text(k.UnitID), k.Kind)
	var pe *pq.Error
	if errors.As(err, &pe) && pe.Code == "23503" {
		err = core.ErrNotFound
	}
	return wrap(err, "Reveal")
}

// closeReveals forgets what was asked to be seen of flags that the new run of a manifest does not show as the run before did: the other
// cosigner decides such a flag anew, and alone. The audit keeps that it was asked for.
func closeReveals(ctx context.Context, tx *sqlx.Tx, manifestID, runID int64) error {
	_, err := tx.ExecContext(ctx, `
		DELETE FROM reveals r WHERE r.manifest_id = $1 AND NOT EXISTS (
			SELECT FROM flags n JOIN flags o
				ON o.unit = n.unit AND o.kind = n.kind AND o.label = n.label AND o.unit_hash = n.unit_hash AND o.covers = n.covers
			WHERE n.run_id = $2 AND n.unit = r.unit AND n.kind = r.kind
				AND o.run_id = (SELECT max(id) FROM runs WHERE manifest_id = $1 AND status = 'done' AND id < $2))`, manifestID, runID)
	return err
}

// Reveals lists the flags of a manifest on which a cosigner asked to see the other's decision.
func (d *DB) Reveals(ctx context.Context, manifestID int64, c core.Cosigner) (map[core.FlagKey]bool, error) {
	var rows []struct {
		Unit string `db:"unit"`
		Kind string `db:"kind"`
	}
	err := d.x.SelectContext(ctx, &rows, "SELECT unit, kind FROM reveals WHERE manifest_id = $1 AND cosigner = $2", manifestID, c)
	out := map[core.FlagKey]bool{}
	for _, r := range rows {
		out[core.FlagKey{UnitID: r.Unit, Kind: core.FlagKind(r.Kind)}] = true
	}
	return out, wrap(err, "Reveals")
}

// QueueCounts counts the open manifests per queue of a cosigner.
func (d *DB) QueueCounts(ctx context.Context, c core.Cosigner) (map[core.Queue]int, error) {
	var rows []struct {
		Queue string `db:"queue"`
		N     int    `db:"n"`
	}
	err := d.x.SelectContext(ctx, &rows, `
		SELECT `+queueOf(c)+` AS queue, count(*) AS n FROM manifests m WHERE superseded_by IS NULL AND open_owner IS NOT NULL GROUP BY 1`)
	out := map[core.Queue]int{}
	for _, r := range rows {
		out[core.Queue(r.Queue)] = r.N
	}
	return out, wrap(err, "QueueCounts")
}

// queueOf is core.Record.Queue in SQL.
func queueOf(c core.Cosigner) string {
	mine, theirs := "m.open_owner", "m.open_claude"
	if c == core.Claude {
		mine, theirs = theirs, mine
	}
	return fmt.Sprintf("CASE WHEN %s > 0 THEN '%s' WHEN %s > 0 THEN '%s' WHEN m.differ > 0 THEN '%s' ELSE '%s' END",
		mine, core.QueueYours, theirs, core.QueueOther, core.QueueDisagree, core.QueueDone)
}
