package db

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"storozh/core"
)

// shownFlag is a flag of a run with the decisions that hold.
type shownFlag struct {
	Unit     string         `db:"unit"`
	Kind     string         `db:"kind"`
	Label    string         `db:"label"`
	Repo     string         `db:"repo"`
	Owner    sql.NullString `db:"owner"`
	Claude   sql.NullString `db:"claude"`
	OwnerAt  sql.NullTime   `db:"owner_at"`
	ClaudeAt sql.NullTime   `db:"claude_at"`
}

func (f shownFlag) both() bool { return f.Owner.Valid && f.Claude.Valid }

// gone tells whether both said that the unit changes.
func (f shownFlag) gone() bool { return f.both() && goes(f.Owner.String) && goes(f.Claude.String) }

func goes(choice string) bool {
	return choice == string(core.Fix) || choice == string(core.DropAsDup)
}

func (f shownFlag) decidedAt() time.Time {
	if f.OwnerAt.Time.After(f.ClaudeAt.Time) {
		return f.OwnerAt.Time
	}
	return f.ClaudeAt.Time
}

func shownFlags(ctx context.Context, tx *sqlx.Tx, run countedRun) ([]shownFlag, error) {
	const holding = `LEFT JOIN LATERAL (
			SELECT d.decision, d.decided_at FROM decisions d
			WHERE d.manifest_id = $2 AND d.unit = f.unit AND d.kind = f.kind AND d.label = f.label AND d.unit_hash = f.unit_hash
				AND d.covers = f.covers AND d.cosigner = '%s'
			ORDER BY d.id DESC LIMIT 1) %s ON true `
	var flags []shownFlag
	err := tx.SelectContext(ctx, &flags, `
		SELECT f.unit, f.kind, f.label, u.repo, o.decision AS owner, c.decision AS claude, o.decided_at AS owner_at, c.decided_at AS claude_at
		FROM flags f JOIN units u ON u.run_id = $1 AND u.unit = f.unit `+fmt.Sprintf(holding, core.Owner, "o")+fmt.Sprintf(holding, core.Claude, "c")+`
		WHERE f.run_id = $1 ORDER BY f.ord`, run.ID, run.ManifestID)
	return flags, err
}

// markFound tells the search where the review of a run's flags stands.
func markFound(ctx context.Context, tx *sqlx.Tx, runID int64, flags []shownFlag) error {
	type mark struct {
		open    [2]int64
		choices [2][]string
		differ  bool
	}
	marks := map[string]*mark{}
	for _, f := range flags {
		m := marks[f.Unit]
		if m == nil {
			m = &mark{}
			marks[f.Unit] = m
		}
		for i, choice := range []sql.NullString{f.Owner, f.Claude} {
			if choice.Valid {
				m.choices[i] = append(m.choices[i], choice.String)
			} else {
				m.open[i]++
			}
		}
		m.differ = m.differ || f.both() && f.Owner != f.Claude
	}
	var units, owner, claude pq.StringArray
	var openOwner, openClaude pq.Int64Array
	var differ pq.BoolArray
	for _, u := range slices.Sorted(maps.Keys(marks)) {
		m := marks[u]
		units, openOwner, openClaude, differ = append(units, u), append(openOwner, m.open[0]), append(openClaude, m.open[1]), append(differ, m.differ)
		owner, claude = append(owner, strings.Join(m.choices[0], " ")), append(claude, strings.Join(m.choices[1], " "))
	}
	_, err := tx.ExecContext(ctx, `
		UPDATE counted_units c SET open_owner = s.oo, open_claude = s.oc, differ = s.differ,
			owner_choices = string_to_array(s.owner, ' '), claude_choices = string_to_array(s.claude, ' ')
		FROM unnest($2::text[], $3::smallint[], $4::smallint[], $5::boolean[], $6::text[], $7::text[]) AS s (unit, oo, oc, differ, owner, claude)
		WHERE c.run_id = $1 AND c.unit = s.unit`, runID, units, openOwner, openClaude, differ, owner, claude)
	return err
}
