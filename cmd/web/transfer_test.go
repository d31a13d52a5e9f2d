package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"storozh/db/dbtest"
)

// An export of one installation fills another one, whose export is the same to the byte.
func TestExportAndImportFromTheCommandLine(t *testing.T) {
	env := append(databaseFor(t), "STOROZH_LLM_URL=http://127.0.0.1:9/v1", "STOROZH_TZ=UTC")
	m := newMachine(t, env...)
	if _, stderr, err := m.web("check", m.sessionFile("s", "2026-05-01T12:00:00Z", "neuro-matrix", 3)); err != nil {
		t.Fatal(err, stderr)
	}
	first, stderr, err := m.web("export")
	if err != nil || !strings.Contains(first, `"table":"counted_units"`) {
		t.Fatal(err, stderr)
	}
	file := filepath.Join(m.home, "export.jsonl")
	if err := os.WriteFile(file, []byte(first), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, stderr, err := m.web("import", file); err == nil || !strings.Contains(stderr, "not empty") {
		t.Errorf("into the full database: %v %s", err, stderr)
	}
	if dbtest.Native() {
		dbtest.Open(t) // empties it
	}
	m = newMachine(t, env...)
	if out, stderr, err := m.web("import", file); err != nil || !strings.Contains(out, "rows imported") {
		t.Fatal(err, out, stderr)
	}
	second, stderr, err := m.web("export")
	if err != nil {
		t.Fatal(err, stderr)
	}
	if first != second {
		t.Errorf("another export: %d and %d bytes", len(first), len(second))
	}
	if _, stderr, err := m.web("import", filepath.Join(m.home, "no such file")); err == nil || !strings.Contains(stderr, "cannot be read") {
		t.Errorf("no file: %v %s", err, stderr)
	}
}
