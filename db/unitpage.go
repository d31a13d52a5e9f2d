package db

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"github.com/lib/pq"

	"storozh/core"
)

// unitFilters are core.UnitFilters in SQL, over the columns of the unit's face below.
var unitFilters = map[string]string{
	core.ShowAll: "true", core.ShowOpen: "open", core.ShowFlagged: "flagged", core.ShowMisroute: "misroute", core.ShowContra: "contra",
	core.ShowDup: "dup", core.ShowUnjudged: "unjudged", core.ShowOK: "NOT flagged AND NOT unjudged",
}

// facesQuery picks the units of a page by what can be told without their texts: of a run with 20,000 units a page reads 200. An open flag is
// one without a decision of the reader that holds (review.Of). A page behind the last unit is the last page: a filter by what is open loses its
// units while a reader decides them.
const facesQuery = `
	WITH undecided AS (
		SELECT DISTINCT f.unit FROM flags f WHERE f.run_id = $1 AND NOT EXISTS (
			SELECT FROM decisions d WHERE d.manifest_id = $2 AND d.cosigner = $3 AND d.unit = f.unit AND d.kind = f.kind AND d.label = f.label
				AND d.unit_hash = f.unit_hash AND d.covers = f.covers)),
	faces AS MATERIALIZED (
		SELECT u.ord, u.misroute, u.contra, u.dup, u.misroute OR u.contra OR u.dup AS flagged, u.unjudged, o.unit IS NOT NULL AS open,
			CASE WHEN u.contra OR u.misroute AND u.severity = 'cross-lane' THEN 0 WHEN u.misroute OR u.dup THEN 1 WHEN u.unjudged THEN 2 ELSE 3 END AS urgency,
			$4 <> '' AND encode(substr(sha256(convert_to(u.unit, 'UTF8')), 1, 6), 'hex') = $4 AS here
		FROM (SELECT ord, unit, severity, unjudged, routing = 'misroute' AS misroute, semantic = 'contra' AS contra, semantic = 'dup' AS dup
			FROM units WHERE run_id = $1%s) u LEFT JOIN undecided o ON o.unit = u.unit),
	kept AS (SELECT ord, here, row_number() OVER (ORDER BY urgency, ord) - 1 AS place FROM faces WHERE %s),
	page AS (SELECT coalesce((SELECT place / nullif($6::bigint, 0) * $6::bigint FROM kept WHERE here),
		(SELECT least($5::bigint, coalesce(max(place) / nullif($6::bigint, 0) * $6::bigint, 0)) FROM kept)) AS first)
	SELECT page.first, ARRAY(SELECT ord FROM kept WHERE place >= page.first AND place < page.first + $6::bigint ORDER BY place) AS ords,
		ARRAY[%s] AS counts, coalesce(r.pairs_judged, -1) AS judged, coalesce(r.pairs_cached, 0) AS cached
	FROM page, runs r WHERE r.id = $1`

// findCondition narrows the units to those that hold some words; the pattern reads letters in either case.
const findCondition = ` AND (unit ~ $7 OR title ~ $7 OR text ~ $7
	OR ord IN (SELECT p.ord FROM pairs p WHERE p.run_id = $1 AND p.item ~ $7))`

// UnitPage gives one page of what a run found, with the counts of all of it. Three queries, however many units; core.ErrNotFound if there is
// no such run.
func (d *DB) UnitPage(ctx context.Context, q core.UnitQuery) (core.UnitPage, error) {
	var row struct {
		From   int           `db:"first"`
		Ords   pq.Int64Array `db:"ords"`
		Counts pq.Int64Array `db:"counts"`
		Judged int           `db:"judged"`
		Cached int           `db:"cached"`
	}
	query, args := facesOf(q)
	if err := d.x.GetContext(ctx, &row, query, args...); err != nil {
		return core.UnitPage{}, wrap(err, "UnitPage")
	}
	out := core.UnitPage{From: row.From, Counts: map[string]int{}, Judged: row.Judged, Cached: row.Cached}
	for i, name := range core.UnitFilters() {
		out.Counts[name] = int(row.Counts[i])
	}
	if row.Judged < 0 { // a run from before the counts were kept
		err := d.x.QueryRowContext(ctx, "SELECT count(*), count(*) FILTER (WHERE cached) FROM pairs WHERE run_id = $1 AND label <> ''", q.RunID).
			Scan(&out.Judged, &out.Cached)
		if err != nil {
			return out, wrap(err, "UnitPage")
		}
	}
	var err error
	out.Units, err = d.unitsAt(ctx, q.RunID, row.Ords)
	return out, wrap(err, "UnitPage")
}

func facesOf(q core.UnitQuery) (string, []any) {
	counts := make([]string, 0, len(unitFilters))
	for _, name := range core.UnitFilters() {
		counts = append(counts, "(SELECT count(*) FROM faces WHERE "+unitFilters[name]+")")
	}
	show, ok := unitFilters[q.Show]
	if !ok {
		show = unitFilters[core.ShowAll]
	}
	find, args := "", []any{q.RunID, q.ManifestID, string(q.Reader), q.At, max(q.From, 0), max(q.Limit, 0)}
	if pattern := anyCase(text(strings.TrimSpace(q.Find))); pattern != "" {
		find, args = findCondition, append(args, pattern)
	}
	return fmt.Sprintf(facesQuery, find, show, strings.Join(counts, ", ")), args
}

// findLimit bounds the words to look for, in letters.
const findLimit = 200

// anyCase is a regular expression for a plain text in any letter case. Postgres' own folding of letters depends on the locale of the database.
func anyCase(s string) string {
	var b strings.Builder
	n := 0
	for _, r := range s {
		if n++; n > findLimit {
			break
		}
		switch other := unicode.SimpleFold(r); {
		case other != r:
			b.WriteByte('[')
			b.WriteRune(r)
			for ; other != r; other = unicode.SimpleFold(other) {
				b.WriteRune(other)
			}
			b.WriteByte(']')
		case r < unicode.MaxASCII && !unicode.IsLetter(r) && !unicode.IsDigit(r):
			b.WriteByte('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// unitsAt reads units by their place in the block, in the order asked for, each with its pairs.
func (d *DB) unitsAt(ctx context.Context, runID int64, ords pq.Int64Array) ([]core.UnitResult, error) {
	if len(ords) == 0 {
		return nil, nil
	}
	var units []unitRow
	err := d.x.SelectContext(ctx, &units, "SELECT u.* FROM unnest($2::int[]) WITH ORDINALITY AS a (ord, place) JOIN units u USING (ord) WHERE u.run_id = $1 ORDER BY a.place", runID, ords)
	if err != nil {
		return nil, err
	}
	var pairs []pairRow
	if err := d.x.SelectContext(ctx, &pairs, "SELECT * FROM pairs WHERE run_id = $1 AND ord = ANY($2) ORDER BY ord, rank", runID, ords); err != nil {
		return nil, err
	}
	out := make([]core.UnitResult, len(units))
	at := make(map[int]int, len(units))
	for i, u := range units {
		out[i], at[u.Ord] = u.result(), i
	}
	for _, p := range pairs {
		u := &out[at[p.Ord]]
		u.Pairs = append(u.Pairs, p.pair(u.Unit.ID))
	}
	return out, nil
}
