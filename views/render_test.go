package views

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/a-h/templ"

	"storozh/core"
)

var testPage = Page{Signed: core.Owner, CSRF: "csrf-of-the-test", Now: time.Date(2026, 5, 21, 14, 3, 0, 0, time.UTC)}

func html(t *testing.T, c templ.Component) string {
	t.Helper()
	var b strings.Builder
	if err := c.Render(context.Background(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// has checks what a page must and must not hold.
func has(t *testing.T, page string, want, not []string) {
	t.Helper()
	for _, s := range want {
		if !strings.Contains(page, s) {
			t.Errorf("the page lacks %q", s)
		}
	}
	for _, s := range not {
		if strings.Contains(page, s) {
			t.Errorf("the page holds %q", s)
		}
	}
}

func result(id string, l core.Label, pairs ...core.Pair) core.UnitResult {
	repo, path, _ := strings.Cut(id, "/")
	return core.UnitResult{
		Unit: core.Unit{ID: id, Observed: repo, Repo: repo, Path: path, Type: core.Lesson, Action: core.Added, Text: "text of " + path},
		Flag: core.Flag{Unit: id, Routing: core.RoutingOK, ObservedRepo: repo, ExpectedRepo: core.Shield, Semantic: l}, Pairs: pairs,
	}
}

func done(b core.Block) core.Record {
	return core.Record{ID: 7, SessionID: "s", BLUF: core.BLUF(b), Run: core.Run{ID: 70, Status: core.Done, Block: &b}}
}

func review(t *testing.T, in ReviewInput) string {
	t.Helper()
	return html(t, ReviewPage(NewReview(testPage, in)))
}

func TestReviewStatesBeforeThereAreFlags(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		run       core.Run
		want, not []string
	}{
		"queued":    {core.Run{Status: core.Queued}, []string{">queued<", "Refresh", "data-progress"}, []string{"Judge again</button>"}},
		"running":   {core.Run{ID: 3, Status: core.Running, Progress: core.Progress{Done: 3, Of: 12}}, []string{"running: 3 of 12 pairs judged", `data-run="3"`, `max="12"`}, []string{"Judge again</button>"}},
		"failed":    {core.Run{Status: core.Failed, Error: "the disk is full."}, []string{"failed: the disk is full.", "Judge again</button>"}, []string{"data-progress="}},
		"cancelled": {core.Run{Status: core.Cancelled}, []string{"The run was cancelled", "Judge again</button>"}, []string{"data-progress="}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			has(t, review(t, ReviewInput{Record: core.Record{ID: 7, Run: tc.run}}), append(tc.want, "<h1"), append(tc.not, "No unit", `aria-label="Filter units"`))
		})
	}
}

func TestReviewExplainsEverySkip(t *testing.T) {
	t.Parallel()
	for check, want := range map[string]string{
		core.SkippedNoKnowledge:                       "there is nothing to do",
		core.SkippedUnreachable:                       "Start the local model",
		core.SkippedNoEmbedding:                       "STOROZH_EMBED_MODEL",
		core.SkippedNoCorpus:                          "STOROZH_SHIELD_DIR",
		"incomplete (2 of 9 pairs unjudged: timeout)": "The check is incomplete: 2 of 9 pairs unjudged: timeout",
		"something new":                               "contra-check: something new",
	} {
		has(t, review(t, ReviewInput{Record: done(core.Block{ContraCheck: check, Summary: core.Summary{Units: 1}})}), []string{want}, nil)
	}
	has(t, review(t, ReviewInput{Record: done(core.Block{ContraCheck: core.ContraRan})}), []string{"no units", "This changeset holds no unit"}, []string{`class="notices"`})
}

func TestReviewTellsTheUrgentApart(t *testing.T) {
	t.Parallel()
	lane := result("neuro-matrix/lessons/lane.md", core.OK)
	lane.Flag.Routing, lane.Flag.Severity = core.Misroute, core.CrossLane
	near := result("darwin/lessons/near.md", core.OK)
	near.Flag.Routing = core.Misroute
	late := result("shield/lessons/late.md", "", core.Pair{Item: "shield/x", Unjudged: "timeout"})
	late.Unjudged = true
	in := ReviewInput{Record: done(core.Block{ContraCheck: core.ContraRan, Summary: core.Summary{Units: 6}}), Units: []core.UnitResult{
		lane, result("shield/lessons/clash.md", core.Contra), near, result("shield/lessons/twin.md", core.Dup), late, result("shield/lessons/fine.md", core.OK),
	}}
	page := review(t, in)
	has(t, page, []string{"misroute, cross-lane", "<strong>shield</strong>: that is where the policy sends a lesson, and it is in the other lane", "unjudged: timeout"}, nil)
	if strings.Index(page, `<details class="unit quiet"`) < strings.Index(page, "late.md</bdi></a></h3>") {
		t.Error("a quiet unit stands before one that is unjudged")
	}
}

func TestReviewFilters(t *testing.T) {
	t.Parallel()
	counts := map[string]int{core.ShowAll: 4, core.ShowFlagged: 3, core.ShowContra: 2, core.ShowDup: 1, core.ShowOK: 1}
	for _, show := range append(core.UnitFilters(), "", "<script>") {
		m := NewReview(testPage, ReviewInput{Record: done(core.Block{}), Counts: counts, Show: show, Find: "the words"})
		current := ""
		for _, f := range m.Filters {
			if f.Current {
				current += f.URL
			}
			if name := strings.Replace(f.Name, "to decide", core.ShowOpen, 1); f.Count != counts[name] {
				t.Errorf("%s: %d, want %d", f.Name, f.Count, counts[name])
			}
		}
		want := "/manifests/7?q=the+words"
		if m.Show != "" {
			want += "&show=" + show
		}
		if current != want {
			t.Errorf("show=%s: the current filter is %q, want %q", show, current, want)
		}
	}
	units := []core.UnitResult{result("shield/c", core.Contra)}
	one := NewReview(testPage, ReviewInput{Record: done(core.Block{}), Units: units, Unit: "shield/c"})
	if len(one.Units) != 1 || !one.One || !one.Units[0].Open {
		t.Errorf("one unit: %+v", one.Units)
	}
	has(t, review(t, ReviewInput{Record: done(core.Block{ContraCheck: core.ContraRan}), Counts: counts, Unit: "shield/gone"}), []string{"No unit here"}, nil)
}

// Behind the first page of a queue the way back leads to the first page of that queue.
func TestPagesOfAQueueLeadBackToIt(t *testing.T) {
	t.Parallel()
	for queue, want := range map[core.Queue]string{"": `<a href="/">`, core.QueueDisagree: `<a href="/?queue=disagree">`} {
		for _, records := range [][]core.Record{nil, {done(core.Block{})}} {
			page := html(t, InboxPage(NewInbox(testPage, InboxInput{Records: records, After: "9", Queue: queue})))
			for _, word := range []string{"Newest</a>", "Back to the newest</a>"} {
				if strings.Contains(page, word) && !strings.Contains(page, want+word) {
					t.Errorf("queue %q, %d records: %q leads elsewhere", queue, len(records), word)
				}
			}
			if !strings.Contains(page, want+"Newest</a>") {
				t.Errorf("queue %q, %d records: no way back", queue, len(records))
			}
		}
	}
}

// The heading over the neighbours tells items of the corpus from other units of the changeset.
func TestNeighboursAreCountedByKind(t *testing.T) {
	t.Parallel()
	item, sibling := core.Pair{Item: "shield/a", Label: core.OK}, core.Pair{Item: core.SiblingPrefix + "shield/b", Label: core.OK}
	for want, pairs := range map[string][]core.Pair{
		"Nearest in the corpus (2)<": {item, item}, "In the same changeset (1)<": {sibling},
		"Nearest in the corpus (1) and in the same changeset (2)<": {item, sibling, sibling},
	} {
		has(t, review(t, ReviewInput{Record: done(core.Block{}), Units: []core.UnitResult{result("shield/c", core.Contra, pairs...)}}), []string{want}, nil)
	}
}

// However many flags the cosigners differ on, all are counted; the first hundred are listed.
func TestStandingCountsEveryDisagreement(t *testing.T) {
	t.Parallel()
	in := ReviewInput{Record: done(core.Block{ContraCheck: core.ContraRan})}
	for i := range listLimit + 30 {
		f := core.FlagBasis{UnitID: fmt.Sprintf("shield/%03d", i), Basis: core.Basis{Flag: core.FlagSemantic, Label: "contra"}}
		in.Flags = append(in.Flags, FlagInput{Flag: f, OtherDecided: true, Mine: &core.Decision{By: core.Owner, Choice: core.Fix}, Theirs: &core.Decision{By: core.Claude, Choice: core.Land}})
	}
	page := review(t, in)
	has(t, page, []string{"differ on 130 flags", "and 30 more"}, nil)
	if n := strings.Count(page, "you disagree"); n != listLimit {
		t.Errorf("%d listed", n)
	}
	has(t, page, []string{"<details><summary>You disagree on 130 flags</summary>"}, nil) // a hundred lines would push the units out of sight
	in.Flags = in.Flags[:differShown]
	has(t, review(t, in), []string{"differ on 5 flags", "you disagree"}, []string{"You disagree on"})
}

// A search that finds nothing says nothing about the changeset, and a long one is looked for as it stands in the field.
func TestReviewSearch(t *testing.T) {
	t.Parallel()
	in := ReviewInput{Record: done(core.Block{ContraCheck: core.ContraRan}), Counts: map[string]int{}, Find: "nowhere"}
	has(t, review(t, in), []string{"No unit here holds these words.", `value="nowhere"`}, []string{"This changeset holds no unit"})
	in.Find = ""
	has(t, review(t, in), []string{"This changeset holds no unit"}, []string{"these words"})
	in.Find = strings.Repeat("я", 150)
	want := strings.Repeat("я", 100)
	if got := UnitQuery(in.Record, core.Owner, "", in.Find, "", 0).Find; got != want {
		t.Errorf("looked for: %s", got)
	}
	has(t, review(t, in), []string{`value="` + want + `"`}, []string{"…"})
}

func TestReviewListsWhatWasNotChecked(t *testing.T) {
	t.Parallel()
	b := core.Block{ContraCheck: core.ContraRan, Summary: core.Summary{Units: 1, OK: 1}, NotInDiff: []string{"shield/lessons/new.md"},
		Unclassified: []string{"mirabilis/NOTES"}, Warnings: []string{"repos[1].diff: cut off"}, Resolved: []core.Resolved{{Unit: "shield/u", Item: "shield/i"}}}
	has(t, review(t, ReviewInput{Record: done(b), AddCommands: []string{"git -C '/eco/my shield' add -N -- lessons/new.md"}}), []string{
		"1 file not in the diff, not checked", "git -C &#39;/eco/my shield&#39; add -N -- lessons/new.md", "shield/lessons/new.md",
		"1 file unclassified", "mirabilis/NOTES", "repos[1].diff: cut off", "shield/u clashed with shield/i"}, nil)
}

// V1 and V2: hostile text stays text, and what is invisible is shown.
func TestHostileTextIsHarmlessAndVisible(t *testing.T) {
	t.Parallel()
	u := result("shield/lessons/tri\u202egnp.md", core.Contra, core.Pair{Item: "shield/x\u200b", ItemText: "a\u2066b", Label: core.Contra, Note: "<img src=x onerror=1>"})
	u.Unit.Text = "if role != \"admin\u202e \u2066// check\u2069\" {\n[fix](javascript&#58;alert(1)) <script>alert(1)</script> \xff \x00 Обычный текст"
	u.Unit.Diff = "@@ -1 +1 @@\n+admin\u202e"
	page := review(t, ReviewInput{Record: done(core.Block{ContraCheck: core.ContraRan, Summary: core.Summary{Units: 1, Contra: 1}}), Units: []core.UnitResult{u}})
	has(t, page, []string{
		`admin<span class="cp">U+202E</span> <span class="cp">U+2066</span>// check<span class="cp">U+2069</span>`, `tri<span class="cp">U+202E</span>gnp.md`,
		`x<span class="cp">U+200B</span>`, `<td class="a">+<td class="a"><span class="badge b-hidden" title="marked with their code points">hidden characters</span> admin<span class="cp">U+202E</span>`, `<span class="cp">0xFF</span>`, `<span class="cp">U+0000</span>`,
		"hidden characters", "Обычный текст",
	}, []string{"<script>alert", "<img src=x", `href="javascript`, "\u202e", "\u2066", "\u200b", "\x00"})
	if strings.Contains(page, " style=") || strings.Contains(page, " onclick=") {
		t.Error("the page needs what the content security policy forbids")
	}
	has(t, review(t, ReviewInput{Record: done(core.Block{ContraCheck: core.ContraRan}), Units: []core.UnitResult{result("shield/план.md", core.OK)}}), []string{"план.md"}, []string{"hidden characters", `class="cp"`})
}

// V3: a huge line and a huge diff leave the page small and are one click away.
func TestHugeTextsAreCut(t *testing.T) {
	t.Parallel()
	u := result("shield/lessons/huge.md", core.Contra, core.Pair{Item: "shield/big", Label: core.Contra, ItemText: strings.Repeat("ж", 500_000)})
	u.Unit.Text, u.Unit.Diff = strings.Repeat("x", 900_000), strings.Repeat("+a line of a diff\n", 20_000)
	page := review(t, ReviewInput{Record: done(core.Block{ContraCheck: core.ContraRan, Summary: core.Summary{Units: 1, Contra: 1}}), Units: []core.UnitResult{u}})
	if len(page) > 60_000 {
		t.Errorf("the page has %d bytes", len(page))
	}
	has(t, page, []string{"896 kB left out", "/manifests/7/text?part=unit&amp;unit=shield%2Flessons%2Fhuge.md", "the beginning of 360 kB", "part=diff", "item=shield%2Fbig&amp;part=item"}, []string{"\ufffd"})
}

// 500 units with 1,500 pairs, texts that grow when they are escaped: below 1 MB, and every unit is there.
func TestLongPagesStayBelowOneMegabyte(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"short": "A rule.", "middling": strings.Repeat("A rule & its reason. ", 40), "growing": strings.Repeat("<>&\"'", 800)} {
		var units []core.UnitResult
		for i := range 500 {
			p := core.Pair{Item: fmt.Sprintf("shield/lessons/neighbour-of-%03d.md#the-part-that-matters", i), ItemText: text, Note: "they differ", Label: core.Contra}
			u := result(fmt.Sprintf("shield/lessons/a-rather-long-folder/lesson-number-%03d.md#part", i), core.Contra, p, p, p)
			u.Unit.Text = text
			u.Unit.Diff = "@@ -1 +1 @@\n+" + text
			units = append(units, u)
		}
		page := review(t, ReviewInput{Record: done(core.Block{ContraCheck: core.ContraRan, Summary: core.Summary{Units: 500, Contra: 500}}), Units: units})
		if len(page) > 1_000_000 {
			t.Errorf("%s: the page has %d bytes", name, len(page))
		}
		if n := strings.Count(page, `id="unit-`); n != 500 {
			t.Errorf("%s: %d units on the page", name, n)
		}
		has(t, page, []string{"are one line each"}, nil)
	}
}

func TestInboxStates(t *testing.T) {
	t.Parallel()
	empty := html(t, InboxPage(NewInbox(testPage, InboxInput{Webhook: "http://h/webhooks/mirabilis", Sample: true, System: core.System{ManifestPath: "/m.json", Watching: true}})))
	has(t, empty, []string{"No manifest yet", "POST http://h/webhooks/mirabilis", "from the watched file", "/m.json", "Run the sample"}, nil)
	b := core.Block{ContraCheck: core.ContraRan, Summary: core.Summary{Units: 3, Misroute: 1, Dup: 1, OK: 1}, Flags: []core.Flag{{ObservedRepo: "darwin"}}}
	full := html(t, InboxPage(NewInbox(testPage, InboxInput{Records: []core.Record{done(b), {ID: 8, Run: core.Run{Status: core.Failed, Error: "no <room>"}}},
		Superseded: map[int64][]core.Record{7: {done(b)}}, Next: "a b", System: core.System{LLM: core.LLMState{URL: "http://x"}}})))
	has(t, full, []string{"3 units: 1 misroute, 1 dup", "1 misroute", "darwin", "1 earlier manifest of this session", "failed: no &lt;room&gt;", "/?after=a+b", "localllm does not answer"}, []string{"No manifest yet"})
}

func TestStatusNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	page := html(t, StatusPage(NewStatus(testPage, core.System{LLM: core.LLMState{URL: "http://127.0.0.1:1234/v1", Detail: "connection refused"},
		Corpus: core.CorpusState{Commit: "4f2a91c07be3d1", Items: 8, Stale: true, Faults: []core.Fault{{Path: "claims/a.ttl", Line: 41, What: "a string is not closed"}}}, PolicySource: "built-in copy: not found"})))
	has(t, page, []string{"unreachable", "connection refused", "stale", "claims/a.ttl:41", "a string is not closed", "built-in copy"}, nil)
}
