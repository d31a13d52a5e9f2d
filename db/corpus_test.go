package db_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"storozh/core"
	"storozh/db"
	"storozh/db/dbtest"
)

func hashOf(i core.Item) []byte {
	h := sha256.Sum256([]byte(i.Title + "\x00" + i.Normative))
	return h[:]
}

func item(n int, text string) core.Item {
	p := fmt.Sprintf("lessons/%03d.md", n)
	return core.Item{ID: "shield/" + p, Path: p, Kind: core.KindLesson, Text: text, Normative: text, StartLine: 1, EndLine: 1, Blob: "b"}
}

// reading is what makes the stored corpus of a folder hold exactly these items.
func reading(t testing.TB, d *db.DB, dir, commit string, items ...core.Item) core.CorpusReading {
	t.Helper()
	head, err := d.CorpusHead(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	have, err := d.CorpusFiles(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	r := core.CorpusReading{Revision: head.Revision, Commit: commit, Splitter: 1, Items: items}
	for _, it := range items {
		r.Files = append(r.Files, it.Path)
		delete(have, it.Path)
	}
	r.Gone = slices.Collect(maps.Keys(have))
	return r
}

func save(t testing.TB, d *db.DB, commit string, items ...core.Item) {
	t.Helper()
	if err := d.SaveCorpus(t.Context(), "/eco/shield", reading(t, d, "/eco/shield", commit, items...), hashOf); err != nil {
		t.Fatal(err)
	}
}

// stored gives all items of a folder's corpus.
func stored(t testing.TB, d *db.DB, dir string) []core.Item {
	t.Helper()
	files, err := d.CorpusFiles(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	items, err := d.ItemsAt(t.Context(), dir, slices.Collect(maps.Keys(files)))
	if err != nil {
		t.Fatal(err)
	}
	return items
}

func TestSaveCorpusMakesTheStoredOneEqual(t *testing.T) {
	d := dbtest.Open(t)
	a, b, c := item(1, "a"), item(2, "b"), item(3, "c")
	save(t, d, "one", a, b)
	b.Normative, b.Text = "b, changed", "b, changed"
	save(t, d, "two", b, c)
	if diff := cmp.Diff([]core.Item{b, c}, stored(t, d, "/eco/shield")); diff != "" {
		t.Error(diff)
	}
	if got, err := d.ItemsByID(t.Context(), "/eco/shield", []string{c.ID, "shield/gone.md"}); err != nil || !cmp.Equal(got, []core.Item{c}) {
		t.Errorf("%v %v", got, err)
	}
	if err := d.MarkStale(t.Context(), "/eco/shield", "gone"); err != nil {
		t.Fatal(err)
	}
	s, at, err := d.Corpus(t.Context(), "/eco/shield")
	if err != nil || !s.Stale || s.Reason != "gone" || s.Commit != "two" || s.Items != 2 || !at.Valid {
		t.Errorf("%+v %v", s, err)
	}
	if other := stored(t, d, "/elsewhere"); len(other) != 0 {
		t.Errorf("another folder's corpus holds %d", len(other))
	}
	if _, _, err := d.Corpus(t.Context(), "/elsewhere"); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("got %v", err)
	}
}

func TestNearestAllIsExactAndInOrder(t *testing.T) {
	d := dbtest.Open(t)
	var items []core.Item
	var hashes [][]byte
	var vecs [][]float32
	for i := range 505 {
		it := item(i, fmt.Sprint("text ", i))
		v := []float32{1, float32(i) / 1e5, 0}
		if i >= 500 {
			v = []float32{0, 1, float32(i-499) / 10}
		}
		items, hashes, vecs = append(items, it), append(hashes, hashOf(it)), append(vecs, v)
	}
	save(t, d, "one", items...)
	model, err := d.AddEmbedModel(t.Context(), "m", "", 3)
	if err != nil {
		t.Fatal(err)
	}
	if missing, err := d.MissingEmbeddings(t.Context(), "/eco/shield", model, nil, 1000); err != nil || len(missing) != 505 {
		t.Fatalf("%d missing, %v", len(missing), err)
	}
	if err := d.SaveEmbeddings(t.Context(), model, hashes, vecs); err != nil {
		t.Fatal(err)
	}
	if missing, err := d.MissingEmbeddings(t.Context(), "/eco/shield", model, nil, 1000); err != nil || len(missing) != 0 {
		t.Fatalf("%d missing, %v", len(missing), err)
	}
	near, err := d.NearestAll(t.Context(), "/eco/shield", model, [][]byte{hashes[504], []byte("unknown"), hashes[0]}, 6)
	if err != nil || len(near) != 3 || len(near[0]) != 6 || len(near[1]) != 0 || len(near[2]) != 6 {
		t.Fatalf("%v, %v", near, err)
	}
	var got []string
	for _, n := range near[0][:5] {
		got = append(got, n.Item)
	}
	want := []string{items[504].ID, items[503].ID, items[502].ID, items[501].ID, items[500].ID}
	if diff := cmp.Diff(want, got); diff != "" || near[0][0].Similarity < .9999 {
		t.Errorf("%s %v", diff, near[0])
	}
	if near[2][0].Item != items[0].ID || near[2][5].Item != items[5].ID {
		t.Errorf("%v", near[2])
	}
	have, err := d.Embeddings(t.Context(), model, hashes[:2])
	if err != nil || !cmp.Equal(have[string(hashes[1])], vecs[1]) {
		t.Errorf("Embeddings: %v %v", have, err)
	}
}

func TestVectorsOfAnotherLengthAreAnotherModel(t *testing.T) {
	d := dbtest.Open(t)
	if _, _, err := d.EmbedModel(t.Context(), "m", "p"); !errors.Is(err, core.ErrNotFound) {
		t.Fatalf("got %v", err)
	}
	three, _ := d.AddEmbedModel(t.Context(), "m", "p", 3)
	same, _ := d.AddEmbedModel(t.Context(), "m", "p", 3)
	four, err := d.AddEmbedModel(t.Context(), "m", "p", 4)
	if err != nil || same != three || four == three {
		t.Fatalf("%d %d %d %v", three, same, four, err)
	}
	if id, dim, err := d.EmbedModel(t.Context(), "m", "p"); id != four || dim != 4 || err != nil {
		t.Errorf("%d %d %v", id, dim, err)
	}
}

func TestVerdictsAreKeptByKey(t *testing.T) {
	d := dbtest.Open(t)
	p := core.Pair{Label: core.Contra, Note: "denies", Judge: "j", Prompt: "1", UnitHash: []byte{1}, ItemHash: []byte{2}}
	for _, label := range []core.Label{core.Contra, core.OK} { // the second answer, asked afresh, replaces the first
		p.Label = label
		if err := d.SaveVerdicts(t.Context(), [][]byte{[]byte("k")}, []core.Pair{p}); err != nil {
			t.Fatal(err)
		}
	}
	got, err := d.Verdicts(t.Context(), [][]byte{[]byte("k"), []byte("other")})
	want := map[string]core.Verdict{"k": {Label: core.OK, Reason: "denies"}}
	if err != nil || !cmp.Equal(got, want) {
		t.Errorf("%v %v", got, err)
	}
	p.Label = "maybe"
	if err := d.SaveVerdicts(t.Context(), [][]byte{[]byte("k2")}, []core.Pair{p}); !errors.Is(err, core.ErrConflict) {
		t.Errorf("an invented label gave %v", err)
	}
}
