package db_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"storozh/core"
	"storozh/db"
	"storozh/db/dbtest"
)

// vectorSpace makes vectors: in clusters, or along few directions as those of texts lie, or anywhere.
type vectorSpace struct {
	rnd        *rand.Rand
	dim        int
	centres    [][]float32
	directions [][]float32
}

func newVectorSpace(dim, clusters int) *vectorSpace {
	s := &vectorSpace{rnd: rand.New(rand.NewPCG(7, uint64(dim))), dim: dim}
	for range clusters {
		s.centres = append(s.centres, s.noise(nil, 1))
	}
	return s
}

// noise is a vector around another, each number off by that much.
func (s *vectorSpace) noise(around []float32, by float64) []float32 {
	v := make([]float32, s.dim)
	for i := range v {
		v[i] = float32(by * s.rnd.NormFloat64())
		if around != nil {
			v[i] += around[i]
		}
	}
	return v
}

func (s *vectorSpace) next() []float32 {
	if len(s.centres) > 0 {
		return s.noise(s.centres[s.rnd.IntN(len(s.centres))], 0.4)
	}
	v := s.noise(nil, 1)
	for _, d := range s.directions {
		by := 3 * float32(s.rnd.NormFloat64())
		for i := range v {
			v[i] += by * d[i]
		}
	}
	return v
}

// fill stores n items with vectors in a folder's corpus.
func fill(t testing.TB, d *db.DB, dir string, model, n int, vector func(i int) []float32) [][]byte {
	t.Helper()
	items := make([]core.Item, n)
	for i := range items {
		items[i] = item(i, fmt.Sprint(dir, " text ", i))
	}
	if err := d.SaveCorpus(t.Context(), dir, reading(t, d, dir, "one", items...), hashOf); err != nil {
		t.Fatal(err)
	}
	return addVectors(t, d, model, n, func(i int) []byte { return hashOf(items[i]) }, vector)
}

func addVectors(t testing.TB, d *db.DB, model, n int, hash func(i int) []byte, vector func(i int) []float32) [][]byte {
	t.Helper()
	var all, hashes [][]byte
	var vecs [][]float32
	for i := range n {
		hashes, vecs = append(hashes, hash(i)), append(vecs, vector(i))
		if len(hashes) == 1000 || i == n-1 {
			if err := d.SaveEmbeddings(t.Context(), model, hashes, vecs); err != nil {
				t.Fatal(err)
			}
			all, hashes, vecs = append(all, hashes...), nil, nil
		}
	}
	return all
}

// withIndex is a native database in which corpora of more than n items get an index.
func withIndex(t testing.TB, n int) *db.DB {
	t.Helper()
	if !dbtest.Native() {
		t.Skip("the embedded Postgres searches exactly: runs on a native one, with STOROZH_TEST_DATABASE_URL")
	}
	d := dbtest.Open(t)
	d.IndexFrom(n)
	t.Cleanup(func() {
		d.IndexFrom(20_000)
		dropIndexes(t, d)
	})
	return d
}

func dropIndexes(t testing.TB, d *db.DB) {
	var names []string
	rows, err := d.SQL().Query("SELECT indexname FROM pg_indexes WHERE indexname LIKE 'embeddings_hnsw_%'")
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var n string
		if err := rows.Scan(&n); err != nil {
			t.Fatal(err)
		}
		names = append(names, n)
	}
	if err := rows.Close(); err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		if _, err := d.SQL().Exec("DROP INDEX " + n); err != nil {
			t.Error(err)
		}
	}
}

const big, small = "/big/shield", "/small/shield"

func nearest(t testing.TB, d *db.DB, dir string, model int, hashes [][]byte, n int) (got, exact [][]core.Near) {
	t.Helper()
	got, err := d.NearestAll(t.Context(), dir, model, hashes, n)
	if err != nil {
		t.Fatal(err)
	}
	exact, err = d.Exact(t.Context(), dir, model, hashes, n)
	if err != nil {
		t.Fatal(err)
	}
	return got, exact
}

// recall is the share of the exact answer that was found.
func recall(got, exact [][]core.Near) float64 {
	hit, of := 0, 0
	for i := range exact {
		in := map[string]bool{}
		for _, n := range got[i] {
			in[n.Item] = true
		}
		for _, n := range exact[i] {
			of++
			if in[n.Item] {
				hit++
			}
		}
	}
	return float64(hit) / float64(of)
}

func TestVectorIndexIsBuiltAndUsed(t *testing.T) {
	for dim, items := range map[int]int{32: 1500, 2001: 2500} { // above 2,000 dimensions the index holds half-precision vectors
		t.Run(fmt.Sprint(dim), func(t *testing.T) {
			d := withIndex(t, 1000)
			space := newVectorSpace(dim, 40)
			model, _ := d.AddEmbedModel(t.Context(), "m", "", dim)
			hashes := fill(t, d, big, model, items, func(int) []float32 { return space.next() })
			if plan, err := d.Plan(t.Context(), big, model, hashes[:1], 5); err != nil || plan != "" {
				t.Fatalf("used before it was built: %s %v", plan, err)
			}
			if built, err := d.BuildVectorIndex(t.Context(), big, model); err != nil || !built {
				t.Fatal(built, err)
			}
			if again, err := d.BuildVectorIndex(t.Context(), big, model); err != nil || again {
				t.Fatal(again, err)
			}
			plan, err := d.Plan(t.Context(), big, model, hashes[:1], 5)
			if err != nil || !strings.Contains(plan, "Index Scan using embeddings_hnsw") {
				t.Fatalf("%s %v", plan, err)
			}
			asked := hashes[:30:30]
			if n, err := d.Sure(t.Context(), big, model, asked, 5); err != nil || n != len(asked) {
				t.Errorf("the index is sure of %d of %d, %v", n, len(asked), err)
			}
			got, exact := nearest(t, d, big, model, append(asked, []byte("unknown")), 5)
			if r := recall(got, exact); r < .98 {
				t.Errorf("recall %.3f", r)
			}
			if len(got[30]) != 0 {
				t.Errorf("%v for a text without a vector", got[30])
			}
			for i, near := range got[:30] {
				if len(near) != 5 || near[0].Item != exact[i][0].Item {
					t.Errorf("%v, exactly %v", near, exact[i])
				}
			}
		})
	}
}

// crowded is a place full of vectors of units and of another corpus, with a few items of the big one at its edge (case P1).
func crowded(t *testing.T, d *db.DB) (model int, asked [][]byte) {
	t.Helper()
	space := newVectorSpace(16, 40)
	model, _ = d.AddEmbedModel(t.Context(), "m", "", 16)
	place := space.noise(nil, 1)
	inBig := fill(t, d, big, model, 1500, func(i int) []float32 {
		if i < 5 {
			return space.noise(place, 0.3)
		}
		return space.next()
	})
	inSmall := fill(t, d, small, model, 500, func(int) []float32 { return space.noise(place, 0.05) })
	units := addVectors(t, d, model, 200, func(i int) []byte { return hashOf(item(i, "a unit")) }, func(int) []float32 { return space.noise(place, 0.05) })
	return model, slices.Concat(inSmall[:5], units[:20], inBig[:5])
}

func allFound(t *testing.T, d *db.DB, model int, asked [][]byte) {
	t.Helper()
	for _, dir := range []string{big, small} {
		for _, n := range []int{1, 5, 40, 190, 600, 5000} {
			got, exact := nearest(t, d, dir, model, asked, n)
			if diff := cmp.Diff(exact, got); diff != "" {
				t.Errorf("%s, %d nearest: %s", dir, n, diff)
			}
		}
	}
}

func TestNearestAllAmongOthers(t *testing.T) {
	d := dbtest.Open(t)
	model, asked := crowded(t, d)
	if n, err := d.Sure(t.Context(), big, model, asked, 5); err != nil || n >= len(asked) {
		t.Errorf("no second look is needed for any of %d: the place is not crowded, %v", n, err)
	}
	allFound(t, d, model, asked)
}

func TestVectorIndexNeverAnswersShort(t *testing.T) {
	d := withIndex(t, 1000)
	model, asked := crowded(t, d)
	if built, err := d.BuildVectorIndex(t.Context(), big, model); err != nil || !built {
		t.Fatal(built, err)
	}
	if plan, err := d.Plan(t.Context(), big, model, asked[:1], 5); err != nil || plan == "" {
		t.Fatalf("the index is not used, %v", err)
	}
	if n, err := d.Sure(t.Context(), big, model, asked, 5); err != nil || n >= len(asked) {
		t.Errorf("no second look is needed for any of %d: the place is not crowded, %v", n, err)
	}
	allFound(t, d, model, asked)
}

// Items at the same distance come by id, also where more of them are than the index would give.
func TestVectorIndexAndTies(t *testing.T) {
	d := withIndex(t, 1000)
	space := newVectorSpace(16, 40)
	model, _ := d.AddEmbedModel(t.Context(), "m", "", 16)
	same := space.next()
	hashes := fill(t, d, big, model, 1500, func(i int) []float32 {
		if i >= 700 && i < 1000 {
			return same
		}
		return space.next()
	})
	if built, err := d.BuildVectorIndex(t.Context(), big, model); err != nil || !built {
		t.Fatal(built, err)
	}
	got, exact := nearest(t, d, big, model, hashes[990:991], 5)
	if diff := cmp.Diff(exact, got); diff != "" || got[0][0].Item != "shield/lessons/700.md" {
		t.Errorf("%s %v", diff, got)
	}
}

func TestVectorIndexIsNotForSmallSharesOrOddModels(t *testing.T) {
	d := withIndex(t, 300)
	space := newVectorSpace(16, 40)
	model, _ := d.AddEmbedModel(t.Context(), "m", "", 16)
	fill(t, d, big, model, 1500, func(int) []float32 { return space.next() })
	hashes := fill(t, d, small, model, 400, func(int) []float32 { return space.next() })
	if built, err := d.BuildVectorIndex(t.Context(), small, model); err != nil || !built {
		t.Fatal(built, err)
	}
	if plan, err := d.Plan(t.Context(), small, model, hashes[:1], 5); err != nil || plan != "" {
		t.Errorf("%v %s", err, plan)
	}
	if plan, err := d.Plan(t.Context(), big, model, hashes[:1], 5); err != nil || plan == "" {
		t.Errorf("the index does not serve the corpus it is mostly of, %v", err)
	}
	huge, _ := d.AddEmbedModel(t.Context(), "huge", "", 4001)
	if built, err := d.BuildVectorIndex(t.Context(), big, huge); err != nil || built {
		t.Errorf("an index of 4,001 dimensions: %v %v", built, err)
	}
}

// A build that broke off leaves an invalid index behind: it is not used, and the next build replaces it.
func TestABrokenVectorIndexIsHealed(t *testing.T) {
	d := withIndex(t, 1000)
	space := newVectorSpace(16, 40)
	model, _ := d.AddEmbedModel(t.Context(), "m", "", 16)
	hashes := fill(t, d, big, model, 1500, func(int) []float32 { return space.next() })
	odd := addVectors(t, d, model, 1, func(int) []byte { return hashOf(item(1, "odd")) }, func(int) []float32 { return []float32{1, 2, 3} })
	if built, err := d.BuildVectorIndex(t.Context(), big, model); err == nil || built {
		t.Fatal("the build did not fail")
	}
	var valid bool
	err := d.SQL().QueryRow("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)", fmt.Sprintf("embeddings_hnsw_%d", model)).Scan(&valid)
	if err != nil || valid {
		t.Fatalf("no invalid index was left: %v %v", valid, err)
	}
	if plan, err := d.Plan(t.Context(), big, model, hashes[:1], 5); err != nil || plan != "" {
		t.Errorf("the invalid index is used: %s %v", plan, err)
	}
	if _, err := d.SQL().Exec("DELETE FROM embeddings WHERE text_hash = $1", odd[0]); err != nil {
		t.Fatal(err)
	}
	if built, err := d.BuildVectorIndex(t.Context(), big, model); err != nil || !built {
		t.Fatal(built, err)
	}
	got, exact := nearest(t, d, big, model, hashes[:20], 5)
	if plan, _ := d.Plan(t.Context(), big, model, hashes[:1], 5); plan == "" || recall(got, exact) < .98 {
		t.Errorf("not healed: recall %.2f, plan %s", recall(got, exact), plan)
	}
}

func TestOneProcessBuildsTheVectorIndex(t *testing.T) {
	d := withIndex(t, 1000)
	dsn := dbtest.DSN(t)
	space := newVectorSpace(16, 40)
	model, _ := d.AddEmbedModel(t.Context(), "m", "", 16)
	fill(t, d, big, model, 1500, func(int) []float32 { return space.next() })
	var wg sync.WaitGroup
	built, failed := make([]bool, 3), make([]error, 3)
	for i := range built {
		other := open(t, dsn)
		other.IndexFrom(1000)
		wg.Go(func() { built[i], failed[i] = other.BuildVectorIndex(t.Context(), big, model) })
	}
	wg.Wait()
	n := 0
	for i := range built {
		if failed[i] != nil {
			t.Error(failed[i])
		}
		if built[i] {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d of 3 built it", n)
	}
}
