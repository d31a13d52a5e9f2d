package db_test

import (
	"strings"
	"testing"
	"unicode/utf8"

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
