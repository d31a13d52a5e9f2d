package db_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"storozh/core"
	"storozh/db"
	"storozh/db/dbtest"
)

const eco = "/eco/shield"

func head(t testing.TB, d *db.DB) core.CorpusHead {
	t.Helper()
	h, err := d.CorpusHead(t.Context(), eco)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestAReadingThatCameTooLateIsRefused(t *testing.T) {
	d := dbtest.Open(t)
	late := reading(t, d, eco, "one", item(1, "a"))
	save(t, d, "two", item(1, "a"), item(2, "b"))
	if err := d.SaveCorpus(t.Context(), eco, late, hashOf); !errors.Is(err, core.ErrConflict) {
		t.Errorf("got %v", err)
	}
	if h := head(t, d); h.Commit != "two" || h.Items != 2 || h.Splitter != 1 || h.Revision != 1 {
		t.Errorf("%+v", h)
	}
	same := core.CorpusReading{Revision: 1, Commit: "three", Splitter: 2} // another commit, no item changed
	if err := d.SaveCorpus(t.Context(), eco, same, hashOf); err != nil {
		t.Fatal(err)
	}
	if h := head(t, d); h.Commit != "three" || h.Items != 2 || h.Splitter != 2 || h.Revision != 1 {
		t.Errorf("%+v", h)
	}
}

// Files that are not named stay as they are; of those that are, only what is different is written.
func TestSaveCorpusTouchesNamedFilesOnly(t *testing.T) {
	d := dbtest.Open(t)
	a, b, c := item(1, "a"), item(2, "b"), item(3, "c")
	save(t, d, "one", a, b, c)
	row := func(id string) (at string) {
		if err := d.SQL().QueryRow("SELECT ctid::text || xmin::text FROM items WHERE item = $1", id).Scan(&at); err != nil {
			t.Fatal(err)
		}
		return at
	}
	keptA, keptB := row(a.ID), row(b.ID)
	more := b
	more.ID, more.Anchor, more.Normative = b.ID+"#more", "more", "more of b"
	r := core.CorpusReading{Revision: 1, Commit: "two", Splitter: 1, Files: []string{b.Path}, Gone: []string{c.Path}, Items: []core.Item{b, more}}
	if err := d.SaveCorpus(t.Context(), eco, r, hashOf); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]core.Item{a, b, more}, stored(t, d, eco)); diff != "" {
		t.Error(diff)
	}
	if row(a.ID) != keptA || row(b.ID) != keptB {
		t.Error("rows that did not change were written")
	}
}

// Many rows at once go by COPY on a native Postgres; ids and texts that are there already are left out there, too.
func TestManyRowsAtOnce(t *testing.T) {
	d := dbtest.Open(t)
	var items []core.Item
	var hashes [][]byte
	var vecs [][]float32
	for i := range 3000 {
		it := item(1000+i, fmt.Sprintf("text %d with \t tab, \\ backslash, \"quotes\"\nand план", i))
		items, hashes, vecs = append(items, it), append(hashes, hashOf(it)), append(vecs, []float32{1, float32(i), 0.25})
	}
	twin := items[0] // the same id from another path: the first stays
	twin.Path = "lessons/1000.md#"
	save(t, d, "one", items...)
	if diff := cmp.Diff(items, stored(t, d, eco)); diff != "" {
		t.Fatal(diff)
	}
	again := []core.Item{twin}
	for i := range 100 {
		again = append(again, item(5000+i, fmt.Sprint("new ", i)))
	}
	r := core.CorpusReading{Revision: 1, Commit: "two", Splitter: 1, Items: again}
	for _, it := range again {
		r.Files = append(r.Files, it.Path)
	}
	if err := d.SaveCorpus(t.Context(), eco, r, hashOf); err != nil {
		t.Fatal(err)
	}
	if got := stored(t, d, eco); len(got) != 3100 || got[0] != items[0] || head(t, d).Items != 3100 {
		t.Errorf("%d items, head %d", len(got), head(t, d).Items)
	}
	model, _ := d.AddEmbedModel(t.Context(), "m", "", 3)
	for _, upTo := range []int{40, 3000, 3000} {
		if err := d.SaveEmbeddings(t.Context(), model, hashes[:upTo], vecs[:upTo]); err != nil {
			t.Fatal(err)
		}
	}
	have, err := d.Embeddings(t.Context(), model, hashes)
	if err != nil || len(have) != 3000 || !slices.Equal(have[string(hashes[2999])], vecs[2999]) {
		t.Errorf("%d vectors, %v", len(have), err)
	}
}

func TestMissingEmbeddingsComeInPages(t *testing.T) {
	d := dbtest.Open(t)
	var items []core.Item
	for i := range 25 {
		items = append(items, item(i, fmt.Sprint("text ", i/2))) // most texts stand twice
	}
	save(t, d, "one", items...)
	model, _ := d.AddEmbedModel(t.Context(), "m", "", 1)
	if err := d.SaveEmbeddings(t.Context(), model, [][]byte{hashOf(items[0])}, [][]float32{{1}}); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	var after []byte
	for pages := 0; ; pages++ {
		page, err := d.MissingEmbeddings(t.Context(), eco, model, after, 5)
		if err != nil || pages > 3 {
			t.Fatal(pages, err)
		}
		if len(page) == 0 {
			break
		}
		for _, it := range page {
			if seen[it.Normative] {
				t.Errorf("%s came twice", it.Normative)
			}
			seen[it.Normative] = true
			after = hashOf(it)
		}
	}
	if n, err := d.CountMissing(t.Context(), eco, model); len(seen) != 12 || n != 12 || err != nil {
		t.Errorf("%d listed, %d counted, %v", len(seen), n, err)
	}
	models, texts, err := d.EmbedModels(t.Context(), eco)
	if want := []core.EmbedModel{{ID: model, Name: "m", Dim: 1, Texts: 1}}; err != nil || texts != 13 || !cmp.Equal(models, want) {
		t.Errorf("%+v of %d, %v", models, texts, err)
	}
	it, v, err := d.SampleEmbedding(t.Context(), eco, model)
	if err != nil || it.Normative != items[0].Normative || !slices.Equal(v, []float32{1}) {
		t.Errorf("%v %v %v", it, v, err)
	}
}

// What was found out about one revision is not written down for another, and a new item takes it back.
func TestWhichModelTheCorpusGoesBy(t *testing.T) {
	d := dbtest.Open(t)
	save(t, d, "one", item(1, "a"))
	first, _ := d.AddEmbedModel(t.Context(), "first", "", 3)
	second, _ := d.AddEmbedModel(t.Context(), "second", "", 3)
	mark := func(revision int64, model int) {
		t.Helper()
		if err := d.MarkEmbedded(t.Context(), eco, revision, model); err != nil {
			t.Fatal(err)
		}
	}
	mark(1, first)
	if err := d.SetReindexing(t.Context(), eco, second); err != nil {
		t.Fatal(err)
	}
	mark(1, first)
	if h := head(t, d); h.Embedded != first || h.Reindex != second {
		t.Errorf("%+v", h)
	}
	if s, _, err := d.Corpus(t.Context(), eco); err != nil || s.Reindexing != (core.Progress{Done: 0, Of: 1}) {
		t.Errorf("%+v %v", s.Reindexing, err)
	}
	mark(1, second)
	if h := head(t, d); h.Embedded != second || h.Reindex != 0 {
		t.Errorf("%+v", h)
	}
	save(t, d, "two", item(1, "a"), item(2, "b"))
	mark(1, second)
	if h := head(t, d); h.Embedded != 0 || h.Revision != 2 {
		t.Errorf("%+v", h)
	}
	mark(2, second)
	save(t, d, "three", item(1, "a"))
	if h := head(t, d); h.Embedded != second || h.Revision != 3 {
		t.Errorf("an item that went took the vectors of the others along: %+v", h)
	}
}

func TestVectorsOfModelsThatNobodyUsesGo(t *testing.T) {
	d := dbtest.Open(t)
	save(t, d, "one", item(1, "a"))
	var ids []int
	for _, name := range []string{"embedded", "reindexing", "unused", "fresh"} {
		id, err := d.AddEmbedModel(t.Context(), name, "", 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.SaveEmbeddings(t.Context(), id, [][]byte{{1}}, [][]float32{{1}}); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	if err := errors.Join(d.MarkEmbedded(t.Context(), eco, 1, ids[0]), d.SetReindexing(t.Context(), eco, ids[1])); err != nil {
		t.Fatal(err)
	}
	if _, err := d.SQL().Exec("UPDATE embed_models SET used_at = now() - interval '31 days'"); err != nil {
		t.Fatal(err)
	}
	if err := d.UseEmbedModel(t.Context(), ids[3]); err != nil {
		t.Fatal(err)
	}
	if n, err := d.DropEmbedModels(t.Context(), time.Now().AddDate(0, 0, -30)); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	for i, id := range ids {
		have, err := d.Embeddings(t.Context(), id, [][]byte{{1}})
		if err != nil || (len(have) == 1) != (i != 2) {
			t.Errorf("model %d has %d vectors, %v", i, len(have), err)
		}
	}
}

func TestALeaseHasOneHolder(t *testing.T) {
	d := dbtest.Open(t)
	lease := func(holder string, hold time.Duration, want bool) {
		t.Helper()
		if got, err := d.Lease(t.Context(), "work", holder, hold); got != want || err != nil {
			t.Errorf("%s: %v %v", holder, got, err)
		}
	}
	lease("a", time.Hour, true)
	lease("b", time.Hour, false)
	lease("a", -time.Second, true) // renewed, and at its end by now
	lease("b", time.Hour, true)
	lease("a", time.Hour, false)
	if err := errors.Join(d.EndLease(t.Context(), "work", "a"), d.EndLease(t.Context(), "work", "b")); err != nil {
		t.Fatal(err)
	}
	lease("a", time.Hour, true)
}
