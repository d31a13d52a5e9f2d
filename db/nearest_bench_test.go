package db_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/pgvector/pgvector-go"

	"storozh/db"
	"storozh/db/dbtest"
)

var (
	benchSize  = flag.Int("bench-size", 100_000, "the largest corpus of the benchmarks, in items")
	benchTexts = flag.Int("bench-texts", 10_000, "the corpus of real sentences, in items; Go's standard library has some 33,000")
)

// largest is what one run goes up to; the short form of .ci/bench goes just beyond the bound of an exact search.
func largest() int {
	if os.Getenv("STOROZH_BENCH_SMALL") != "" {
		return min(*benchSize, 30_000)
	}
	return *benchSize
}

const benchDim = 768

// BenchmarkNearest finds the 5 nearest items of a text, exactly and by index, and reports the median as a ratio to the plain SQL query on the same
// rows, taken in turn with it, and the recall of the index. "texts" are vectors of real sentences by a real model; made ones lie in clusters or along
// few directions (32 here); uniform ones, in 768 dimensions, are the worst case, which no text meets. Sizes above 10,000 and the index need a native
// Postgres, and "texts" an embedding model besides (realVectors).
func BenchmarkNearest(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		if n > largest() || n > 10_000 && !dbtest.Native() {
			continue
		}
		b.Run(fmt.Sprintf("exact-%d", n), func(b *testing.B) {
			d := dbtest.Open(b)
			model, asked := benchCorpus(b, d, n, benchDim, newVectorSpace(benchDim, 2000).next)
			compareNearest(b, d, model, asked, false)
		})
	}
	if !dbtest.Native() {
		return
	}
	directions := newVectorSpace(benchDim, 0)
	for range 32 {
		directions.directions = append(directions.directions, directions.noise(nil, 1))
	}
	spaces := map[string]*vectorSpace{"clustered": newVectorSpace(benchDim, 2000), "directions": directions, "uniform": newVectorSpace(benchDim, 0)}
	for name, space := range spaces {
		b.Run(fmt.Sprintf("hnsw-%s-%d", name, largest()), func(b *testing.B) { benchIndex(b, largest(), benchDim, space.next) })
	}
	b.Run(fmt.Sprintf("hnsw-texts-%d", *benchTexts), func(b *testing.B) {
		vectors, at := realVectors(b, *benchTexts+benchAsked), -1
		benchIndex(b, *benchTexts, len(vectors[0]), func() []float32 { at++; return vectors[at] })
	})
}

// benchIndex compares the search by index in a corpus of n items with the exact one.
func benchIndex(b *testing.B, n, dim int, next func() []float32) {
	d := withIndex(b, min(20_000, n-1))
	model, units := benchCorpus(b, d, n, dim, next)
	start := time.Now()
	if built, err := d.BuildVectorIndex(b.Context(), big, model); err != nil || !built {
		b.Fatal(built, err)
	}
	b.Logf("built in %v", time.Since(start).Round(time.Second))
	compareNearest(b, d, model, units, true)
	dropIndexes(b, d)
}

// benchAsked is for how many texts of units the nearest items are found.
const benchAsked = 100

// benchCorpus stores a corpus of n items with vectors of that length, and texts of units with theirs.
func benchCorpus(b *testing.B, d *db.DB, n, dim int, next func() []float32) (model int, units [][]byte) {
	b.Helper()
	model, err := d.AddEmbedModel(b.Context(), "m", "", dim)
	if err != nil {
		b.Fatal(err)
	}
	fill(b, d, big, model, n, func(int) []float32 { return next() })
	units = addVectors(b, d, model, benchAsked, func(i int) []byte { return hashOf(item(i, "a unit")) }, func(int) []float32 { return next() })
	if _, err := d.SQL().Exec("ANALYZE"); err != nil {
		b.Fatal(err)
	}
	return model, units
}

// compareNearest asks NearestAll and the plain query in turn, for one text after the other.
func compareNearest(b *testing.B, d *db.DB, model int, units [][]byte, index bool) {
	vecs, err := d.Embeddings(b.Context(), model, units)
	if err != nil {
		b.Fatal(err)
	}
	if plan, err := d.Plan(b.Context(), big, model, units[:1], 5); err != nil || (plan != "") != index {
		b.Fatalf("by index: %v, %v", plan != "", err)
	}
	var ours, plain []time.Duration
	for i := 0; b.Loop(); i++ {
		hash := units[i%len(units)]
		start := time.Now()
		if _, err := d.NearestAll(b.Context(), big, model, [][]byte{hash}, 5); err != nil {
			b.Fatal(err)
		}
		ours = append(ours, time.Since(start))
		v := pgvector.NewVector(vecs[string(hash)])
		plain = append(plain, plainNearest(b, d, model, v, index))
	}
	b.StopTimer()
	p50, p50Plain := middle(ours), middle(plain)
	b.ReportMetric(0, "ns/op") // both queries, and of no meaning
	b.ReportMetric(float64(p50.Microseconds())/1000, "ms-p50")
	b.ReportMetric(float64(p50)/float64(p50Plain), "x-plain")
	if index {
		got, exact := nearest(b, d, big, model, units, 5)
		b.ReportMetric(recall(got, exact), "recall@5")
		sure, err := d.Sure(b.Context(), big, model, units, 5)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(sure)/float64(len(units)), "sure")
	}
}

// plainNearest is what pgvector's own manual would have one write, on the same rows and index, with the vector as a parameter.
func plainNearest(b *testing.B, d *db.DB, model int, v pgvector.Vector, index bool) time.Duration {
	b.Helper()
	query := fmt.Sprintf("SELECT text_hash, embedding <=> $1 FROM embeddings WHERE model_id = %d ORDER BY embedding <=> $1 LIMIT 5", model)
	tx, err := d.SQL().BeginTx(b.Context(), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	if index {
		query = fmt.Sprintf(`SELECT text_hash, embedding <=> $1 FROM embeddings WHERE model_id = %d
			ORDER BY (embedding::vector(%[2]d)) <=> ($1::vector(%[2]d)) LIMIT 5`, model, len(v.Slice()))
		if _, err := tx.Exec("SET LOCAL hnsw.ef_search = 100"); err != nil {
			b.Fatal(err)
		}
	}
	start := time.Now() // the setting above is not counted
	rows, err := tx.Query(query, v)
	if err != nil {
		b.Fatal(err)
	}
	for rows.Next() {
		var hash []byte
		var distance float64
		if err := rows.Scan(&hash, &distance); err != nil {
			b.Fatal(err)
		}
	}
	if err := rows.Err(); err != nil {
		b.Fatal(err)
	}
	return time.Since(start)
}

func middle(d []time.Duration) time.Duration {
	d = slices.Sorted(slices.Values(d))
	return d[len(d)/2]
}
