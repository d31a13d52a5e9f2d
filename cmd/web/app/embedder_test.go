package app

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"storozh/core"
	"storozh/core/eval"
	"storozh/core/localllm/llmtest"
)

const realEmbedName = "universal-sentence-encoder-lite"

// withRealVectors serves one base URL as a proxy in front of two servers would: vectors from the real embedding model at
// STOROZH_TEST_REAL_EMBED_URL (`.ci/embedder` starts one; in CI it must be there), everything else from judge.
func withRealVectors(t *testing.T, judge *llmtest.Server) string {
	t.Helper()
	base := os.Getenv("STOROZH_TEST_REAL_EMBED_URL")
	if base == "" {
		if os.Getenv("STOROZH_CI") == "1" {
			t.Fatal("STOROZH_TEST_REAL_EMBED_URL is not set: start .ci/embedder and set it to the URL it prints")
		}
		t.Skip("STOROZH_TEST_REAL_EMBED_URL is not set: .ci/embedder starts a real model and prints its URL")
	}
	mux := http.NewServeMux()
	for pattern, to := range map[string]string{"/": judge.URL, "/v1/embeddings": base} {
		u, err := url.Parse(to)
		if err != nil {
			t.Fatal(err)
		}
		u.Path = "" // both bases end in /v1, as the requests begin
		mux.Handle(pattern, httputil.NewSingleHostReverseProxy(u))
	}
	judge.Set(func(f *llmtest.Faults) { f.Models = []string{"a-judge", realEmbedName} })
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	return srv.URL + "/v1"
}

// englishStatements are the items of the labelled sets that are plain English sentences.
func englishStatements(t *testing.T) []string {
	t.Helper()
	clashes, err := eval.Clashes()
	if err != nil {
		t.Fatal(err)
	}
	set, err := eval.Load(eval.All)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	add := func(lang, text string) {
		if lang == "en" && !slices.Contains(out, text) && !strings.HasPrefix(text, "#") && !strings.Contains(text, "\n") {
			out = append(out, text)
		}
	}
	for _, c := range clashes {
		add(c.Lang, c.Item.Statement)
	}
	for _, p := range set.Pairs {
		add(p.Lang, p.Item.Statement)
	}
	if len(out) < 60 {
		t.Fatalf("only %d English statements", len(out))
	}
	return out
}

// stems are the beginnings of a text's words of four letters or more: what a search by words could go by.
func stems(text string) map[string]bool {
	out := map[string]bool{}
	for _, w := range regexp.MustCompile(`\pL{4,}`).FindAllString(strings.ToLower(text), -1) {
		out[w[:min(len(w), 4)]] = true
	}
	return out
}

// A new lesson denies an item of the corpus in other words. With the vectors of a real model the item is among its neighbours, so the judge is
// asked about it and the lesson is flagged, though the two have no word in common.
func TestARealEmbedderBringsWhatALessonDenies(t *testing.T) {
	denies := map[string]string{
		"Kids of five must buy a ticket.":              "Children under six ride for free.",
		"Specs call remote servers over the internet.": "Tests may not touch the network.",
		"Everybody can look up what colleagues earn.":  "Only finance sees salaries.",
	}
	judge := llmtest.Start(t)
	base := withRealVectors(t, judge)
	e := newEco(t)
	at := map[string]string{}
	for i, text := range englishStatements(t) {
		name := fmt.Sprintf("shield/memory/note-%02d.md", i)
		e.write(name, text+"\n")
		at[text] = name
	}
	e.commit("shield")
	rule := map[string]core.Label{}
	lessons := map[string]string{}
	for lesson, item := range denies {
		if at[item] == "" {
			t.Fatalf("%q is no item", item)
		}
		for s := range stems(lesson) {
			if stems(item)[s] {
				t.Fatalf("%q and %q share %q: the test would prove nothing", lesson, item, s)
			}
		}
		name := fmt.Sprintf("shield/lessons/new-%d.md", len(lessons))
		e.change(name, lesson+"\n")
		lessons[name], rule[lesson+" | "+item] = lesson, core.Contra
	}
	judge.Set(func(f *llmtest.Faults) { f.Answer = rules(rule) })
	a := newApp(t, e, judge, func(c *Config) { c.LLM.BaseURL, c.LLM.Timeout, c.NoSwap = base, 10*time.Minute, true })
	rec, units := runEco(t, a, e, "s")
	if rec.Run.Block.ContraCheck != "ran" || judge.Counts().Embeddings != 0 {
		t.Fatalf("%s; %d requests for vectors went to the judge's server", rec.Run.Block.ContraCheck, judge.Counts().Embeddings)
	}
	for name, lesson := range lessons {
		u, item := unitNamed(t, units, name), at[denies[lesson]]
		p, ok := pairWith(u, item)
		if !ok || u.Flag.Semantic != core.Contra || !slices.Equal(u.Flag.Against, []string{item}) {
			t.Errorf("%q is %s against %v, its neighbours are %v without %s (%q)", lesson, u.Flag.Semantic, u.Flag.Against, items(u), item, denies[lesson])
			continue
		}
		t.Logf("%q: the item it denies is %d. of %d neighbours", lesson, 1+slices.Index(items(u), item), len(items(u)))
		if p.Label != core.Contra {
			t.Errorf("%+v", p)
		}
	}
}
