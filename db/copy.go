package db

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// copyFrom is the number of rows from which COPY is quicker than an INSERT. Only a native Postgres has COPY.
const copyFrom = 32

// copyNew adds n rows to a table by COPY; rows whose key is there already are left out. Such rows are rare, so COPY goes to the table itself
// first, and only what it refuses takes the way over a temporary table.
func copyNew(ctx context.Context, tx *sqlx.Tx, table string, columns []string, n int, row func(i int) []any) error {
	if _, err := tx.ExecContext(ctx, "SAVEPOINT copy_new"); err != nil {
		return err
	}
	err := copyRows(ctx, tx, table, columns, n, row)
	var refused *pq.Error
	if err == nil || !errors.As(err, &refused) || refused.Code != "23505" { // unique_violation
		return err
	}
	// The savepoint's name goes with it; the temporary table is gone at the end of the transaction.
	if _, err := tx.ExecContext(ctx, "ROLLBACK TO copy_new"); err != nil {
		return err
	}
	into := "copy_new_" + table
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("CREATE TEMP TABLE IF NOT EXISTS %s (LIKE %s) ON COMMIT DROP", into, table)); err != nil {
		return err
	}
	if err := copyRows(ctx, tx, into, columns, n, row); err != nil {
		return err
	}
	list := strings.Join(columns, ", ")
	_, err = tx.ExecContext(ctx, fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM %s ON CONFLICT DO NOTHING", table, list, list, into))
	return err
}

func copyRows(ctx context.Context, tx *sqlx.Tx, table string, columns []string, n int, row func(i int) []any) error {
	st, err := tx.PrepareContext(ctx, fmt.Sprintf("COPY %s (%s) FROM STDIN", table, strings.Join(columns, ", ")))
	if err != nil {
		return err
	}
	for i := range n {
		_, err := st.ExecContext(ctx, row(i)...)
		if err == nil {
			err = ctx.Err() // the driver does not look
		}
		if err != nil {
			_ = st.Close()
			return err
		}
	}
	if _, err := st.ExecContext(ctx); err != nil { // nothing is written before this
		_ = st.Close()
		return err
	}
	return st.Close()
}
