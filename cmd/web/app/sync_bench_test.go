package app

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"storozh/core"
	"storozh/core/guard"
	"storozh/core/localllm"
	"storozh/core/routing"
	"storozh/db"
	"storozh/db/dbtest"
)

// noModel cannot be had: a sync with it ends when the corpus is stored.
type noModel struct{ localllm.Fake }

func (*noModel) Resolve(context.Context) (localllm.Models, error) {
	return localllm.Models{}, &localllm.Error{Kind: localllm.KindUnreachable}
}

const itemsPerFile = 50

// BenchmarkSync reads a shield repo of so many items into the database, without embedding: the first time, after one file has changed, and with
// nothing changed; words is the search by words of a run of 20 units over as many items. x-copy is the ratio to the plain COPY of the same rows into the same table (native only); growth is the exponent by
// which the time grows from the size before: 1 is linear.
func BenchmarkSync(b *testing.B) {
	sizes := []int{1_000, 10_000, 100_000}
	if !dbtest.Native() {
		sizes = sizes[:2]
	}
	last := map[string]time.Duration{}
	for i, n := range sizes {
		e := newEco(b)
		for f := range n / itemsPerFile {
			e.write(fmt.Sprintf("shield/invariants/%05d.txt", f), ruleFile(f, ""))
		}
		e.commit("shield")
		d := dbtest.Open(b)
		dir := e.dir + "/" + core.Shield
		g := guard.New(d, &noModel{}, guard.Options{ShieldDir: dir, Rules: routing.DefaultRules(), Aliases: routing.DefaultAliases()})
		took := map[string]time.Duration{}
		stages := []struct {
			name    string
			prepare func()
		}{
			{"first", func() { dbtest.Open(b) }},
			{"one-file", func() {
				e.write("shield/invariants/00000.txt", ruleFile(0, fmt.Sprint(" now ", time.Now().UnixNano())))
				e.commit("shield")
			}},
			{"unchanged", func() {}},
		}
		for _, s := range stages {
			b.Run(fmt.Sprintf("%s-%d", s.name, n), func(b *testing.B) {
				for b.Loop() {
					b.StopTimer()
					s.prepare()
					b.StartTimer()
					if state, _ := g.Sync(b.Context()); state.Items < n || state.Stale {
						b.Fatalf("%+v", state)
					}
				}
				took[s.name] = b.Elapsed() / time.Duration(b.N)
				if s.name == "first" && dbtest.Native() {
					b.ReportMetric(float64(took[s.name])/float64(copyItems(b, d, dir)), "x-copy")
				}
				if i > 0 {
					b.ReportMetric(math.Log10(float64(took[s.name])/float64(last[s.name])), "growth")
				}
			})
		}
		b.Run(fmt.Sprintf("words-%d", n), func(b *testing.B) {
			_, _ = g.Sync(b.Context()) // without a model it ends in an error, with the corpus stored
			for b.Loop() {
				byWords(b, d, dir)
			}
			took["words"] = b.Elapsed() / time.Duration(b.N)
			b.ReportMetric(float64(took["words"].Nanoseconds())/float64(n), "ns/item")
			if i > 0 {
				b.ReportMetric(math.Log10(float64(took["words"])/float64(last["words"])), "growth")
			}
		})
		last = took
	}
}

// byWords does what a run of 20 units does to find one more neighbour each by words.
func byWords(b *testing.B, d *db.DB, dir string) {
	var units []string
	for i := range 20 {
		units = append(units, fmt.Sprintf("Service %d of team %d forgets its records after %d days, whatever the audit of year %d says.", i*37, i, i+3, 2000+i))
	}
	search, err := guard.NewWordSearch(b.Context(), d, dir, units...)
	if err != nil {
		b.Fatal(err)
	}
	found := 0
	for _, u := range units {
		if _, ok := search.Index.Best(u, func(int) bool { return false }); ok {
			found++
		}
	}
	if found == 0 {
		b.Fatal("nothing found by words")
	}
}

func ruleFile(f int, more string) string {
	var s strings.Builder
	for i := range itemsPerFile {
		n := f*itemsPerFile + i + 1
		fmt.Fprintf(&s, "#%d [important] [O] service %d of team %d keeps its records for %d days and says so%s | Why: the audit of year %d | Counter: what the customer deletes\n",
			n, n, f, n%400, more, 2000+n%30)
	}
	return s.String()
}

// copyItems is how long the plain COPY of the stored items takes.
func copyItems(b *testing.B, d *db.DB, dir string) time.Duration {
	b.Helper()
	files, err := d.CorpusFiles(b.Context(), dir)
	if err != nil {
		b.Fatal(err)
	}
	items, err := d.ItemsAt(b.Context(), dir, slices.Collect(maps.Keys(files)))
	if err != nil {
		b.Fatal(err)
	}
	hashes := make([][]byte, len(items))
	for i, it := range items {
		hashes[i] = guard.ItemHash(it)
	}
	tx, err := d.SQL().BeginTx(b.Context(), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.Exec("DELETE FROM items"); err != nil {
		b.Fatal(err)
	}
	start := time.Now()
	st, err := tx.Prepare("COPY items (corpus_id, item, path, anchor, kind, title, text, normative, start_line, end_line, blob, text_hash) FROM STDIN")
	if err != nil {
		b.Fatal(err)
	}
	for i, it := range items {
		if _, err := st.Exec(1, it.ID, it.Path, it.Anchor, string(it.Kind), it.Title, it.Text, it.Normative, it.StartLine, it.EndLine, it.Blob, hashes[i]); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := st.Exec(); err != nil {
		b.Fatal(err)
	}
	return time.Since(start)
}
