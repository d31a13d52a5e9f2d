package embedded

import (
	"context"
	"database/sql"
	"fmt"
)

// Maintain does what a native Postgres does in the background and the embedded one never does: it writes the log back into the tables
// and clears away dead rows, with fresh statistics for the planner. Call it when idle, now and then; it must not run in a transaction.
func Maintain(ctx context.Context, db *sql.DB) error {
	for _, statement := range []string{"VACUUM (ANALYZE)", "CHECKPOINT"} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("embedded postgres: %s: %w", statement, err)
		}
	}
	return nil
}
