package dbtest

import (
	"testing"
	"time"

	"storozh/db"
)

// Jump does to the database what setting its clock does: every instant that is stored comes to lie d earlier, as seen from the clock, when
// the clock is set forward by d, and later when it is set back (d < 0).
func Jump(t testing.TB, d *db.DB, by time.Duration) {
	t.Helper()
	rows, err := d.SQL().Query(`
		SELECT format('UPDATE %I SET %s', c.table_name,
			string_agg(format('%I = %I - $1 * interval ''1 millisecond''', c.column_name, c.column_name), ', '))
		FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name)
		WHERE c.table_schema = 'public' AND c.data_type = 'timestamp with time zone' AND t.table_type = 'BASE TABLE' GROUP BY c.table_name`)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var updates []string
	for rows.Next() {
		var update string
		if err := rows.Scan(&update); err != nil {
			t.Fatal(err)
		}
		updates = append(updates, update)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	if len(updates) < 5 {
		t.Fatalf("only these tables hold an instant: %q", updates)
	}
	for _, u := range updates {
		if _, err := d.SQL().Exec(u, by.Milliseconds()); err != nil {
			t.Fatalf("%s: %v", u, err)
		}
	}
}
