package db

import (
	"context"
	"strings"

	"github.com/lib/pq"

	"storozh/core"
)

// IndexFrom sets the number of items from which an index is built and used, and forgets what is known of indexes.
func (d *DB) IndexFrom(n int) {
	d.indexFrom = n
	d.sights.Clear()
}

// Exact is the search among the items of dir alone, without any index.
func (d *DB) Exact(ctx context.Context, dir string, model int, hashes [][]byte, n int) ([][]core.Near, error) {
	out, places := make([][]core.Near, len(hashes)), make([]int, len(hashes))
	for i := range places {
		places[i] = i
	}
	return out, d.nearestAmong(ctx, dir, model, hashes, places, n, out)
}

// Plan is how Postgres answers NearestAll by index; empty if that goes by none.
func (d *DB) Plan(ctx context.Context, dir string, model int, hashes [][]byte, n int) (string, error) {
	s, err := d.sight(ctx, dir, model)
	if err != nil || !s.mostly || s.indexed == "" {
		return "", err
	}
	var lines []string
	err = d.x.SelectContext(ctx, &lines, "EXPLAIN "+s.query(s.overFetch(n)[0]), s.dir, pq.ByteaArray(hashes), "100")
	return strings.Join(lines, "\n"), err
}

// Sure tells for how many of the hashes the search by vector is enough.
func (d *DB) Sure(ctx context.Context, dir string, model int, hashes [][]byte, n int) (int, error) {
	s, err := d.sight(ctx, dir, model)
	if err != nil || !s.mostly {
		return 0, err
	}
	places := make([]int, len(hashes))
	for i := range places {
		places[i] = i
	}
	fetch := s.overFetch(n)
	doubt, err := d.nearestFirst(ctx, s, hashes, places, n, fetch[len(fetch)-1], make([][]core.Near, len(hashes)))
	return len(hashes) - len(doubt), err
}
