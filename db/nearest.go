package db

import (
	"context"
	"fmt"
	"strconv"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"storozh/core"
)

type nearRow struct {
	Ord      int     `db:"ord"`
	Item     *string `db:"item"` // nil: the text is of no item of this corpus
	Distance float64 `db:"distance"`
}

// NearestAll gives, for each text hash, the ids of the n items of dir nearest to its vector, nearest first, items of the same distance by id;
// fewer only where there are no more, none for a hash whose vector is not kept. The search is exact, or by index where there is one
// (vectorindex.go).
//
// Vectors are kept by text, those of units and other corpora among them. Where most are of this corpus, the nearest vectors are searched first and
// then looked up among its items, which is quicker by half; what that leaves in doubt is searched for again among its items alone.
func (d *DB) NearestAll(ctx context.Context, dir string, modelID int, hashes [][]byte, n int) ([][]core.Near, error) {
	out := make([][]core.Near, len(hashes))
	doubt := make([]int, len(hashes))
	for i := range doubt {
		doubt[i] = i
	}
	s, err := d.sight(ctx, dir, modelID)
	if err == nil && s.mostly && n > 0 && n <= maxIndexed {
		for _, fetch := range s.overFetch(n) {
			if doubt, err = d.nearestFirst(ctx, s, hashes, doubt, n, fetch, out); err != nil || len(doubt) == 0 {
				break
			}
		}
	}
	if err == nil && len(doubt) > 0 {
		err = d.nearestAmong(ctx, dir, modelID, hashes, doubt, n, out)
	}
	if err != nil {
		return nil, wrap(err, "NearestAll")
	}
	return out, nil
}

// nearestAmong searches the items of dir, exactly, and fills out at the places that are asked for.
func (d *DB) nearestAmong(ctx context.Context, dir string, modelID int, hashes [][]byte, places []int, n int, out [][]core.Near) error {
	var rows []nearRow
	// OFFSET 0 makes Postgres work out each distance once; `+ 0` keeps an index from answering approximately.
	err := d.x.SelectContext(ctx, &rows, `
		SELECT q.ord, near.item, near.distance
		FROM unnest($3::bytea[]) WITH ORDINALITY q (hash, ord)
		JOIN embeddings qe ON qe.model_id = $2 AND qe.text_hash = q.hash
		CROSS JOIN LATERAL (
			SELECT item, distance FROM (
				SELECT i.item, (e.embedding <=> qe.embedding) + 0 AS distance
				FROM items i JOIN embeddings e ON e.model_id = $2 AND e.text_hash = i.text_hash
				WHERE i.corpus_id = (SELECT id FROM corpora WHERE dir = $1) OFFSET 0) x
			ORDER BY distance, item LIMIT $4) near
		ORDER BY q.ord, near.distance, near.item`, text(dir), modelID, pick(hashes, places), n)
	if err != nil {
		return err
	}
	for _, r := range rows {
		at := places[r.Ord-1]
		out[at] = append(out[at], core.Near{Item: *r.Item, Similarity: 1 - r.Distance})
	}
	return nil
}

func pick(hashes [][]byte, places []int) pq.ByteaArray {
	out := make(pq.ByteaArray, len(places))
	for i, p := range places {
		out[i] = hashes[p]
	}
	return out
}

const (
	efSearch    = 100  // candidates that the index keeps in view; recall@5 is .99 and better with it (BenchmarkNearest)
	maxEfSearch = 1000 // pgvector's own limit
	maxIndexed  = 200  // neighbours of one text that are searched for by vector first
)

// overFetch is how many vectors are taken for n items, and how many at a second try: the versions that a unit went through lie close together.
// To an exact search it makes no difference.
func (s sight) overFetch(n int) []int {
	if s.indexed == "" {
		return []int{4*n + 100}
	}
	fetch := 10 // few sizes: each is a statement that stays prepared
	for fetch < n+n/4+4 {
		fetch *= 2
	}
	return []int{fetch, 4*fetch + 60}
}

// nearestFirst searches all vectors of the model, by index if there is one, and fills out at the places that are asked for. It gives those that
// this leaves in doubt.
func (d *DB) nearestFirst(ctx context.Context, s sight, hashes [][]byte, places []int, n, fetch int, out [][]core.Near) (doubt []int, err error) {
	args := []any{s.dir, pick(hashes, places)}
	if s.indexed != "" {
		args = append(args, strconv.Itoa(min(max(efSearch, 2*fetch), maxEfSearch)))
	}
	var rows []nearRow
	if s.indexed == "" {
		err = d.x.SelectContext(ctx, &rows, s.query(fetch), args...)
	} else { // to plan this takes as long as to do it
		var st *sqlx.Stmt
		if st, err = d.prepared(ctx, s.query(fetch)); err == nil {
			err = st.SelectContext(ctx, &rows, args...)
		}
	}
	if err != nil {
		return nil, err
	}
	for i, at := range places {
		var mine []nearRow
		for len(rows) > 0 && rows[0].Ord == i+1 {
			mine, rows = append(mine, rows[0]), rows[1:]
		}
		sure := false
		if out[at], sure = nearestOf(mine, n); !sure {
			out[at], doubt = nil, append(doubt, at)
		}
	}
	return doubt, nil
}

// query takes the fetch nearest vectors of each of $2, with the items of folder $1 that have their text. $3, the index's ef_search, holds for this
// one statement; the inner query names it so that it is set before the index is asked. The numbers of the model stand in the text: only so is it
// the index's own expression.
func (s sight) query(fetch int) string {
	set, set2, distance, by := "", "", "(e.embedding <=> qe.embedding) + 0", "distance"
	if s.indexed != "" {
		set, set2 = "(SELECT set_config('hnsw.ef_search', $3, true) AS ef OFFSET 0) s CROSS JOIN", "AND s.ef <> ''"
		distance, by = "e.embedding <=> qe.embedding", fmt.Sprintf("(e.embedding::%[1]s) <=> (qe.embedding::%[1]s)", s.indexed)
	}
	return fmt.Sprintf(`
		SELECT q.ord, i.item, near.distance
		FROM %s unnest($2::bytea[]) WITH ORDINALITY q (hash, ord)
		JOIN embeddings qe ON qe.model_id = %[2]d AND qe.text_hash = q.hash
		CROSS JOIN LATERAL (
			SELECT e.text_hash, %[3]s AS distance FROM embeddings e
			WHERE e.model_id = %[2]d %[4]s ORDER BY %[5]s LIMIT %[6]d) near
		LEFT JOIN items i ON i.corpus_id = (SELECT id FROM corpora WHERE dir = $1) AND i.text_hash = near.text_hash
		ORDER BY q.ord, near.distance, i.item`, set, s.model, distance, set2, by, fetch)
}

// nearestOf takes the first n items of what was found, nearest first. It is sure of them if there are as many, and something lies beyond the last
// one: an item at the same distance could otherwise have been left out.
func nearestOf(rows []nearRow, n int) (near []core.Near, sure bool) {
	for _, r := range rows {
		if len(near) == n {
			break
		}
		if r.Item != nil {
			near = append(near, core.Near{Item: *r.Item, Similarity: 1 - r.Distance})
		}
	}
	return near, len(near) == n && 1-rows[len(rows)-1].Distance < near[n-1].Similarity
}
