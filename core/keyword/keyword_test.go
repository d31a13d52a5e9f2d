package keyword

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func found(x *Index, question string, n int) []int {
	out := []int{}
	for _, h := range x.Nearest(question, n) {
		out = append(out, h.Text)
	}
	return out
}

func TestRareSharedWordsCountMost(t *testing.T) {
	t.Parallel()
	x := New([]string{
		"The report is written on Friday.", "The report is read by the owner.", "The greenhouse is watered on Friday.",
		"Показания счётчиков снимаем первого числа.", "", strings.Repeat("The report is long. ", 50) + "Watering is named once.",
	})
	for question, want := range map[string][]int{
		"Who waters the greenhouses?":    {2, 5, 1, 0},
		"ПОКАЗАНИЯ СЧЕТЧИКОВ":            {3},
		"nothing of it":                  {},
		"":                               {},
		"report":                         {5, 0, 1},
		"Friday, friday!\x00\xff friday": {0, 2},
	} {
		got := found(x, question, 4)
		if question == "report" || question == "Who waters the greenhouses?" {
			slices.Sort(got[1:])
			slices.Sort(want[1:])
			if question == "report" {
				slices.Sort(got)
				slices.Sort(want)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", question, diff)
		}
	}
	texts := []string{"a river and a bridge", "the bridge", "Мост и река", ""}
	for _, q := range []string{"bridges", "река", "nothing"} {
		b := For("something else", q)
		for _, text := range texts {
			b.Add(text)
		}
		if diff := cmp.Diff(New(texts).Nearest(q, 9), b.Index().Nearest(q, 9)); diff != "" {
			t.Errorf("%q: %s", q, diff)
		}
	}
	if got := found(x, "Friday", 1); !slices.Equal(got, []int{0}) {
		t.Errorf("of equals the first: %v", got)
	}
	if got := New(nil).Nearest("word", 3); len(got) != 0 {
		t.Errorf("in nothing: %v", got)
	}
}

func TestTheBestSharesATellingWord(t *testing.T) {
	t.Parallel()
	texts := []string{"the owner of the cache", "the cache and the disk"}
	for range 98 {
		texts = append(texts, "the owner of the line")
	}
	x := New(texts)
	none := func(int) bool { return false }
	if got, ok := x.Best("the owner clears the cache", none); !ok || got != 0 {
		t.Errorf("%d %v", got, ok)
	}
	if got, ok := x.Best("the owner clears the cache", func(i int) bool { return i == 0 }); !ok || got != 1 {
		t.Errorf("%d %v", got, ok)
	}
	for _, q := range []string{"the owner of it", "nothing", ""} {
		if got, ok := x.Best(q, none); ok {
			t.Errorf("%q brings %q by words that most texts hold", q, texts[got])
		}
	}
	for n, want := range map[int]bool{9: false, 10: true} {
		if _, ok := New(texts[:n]).Best("the disk is full", none); ok != want {
			t.Errorf("in %d texts: %v", n, ok)
		}
	}
}

// A word that a text repeats a thousand times outweighs no two different ones.
func TestRepetitionDoesNotWin(t *testing.T) {
	t.Parallel()
	x := New([]string{strings.Repeat("backup ", 1000), "backup restore", "garden", "river"})
	if got := found(x, "backup restore", 2); !slices.Equal(got, []int{1, 0}) {
		t.Errorf("got %v", got)
	}
}

func TestLongQuestionsAreBounded(t *testing.T) {
	t.Parallel()
	x := New([]string{strings.Repeat("слово ", 100_000), "конец"})
	if got := found(x, strings.Repeat("слово ", 100_000)+"конец", 5); !slices.Equal(got, []int{0}) {
		t.Errorf("got %v", got) // the end lies behind what is looked at
	}
}
