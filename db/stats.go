package db

import (
	"context"
	"time"

	"storozh/core"
)

// Stats counts what the metrics show, in one statement.
func (d *DB) Stats(ctx context.Context) (core.Stats, error) {
	out := core.Stats{Runs: map[core.Status]int{}, WriteBacks: map[core.WriteState]int{}}
	var rows []struct {
		Status string `db:"status"`
		Write  string `db:"write_state"`
		N      int    `db:"n"`
		Age    int64  `db:"age_ms"`
	}
	err := d.x.SelectContext(ctx, &rows, `
		SELECT status, CASE WHEN status = 'done' THEN write_state ELSE '' END AS write_state, count(*) AS n,
			greatest(coalesce(extract(epoch FROM now() - min(queued_at)) * 1000, 0), 0)::bigint AS age_ms
		FROM runs GROUP BY 1, 2`)
	if err != nil {
		return out, wrap(err, "Stats")
	}
	for _, r := range rows {
		out.Runs[core.Status(r.Status)] += r.N
		if core.Status(r.Status) == core.Done {
			out.WriteBacks[core.WriteState(r.Write)] += r.N
		}
		if core.Status(r.Status) == core.Queued {
			out.QueueAge = time.Duration(r.Age) * time.Millisecond
		}
	}
	return out, nil
}
