package views

import (
	"fmt"
	"strings"
	"testing"

	"storozh/core"
)

// The page of a manifest with 500 units and 1,500 pairs, in the three shapes that cost most: everything flagged, everything quiet, and
// Russian texts that differ in a few words.
func BenchmarkReviewPage(b *testing.B) {
	russian := strings.Repeat("Правило: часы сервера идут по UTC, а отчёты (см. `план.md`) — по местному времени. ", 6)
	for name, label := range map[string]core.Label{"flagged": core.Contra, "quiet": core.OK} {
		in := manyUnits(500, russian, label)
		b.Run(name, func(b *testing.B) {
			size := 0
			for b.Loop() {
				var page strings.Builder
				if err := ReviewPage(NewReview(testPage, in)).Render(b.Context(), &page); err != nil {
					b.Fatal(err)
				}
				size = page.Len()
			}
			b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/page")
			b.ReportMetric(float64(size), "bytes")
		})
	}
}

// manyUnits is a manifest of n units with three neighbours each.
func manyUnits(n int, text string, label core.Label) ReviewInput {
	in := ReviewInput{Record: done(core.Block{ContraCheck: core.ContraRan, Summary: core.Summary{Units: n}})}
	for i := range n {
		var pairs []core.Pair
		for k := range 3 {
			pairs = append(pairs, core.Pair{Item: fmt.Sprintf("shield/lessons/neighbour-%03d.md#часть-%d", i, k), ItemText: strings.ReplaceAll(text, "UTC", fmt.Sprint("зоне ", k)),
				Similarity: 0.8, Label: label, Note: "они расходятся", Judge: "some-model", Prompt: "v3"})
		}
		u := result(fmt.Sprintf("shield/lessons/a-rather-long-folder/lesson-number-%03d.md#part", i), label, pairs...)
		u.Unit.Text = text
		u.Unit.Diff = "diff --git a/x b/x\n@@ -1,2 +1,3 @@\n context\n-old\n+new\n+" + text
		in.Units = append(in.Units, u)
	}
	return in
}

// A page of a changeset of 20,000 units leads to the pages beside it, under the filter and the search in use.
func TestPagesOfUnits(t *testing.T) {
	t.Parallel()
	in := manyUnits(UnitsOnPage, "A rule.", core.OK)
	in.Counts = map[string]int{core.ShowAll: 20_000, core.ShowOK: 450}
	has(t, review(t, in), []string{"Units 1 to 100 of 20000", `href="/manifests/7?from=100" rel="next"`, `data-at="/manifests/7?at="`}, []string{`rel="prev"`})
	in.From, in.Show, in.Find, in.Diff = 100, core.ShowOK, "rule ", "unified"
	has(t, review(t, in), []string{"Units 101 to 200 of 450", `href="/manifests/7?from=200&amp;q=rule&amp;show=ok" rel="next"`, `href="/manifests/7?q=rule&amp;show=ok" rel="prev"`,
		"/manifests/7?diff=split&amp;from=100&amp;q=rule&amp;show=ok#"}, nil)
	in.From, in.Units = 400, in.Units[:50]
	has(t, review(t, in), []string{"Units 401 to 450 of 450", `rel="prev"`}, []string{`rel="next"`})
	in.Unit, in.Units = in.Units[0].Unit.ID, in.Units[:1]
	has(t, review(t, in), nil, []string{"Pages of units"})
}
