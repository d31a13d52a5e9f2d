package db

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"storozh/core"
)

// Reviewing reads all that a page needs of a manifest's review in one query, however many flags there are: runID is the judged run, c the
// reader (empty: nobody who could have asked for anything).
func (d *DB) Reviewing(ctx context.Context, manifestID, runID int64, c core.Cosigner) (core.Reviewing, error) {
	var row struct {
		Flags     []byte `db:"flags"`
		Decisions []byte `db:"decisions"`
		Earlier   []byte `db:"earlier"`
		Asked     []byte `db:"asked"`
	}
	err := d.x.GetContext(ctx, &row, `
		SELECT
			(SELECT json_agg(f ORDER BY f.ord) FROM flags f WHERE f.run_id = $2) AS flags,
			(SELECT json_agg(d ORDER BY d.id) FROM decisions d WHERE d.manifest_id = $1) AS decisions,
			(SELECT json_agg(e) FROM (
				SELECT * FROM decisions e WHERE e.manifest_id <> $1 AND e.unit_hash IN (SELECT f.unit_hash FROM flags f WHERE f.run_id = $2)
				ORDER BY e.id DESC LIMIT $4) e) AS earlier,
			(SELECT json_agg(r) FROM reveals r WHERE r.manifest_id = $1 AND r.cosigner = $3) AS asked`,
		manifestID, runID, string(c), maxEarlier)
	if err != nil {
		return core.Reviewing{}, wrap(err, "Reviewing")
	}
	var flags []flagJSON
	var decisions, earlier []decisionJSON
	var asked []flagJSON
	for _, part := range []struct {
		raw  []byte
		into any
	}{{row.Flags, &flags}, {row.Decisions, &decisions}, {row.Earlier, &earlier}, {row.Asked, &asked}} {
		if len(part.raw) == 0 {
			continue // no row of this kind
		}
		if err := json.Unmarshal(part.raw, part.into); err != nil {
			return core.Reviewing{}, fmt.Errorf("db.Reviewing: %w", err)
		}
	}
	out := core.Reviewing{Decisions: fromJSON(decisions), Earlier: fromJSON(earlier), Asked: map[core.FlagKey]bool{}}
	for _, f := range flags {
		out.Flags = append(out.Flags, core.FlagBasis{UnitID: f.Unit, Basis: core.Basis{Flag: f.Kind, Label: f.Label, Unit: f.UnitHash, Covers: f.Covers}})
	}
	for _, f := range asked {
		out.Asked[core.FlagKey{UnitID: f.Unit, Kind: f.Kind}] = true
	}
	return out, nil
}

// flagJSON and decisionJSON are rows as json_agg prints them.
type flagJSON struct {
	Unit     string        `json:"unit"`
	Kind     core.FlagKind `json:"kind"`
	Label    string        `json:"label"`
	UnitHash string        `json:"unit_hash"`
	Covers   []string      `json:"covers"`
}

type decisionJSON struct {
	flagJSON
	ID         int64         `json:"id"`
	ManifestID int64         `json:"manifest_id"`
	RunID      int64         `json:"run_id"`
	Cosigner   core.Cosigner `json:"cosigner"`
	Decision   core.Choice   `json:"decision"`
	Rationale  string        `json:"rationale"`
	CarriedID  int64         `json:"carried_id"`
	DecidedAt  time.Time     `json:"decided_at"`
}

func fromJSON(rows []decisionJSON) []core.Decision {
	out := make([]core.Decision, 0, len(rows))
	for _, r := range rows {
		out = append(out, core.Decision{
			ID: r.ID, ManifestID: r.ManifestID, RunID: r.RunID, By: r.Cosigner, UnitID: r.Unit,
			Basis:  core.Basis{Flag: r.Kind, Label: r.Label, Unit: r.UnitHash, Covers: r.Covers},
			Choice: r.Decision, Rationale: r.Rationale, At: r.DecidedAt.UTC(), CarriedID: r.CarriedID,
		})
	}
	return out
}
