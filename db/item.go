package db

import (
	"context"
	"encoding/hex"
	"slices"
	"time"

	"github.com/lib/pq"

	"storozh/core"
)

// Item gives an item of the corpus that was read from dir, with the commit it was read at; core.ErrNotFound if it is not there now.
func (d *DB) Item(ctx context.Context, dir, id string) (core.Item, string, error) {
	var row struct {
		itemRow
		Commit string `db:"commit"`
	}
	err := d.x.GetContext(ctx, &row, `
		SELECT i.*, c.commit FROM items i JOIN corpora c ON c.id = i.corpus_id WHERE c.dir = $1 AND i.item = $2`, text(dir), text(id))
	return row.item(), row.Commit, wrap(err, "Item")
}

// maxMeetings bounds an item's history on one page.
const maxMeetings = 200

// Meetings lists the units that were compared with an item, latest run first, each run's finding once. It also serves items that are gone
// from the corpus: what was judged stays.
func (d *DB) Meetings(ctx context.Context, item string) ([]core.ItemMeeting, error) {
	var rows []struct {
		ManifestID int64     `db:"manifest_id"`
		RunID      int64     `db:"run_id"`
		At         time.Time `db:"finished_at"`
		Unit       string    `db:"unit"`
		Title      string    `db:"title"`
		Similarity float64   `db:"similarity"`
		Label      string    `db:"label"`
		Note       string    `db:"note"`
		ItemHash   []byte    `db:"item_hash"`
	}
	err := d.x.SelectContext(ctx, &rows, `
		SELECT r.manifest_id, p.run_id, r.finished_at, u.unit, u.title, p.similarity, p.label, p.note, p.item_hash
		FROM pairs p JOIN units u USING (run_id, ord) JOIN runs r ON r.id = p.run_id
		WHERE p.item = $1 AND r.status = 'done' ORDER BY p.run_id DESC, p.ord LIMIT $2`, text(item), maxMeetings)
	if err != nil {
		return nil, wrap(err, "Meetings")
	}
	out := make([]core.ItemMeeting, len(rows))
	runs := make(pq.Int64Array, len(rows))
	covers := make([]string, len(rows)) // the pair as the basis of a flag holds it (core.Basis)
	for i, r := range rows {
		runs[i], covers[i] = r.RunID, hex.EncodeToString(r.ItemHash)+":"+r.Label
		out[i] = core.ItemMeeting{
			ManifestID: r.ManifestID, RunID: r.RunID, At: r.At.UTC(), UnitID: r.Unit, UnitTitle: r.Title, Similarity: r.Similarity,
			Label: core.Label(r.Label), Note: r.Note,
		}
	}
	return out, wrap(d.addDecisions(ctx, out, runs, covers), "Meetings")
}

// addDecisions adds what both cosigners decided about a clash with the item: not what they decided about the unit's clash with another one.
// A decision that the other has not matched stays closed.
func (d *DB) addDecisions(ctx context.Context, out []core.ItemMeeting, runs pq.Int64Array, covers []string) error {
	type key struct {
		run  int64
		unit string
	}
	var rows []struct {
		decisionRow
		FlagRun int64 `db:"flag_run"`
	}
	err := d.x.SelectContext(ctx, &rows, `
		SELECT DISTINCT ON (f.run_id, d.unit, d.cosigner) d.*, f.run_id AS flag_run FROM decisions d
		JOIN runs r ON r.manifest_id = d.manifest_id
		JOIN flags f ON f.run_id = r.id AND f.unit = d.unit AND f.kind = d.kind AND f.label = d.label AND f.unit_hash = d.unit_hash AND f.covers = d.covers
		WHERE f.run_id = ANY($1) AND d.kind = 'semantic' ORDER BY f.run_id, d.unit, d.cosigner, d.id DESC`, runs)
	if err != nil {
		return err
	}
	byUnit := map[key][]core.Decision{}
	for _, r := range rows {
		k := key{r.FlagRun, r.Unit}
		byUnit[k] = append(byUnit[k], r.decision())
	}
	for i, m := range out {
		if ds := byUnit[key{m.RunID, m.UnitID}]; len(ds) == 2 && slices.Contains(ds[0].Basis.Covers, covers[i]) {
			out[i].Decisions = ds
		}
	}
	return nil
}
