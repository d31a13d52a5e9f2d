package app

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"storozh/core"
	"storozh/core/localllm"
	"storozh/core/localllm/llmtest"
)

// english is an embedder that knows no Russian: all Cyrillic texts get nearly the same vector, and the more letters, the nearer to each other.
func english(t *testing.T) func(text string) []float32 {
	return func(text string) []float32 {
		if !strings.ContainsFunc(text, func(r rune) bool { return r >= 'А' && r <= 'я' }) {
			v, err := localllm.NewFake().Embeddings(t.Context(), text)
			if err != nil {
				t.Error(err)
			}
			return v
		}
		v := make([]float32, 256)
		v[0], v[1] = 1, float32(len(text))/1e4
		return v
	}
}

// clash writes a corpus of Russian notes, of which one is denied by a new lesson that is as long as others.
func clash(e eco) {
	for i := range 12 {
		e.write(fmt.Sprintf("shield/lessons/n%02d.ru.md", i), fmt.Sprintf("# Заметка\n\nПорядок работ на участке %d определяет начальник смены.\n", 1000+i))
	}
	e.write("shield/lessons/shutters.ru.md", "# Ветер\n\nСтавни закрываем.\n")
	e.commit("shield")
	e.change("shield/lessons/open.ru.md", "# Окна и свет\n\nВ любой ветреный день окна и ставни остаются у нас открытыми настежь.\n")
}

const (
	shutters = "shield/lessons/shutters.ru.md"
	opened   = "shield/lessons/open.ru.md"
)

// An item that the embedding puts far away is brought by a rare word that unit and item share, beside the k nearest.
func TestAClashThatTheEmbeddingMissesIsFoundByWords(t *testing.T) {
	for _, off := range []bool{false, true} {
		t.Run(fmt.Sprintf("off %v", off), func(t *testing.T) {
			e := newEco(t)
			clash(e)
			model := llmtest.Start(t, func(f *llmtest.Faults) {
				f.Embedder = english(t)
				f.Answer = rules(map[string]core.Label{"настежь | Ставни закрываем": core.Contra})
			})
			a := newApp(t, e, model, func(c *Config) { c.NoWords = off })
			_, units := runEco(t, a, e, "s")
			u := unitNamed(t, units, opened)
			p, found := pairWith(u, shutters)
			if off {
				if found || len(u.Pairs) != 5 || u.Flag.Semantic != core.OK {
					t.Errorf("%v, %d pairs, %+v", found, len(u.Pairs), u.Flag)
				}
				return
			}
			if !found || !p.Words || p.Rank != 6 || p.Similarity >= u.Pairs[4].Similarity || p.Similarity < .5 {
				t.Fatalf("%v %+v", found, p)
			}
			if len(u.Pairs) != 6 || slices.ContainsFunc(u.Pairs[:5], func(p core.Pair) bool { return p.Words }) {
				t.Errorf("%+v", u.Pairs)
			}
			if u.Flag.Semantic != core.Contra || !slices.Equal(u.Flag.Against, []string{shutters}) {
				t.Errorf("%+v", u.Flag)
			}
			if n := model.Counts().Completions; n != 6+1 {
				t.Errorf("%d questions for 6 pairs, one of them flagged", n)
			}
			if body := visit(t, serveWeb(t, a), "owner-token-of-the-test").open("/api/manifests/1").body; strings.Count(body, `"words":true`) != 1 {
				t.Errorf("the API tells of %d pairs that they were found by words", strings.Count(body, `"words":true`))
			}
			runEco(t, again(t, a), e, "s2")
			if n := model.Counts().Completions; n != 6+1 {
				t.Errorf("%d questions in all, after the same work came again", n)
			}
		})
	}
}

// What the unit itself edits, and what goes with the manifest, is not brought by words either.
func TestWordsBringNothingThatGoesWithTheManifest(t *testing.T) {
	e := newEco(t)
	clash(e)
	e.git("shield", "rm", "-q", "--", "lessons/shutters.ru.md")
	model := llmtest.Start(t, func(f *llmtest.Faults) { f.Embedder, f.Answer = english(t), rules(nil) })
	_, units := runEco(t, newApp(t, e, model, nil), e, "s")
	u := unitNamed(t, units, opened)
	if p, found := pairWith(u, shutters); found && !p.Resolved {
		t.Errorf("%+v", p)
	}
	for _, p := range u.Pairs {
		if p.Words {
			t.Errorf("%+v", p)
		}
	}
}
