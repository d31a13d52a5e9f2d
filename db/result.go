package db

import (
	"context"
	"encoding/json"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"storozh/core"
)

// insertBatch keeps a multi-row INSERT below the 65,535 parameters that the protocol allows.
const insertBatch = 1000

type unitRow struct {
	RunID     int64          `db:"run_id"`
	Ord       int            `db:"ord"`
	Unit      string         `db:"unit"`
	Observed  string         `db:"observed"`
	Repo      string         `db:"repo"`
	Path      string         `db:"path"`
	OldPath   string         `db:"old_path"`
	Anchor    string         `db:"anchor"`
	Type      string         `db:"type"`
	Home      string         `db:"home"`
	Action    string         `db:"action"`
	Title     string         `db:"title"`
	Text      string         `db:"text"`
	Normative string         `db:"normative"`
	Replaces  pq.StringArray `db:"replaces"`
	StartLine int            `db:"start_line"`
	EndLine   int            `db:"end_line"`
	Diff      string         `db:"diff"`
	Routing   string         `db:"routing"`
	Expected  string         `db:"expected"`
	Severity  string         `db:"severity"`
	Semantic  string         `db:"semantic"`
	Against   pq.StringArray `db:"against"`
	JudgeNote string         `db:"judge_note"`
	Unjudged  bool           `db:"unjudged"`
}

type pairRow struct {
	RunID      int64   `db:"run_id"`
	Ord        int     `db:"ord"`
	Rank       int     `db:"rank"`
	Item       string  `db:"item"`
	ItemTitle  string  `db:"item_title"`
	ItemText   string  `db:"item_text"`
	Similarity float64 `db:"similarity"`
	Words      bool    `db:"words"`
	Label      string  `db:"label"`
	Note       string  `db:"note"`
	Cached     bool    `db:"cached"`
	Unjudged   string  `db:"unjudged"`
	UnitHash   []byte  `db:"unit_hash"`
	ItemHash   []byte  `db:"item_hash"`
	Judge      string  `db:"judge"`
	Prompt     string  `db:"prompt"`
	Resolved   bool    `db:"resolved"`
	Unstable   bool    `db:"unstable"`
	Hint       string  `db:"hint"`
}

const insertUnit = `INSERT INTO units (run_id, ord, unit, observed, repo, path, old_path, anchor, type, home, action, title, text, normative,
	replaces, start_line, end_line, diff, routing, expected, severity, semantic, against, judge_note, unjudged)
	VALUES (:run_id, :ord, :unit, :observed, :repo, :path, :old_path, :anchor, :type, :home, :action, :title, :text, :normative,
	:replaces, :start_line, :end_line, :diff, :routing, :expected, :severity, :semantic, :against, :judge_note, :unjudged)`

const insertPair = `INSERT INTO pairs (run_id, ord, rank, item, item_title, item_text, similarity, label, note, cached, unjudged,
	unit_hash, item_hash, judge, prompt, resolved, unstable, hint, words)
	VALUES (:run_id, :ord, :rank, :item, :item_title, :item_text, :similarity, :label, :note, :cached, :unjudged,
	:unit_hash, :item_hash, :judge, :prompt, :resolved, :unstable, :hint, :words)`

// insertResults keeps what a run found, and its head: all that a list of manifests or a page of units needs to know of the whole.
func insertResults(ctx context.Context, tx *sqlx.Tx, runID int64, res core.Result) error {
	units := make([]unitRow, 0, len(res.Units))
	var pairs []pairRow
	for i, r := range res.Units {
		units = append(units, toUnitRow(runID, i, r))
		for _, p := range r.Pairs {
			pairs = append(pairs, toPairRow(runID, i, p))
		}
	}
	if err := insertAll(ctx, tx, insertUnit, units); err != nil {
		return err
	}
	if err := insertAll(ctx, tx, insertPair, pairs); err != nil {
		return err
	}
	head, err := json.Marshal(headOf(res.Block))
	if err != nil {
		return err
	}
	judged, cached := 0, 0
	for _, p := range pairs {
		if p.Label != "" {
			judged++
			if p.Cached {
				cached++
			}
		}
	}
	_, err = tx.ExecContext(ctx, "UPDATE runs SET head = $2, pairs_judged = $3, pairs_cached = $4 WHERE id = $1", runID, noNUL(head), judged, cached)
	return err
}

// headRepos is how many repos a list names per manifest, and some to spare.
const headRepos = 8

// headOf is a block with one flag per repo: what a list shows of it, however many units there are.
func headOf(b core.Block) core.Block {
	seen := map[string]bool{}
	flags := []core.Flag{}
	for _, f := range b.Flags {
		if !seen[f.ObservedRepo] && len(flags) < headRepos {
			seen[f.ObservedRepo] = true
			flags = append(flags, core.Flag{ObservedRepo: f.ObservedRepo, Against: []string{}})
		}
	}
	b.Flags, b.Resolved, b.Reviews = flags, nil, nil
	return b
}

func insertAll[T any](ctx context.Context, tx *sqlx.Tx, query string, rows []T) error {
	for len(rows) > 0 {
		n := min(len(rows), insertBatch)
		if _, err := tx.NamedExecContext(ctx, query, rows[:n]); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

func toUnitRow(runID int64, ord int, r core.UnitResult) unitRow {
	u, f := r.Unit, r.Flag
	return unitRow{
		RunID: runID, Ord: ord, Unit: text(u.ID), Observed: text(u.Observed), Repo: text(u.Repo), Path: text(u.Path),
		OldPath: text(u.OldPath), Anchor: text(u.Anchor), Type: string(u.Type), Home: u.Home, Action: string(u.Action),
		Title: text(u.Title), Text: text(u.Text), Normative: text(u.Normative), Replaces: list(u.Replaces), StartLine: u.StartLine,
		EndLine: u.EndLine, Diff: text(u.Diff), Routing: string(f.Routing), Expected: f.ExpectedRepo, Severity: f.Severity,
		Semantic: string(f.Semantic), Against: list(f.Against), JudgeNote: text(f.JudgeNote), Unjudged: r.Unjudged,
	}
}

func (r unitRow) result() core.UnitResult {
	return core.UnitResult{
		Unit: core.Unit{
			ID: r.Unit, Observed: r.Observed, Repo: r.Repo, Path: r.Path, OldPath: r.OldPath, Anchor: r.Anchor,
			Type: core.UnitType(r.Type), Home: r.Home, Action: core.Action(r.Action), Title: r.Title, Text: r.Text,
			Normative: r.Normative, Replaces: r.Replaces, StartLine: r.StartLine, EndLine: r.EndLine, Diff: r.Diff,
		},
		Flag: core.Flag{
			Unit: r.Unit, Routing: core.Routing(r.Routing), ObservedRepo: r.Observed, ExpectedRepo: r.Expected, Severity: r.Severity,
			Semantic: core.Label(r.Semantic), Against: r.Against, JudgeNote: r.JudgeNote,
		},
		Unjudged: r.Unjudged,
	}
}

func toPairRow(runID int64, ord int, p core.Pair) pairRow {
	return pairRow{
		RunID: runID, Ord: ord, Rank: p.Rank, Item: text(p.Item), ItemTitle: text(p.ItemTitle), ItemText: text(p.ItemText),
		Similarity: p.Similarity, Label: string(p.Label), Note: text(p.Note), Cached: p.Cached, Unjudged: text(p.Unjudged),
		UnitHash: p.UnitHash, ItemHash: p.ItemHash, Judge: text(p.Judge), Prompt: p.Prompt,
		Resolved: p.Resolved, Unstable: p.Unstable, Hint: text(p.Hint), Words: p.Words,
	}
}

func (r pairRow) pair(unit string) core.Pair {
	return core.Pair{
		Unit: unit, Item: r.Item, ItemTitle: r.ItemTitle, ItemText: r.ItemText, Rank: r.Rank, Similarity: r.Similarity,
		Label: core.Label(r.Label), Note: r.Note, Cached: r.Cached, Unjudged: r.Unjudged, UnitHash: r.UnitHash, ItemHash: r.ItemHash,
		Judge: r.Judge, Prompt: r.Prompt, Resolved: r.Resolved, Unstable: r.Unstable, Hint: r.Hint, Words: r.Words,
	}
}

// Units gives what a run found, in the block's order, each unit with its pairs, nearest first. Two queries however many units.
func (d *DB) Units(ctx context.Context, runID int64) ([]core.UnitResult, error) {
	var units []unitRow
	if err := d.x.SelectContext(ctx, &units, "SELECT * FROM units WHERE run_id = $1 ORDER BY ord", runID); err != nil {
		return nil, wrap(err, "Units")
	}
	var pairs []pairRow
	if err := d.x.SelectContext(ctx, &pairs, "SELECT * FROM pairs WHERE run_id = $1 ORDER BY ord, rank", runID); err != nil {
		return nil, wrap(err, "Units")
	}
	out := make([]core.UnitResult, len(units))
	for i, u := range units {
		out[i] = u.result()
	}
	for _, p := range pairs {
		if p.Ord < len(out) {
			out[p.Ord].Pairs = append(out[p.Ord].Pairs, p.pair(out[p.Ord].Unit.ID))
		}
	}
	return out, nil
}

// Unit gives one of the units a run found, with its pairs; core.ErrNotFound if the run has no such unit.
func (d *DB) Unit(ctx context.Context, runID int64, unit string) (core.UnitResult, error) {
	var u unitRow
	if err := d.x.GetContext(ctx, &u, "SELECT * FROM units WHERE run_id = $1 AND unit = $2", runID, text(unit)); err != nil {
		return core.UnitResult{}, wrap(err, "Unit")
	}
	var pairs []pairRow
	if err := d.x.SelectContext(ctx, &pairs, "SELECT * FROM pairs WHERE run_id = $1 AND ord = $2 ORDER BY rank", runID, u.Ord); err != nil {
		return core.UnitResult{}, wrap(err, "Unit")
	}
	out := u.result()
	for _, p := range pairs {
		out.Pairs = append(out.Pairs, p.pair(u.Unit))
	}
	return out, nil
}
