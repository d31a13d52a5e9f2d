package db_test

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"storozh/core"
	"storozh/db/dbtest"
)

func TestEachItemHandsOutWhatWordsAreSearchedIn(t *testing.T) {
	d := dbtest.Open(t)
	long := item(2, strings.Repeat("долго ", 2000))
	save(t, d, "c0ffee", long, item(1, "one"))
	got := map[string]string{}
	var order []string
	err := d.EachItem(t.Context(), "/eco/shield", func(id, title, normative string) {
		order, got[id] = append(order, id), normative
		if utf8.RuneCountInString(normative) > 4000 || !utf8.ValidString(normative) {
			t.Errorf("%s: %d characters", id, utf8.RuneCountInString(normative))
		}
	})
	if err != nil || len(got) != 2 || order[0] != item(1, "one").ID || got[order[0]] != item(1, "one").Normative {
		t.Errorf("%v %v", order, err)
	}
	if err := d.EachItem(t.Context(), "elsewhere", func(id, _, _ string) { t.Errorf("%s is of another corpus", id) }); err != nil {
		t.Error(err)
	}
}

func TestSimilaritiesAreTheCosinesOfGivenPairs(t *testing.T) {
	d := dbtest.Open(t)
	one, two, bare := item(1, "one"), item(2, "two"), item(3, "without a vector")
	save(t, d, "c0ffee", one, two, bare)
	model, err := d.AddEmbedModel(t.Context(), "m", "", 2)
	if err != nil {
		t.Fatal(err)
	}
	unit := []byte("the unit's hash")
	if err := d.SaveEmbeddings(t.Context(), model, [][]byte{hashOf(one), hashOf(two), unit}, [][]float32{{1, 0}, {0, 2}, {3, 4}}); err != nil {
		t.Fatal(err)
	}
	got, err := d.Similarities(t.Context(), "/eco/shield", model, [][]byte{unit, unit, unit, []byte("unknown"), unit, unit},
		[]string{two.ID, one.ID, bare.ID, one.ID, "", "shield/nowhere.md"})
	if err != nil || len(got) != 6 {
		t.Fatalf("%v %v", got, err)
	}
	for i, want := range []core.Near{{Item: two.ID, Similarity: .8}, {Item: one.ID, Similarity: .6}, {}, {}, {}, {}} {
		if got[i].Item != want.Item || math.Abs(got[i].Similarity-want.Similarity) > 1e-6 {
			t.Errorf("%d: %+v, want %+v", i, got[i], want)
		}
	}
	if got, err := d.Similarities(t.Context(), "elsewhere", model, [][]byte{unit}, []string{one.ID}); err != nil || got[0].Item != "" {
		t.Errorf("another folder's corpus: %v %v", got, err)
	}
}
