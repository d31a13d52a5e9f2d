package app

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"storozh/core"
	"storozh/core/localllm"
	"storozh/core/localllm/llmtest"
	"storozh/db"
	"storozh/db/dbtest"
)

// trendsAnswer is what a client reads of GET /api/trends.
type trendsAnswer struct {
	Series []struct {
		Repo, Bucket                               string
		Units, Misroute, Contra, Dup, OK, Unjudged int
	}
	Events []struct{ Kind, Before, After string }
}

// seedWeeks runs five weeks of sessions of two stops each; from the fourth week on another judge answers.
func seedWeeks(t *testing.T, e eco, model *llmtest.Server, zone *time.Location) *App {
	t.Helper()
	names := func(judge string) func(*llmtest.Faults) {
		return func(f *llmtest.Faults) {
			f.Answer, f.Models = rules(workdayRules), []string{localllm.FakeEmbedModel, judge}
		}
	}
	model.Set(names("judge-a"))
	a := newApp(t, e, model, func(c *Config) { c.Zone = zone })
	if err := a.db.SetTrendZone(t.Context(), a.zone()); err != nil {
		t.Fatal(err)
	}
	for week := range 5 {
		if week == 3 {
			model.Set(names("judge-b"))
		}
		workday(e)
		e.change(fmt.Sprintf("shield/lessons/week-%d.md", week), fmt.Sprintf("# Week %d\n\nThe week with number %d was calm.\n", week, week))
		stamp := time.Date(2026, 3, 9+7*week, 23, 10, 0, 0, time.UTC) // already the next day in Kathmandu
		runRaw(t, a, e.manifest(fmt.Sprint("session ", week), stamp.Format(time.RFC3339)))
		e.change(fmt.Sprintf("neuro-matrix/skills/skill-%d.md", week), "---\ntype: skill\n---\nAlways greet first.\n")
		runRaw(t, a, e.manifest(fmt.Sprint("session ", week), stamp.Add(30*time.Minute).Format(time.RFC3339)))
	}
	return a
}

// plainSQL counts by design §4, straight from what the runs left, per repo and local day.
const plainSQL = `
	SELECT repo, to_char(day, 'YYYY-MM-DD') AS bucket, count(*) AS units, count(*) FILTER (WHERE routing = 'misroute') AS misroute,
		count(*) FILTER (WHERE semantic = 'contra') AS contra, count(*) FILTER (WHERE semantic = 'dup') AS dup,
		count(*) FILTER (WHERE routing = 'ok' AND NOT unjudged AND semantic IN ('', 'ok')) AS ok, count(*) FILTER (WHERE unjudged) AS unjudged
	FROM (SELECT DISTINCT ON (m.session_id, u.unit, u.title, u.normative, CASE WHEN u.normative = '' THEN u.text || u.diff END) u.*,
			date_trunc('week', m.stamped_at AT TIME ZONE 'Asia/Kathmandu') AS day
		FROM units u JOIN runs r ON r.id = u.run_id JOIN manifests m ON m.id = r.manifest_id WHERE r.status = 'done' AND NOT r.demo
		ORDER BY m.session_id, u.unit, u.title, u.normative, CASE WHEN u.normative = '' THEN u.text || u.diff END, r.finished_at DESC) x
	GROUP BY 1, 2 ORDER BY 1, 2`

func TestWeeksOfRunsAreCountedAndSurviveExportAndImport(t *testing.T) {
	zone, err := time.LoadLocation("Asia/Kathmandu")
	if err != nil {
		t.Fatal(err)
	}
	paths := []string{
		"/trends?from=2026-03-01&to=2026-04-30&by=week", "/trends.csv?from=2026-03-01&to=2026-04-30&by=day", "/trends?repo=shield&from=2026-03-01&to=2026-04-30&by=month",
		"/search?q=friday", "/search?label=contra", "/corpus", "/manifests/1", "/manifests/10", "/items/shield/invariants/core.txt%231", "/",
	}
	var export bytes.Buffer
	want := map[string]string{}
	var r reader
	e := newEco(t)
	t.Run("before", func(t *testing.T) {
		model := llmtest.Start(t)
		a := seedWeeks(t, e, model, zone)
		base := serveWeb(t, a)
		var got trendsAnswer
		if code := call(t, "GET", base+"/api/trends?from=2026-03-01&to=2026-04-30&by=week", a.cfg.OwnerToken, nil, &got); code != http.StatusOK {
			t.Fatal(code)
		}
		checkPlain(t, a.db, got)
		var judges []string
		for _, ev := range got.Events {
			if ev.Kind == "judge-model" {
				judges = append(judges, ev.Before+" → "+ev.After)
			}
		}
		if diff := cmp.Diff([]string{"judge-a → judge-b"}, judges); diff != "" {
			t.Error(diff)
		}
		r = signIn(t, base, a.cfg.OwnerToken)
		for _, p := range paths {
			want[p] = sameBut(t, r, base, p)
		}
		checkPage(t, got, want[paths[0]])
		if _, err := a.Export(t.Context(), &export); err != nil {
			t.Fatal(err)
		}
	})
	d := dbtest.Open(t) // empties it
	if n, err := d.Import(t.Context(), &export); err != nil || n == 0 {
		t.Fatalf("%d rows, %v", n, err)
	}
	a := startApp(t, Config{Version: "test", Addr: "127.0.0.1:0", DataDir: t.TempDir(), Demo: false, Zone: zone, Ecosystem: e.dir,
		ShieldDir: e.dir + "/shield", PolicyPath: e.dir + "/darwin/genome/registry-new.md", LLM: localllm.Config{BaseURL: "http://127.0.0.1:1/v1", MaxRetries: -1},
		WebhookSecrets: []string{testSecret}, OwnerToken: "owner-token-of-the-test", ClaudeToken: "claude-token-of-the-test"}, d)
	base := serveWeb(t, a)
	r = signIn(t, base, a.cfg.OwnerToken)
	for _, p := range paths {
		if diff := cmp.Diff(want[p], sameBut(t, r, base, p)); diff != "" {
			t.Errorf("%s is another page: %s", p, diff)
		}
	}
}

func checkPlain(t *testing.T, d *db.DB, got trendsAnswer) {
	t.Helper()
	rows, err := d.SQL().Query(plainSQL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	want := trendsAnswer{Events: got.Events}
	for rows.Next() {
		w := struct {
			Repo, Bucket                               string
			Units, Misroute, Contra, Dup, OK, Unjudged int
		}{}
		if err := rows.Scan(&w.Repo, &w.Bucket, &w.Units, &w.Misroute, &w.Contra, &w.Dup, &w.OK, &w.Unjudged); err != nil {
			t.Fatal(err)
		}
		want.Series = append(want.Series, w)
	}
	if rows.Err() != nil {
		t.Fatal(rows.Err())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(want.Series) < 8 {
		t.Errorf("only %d rows", len(want.Series))
	}
}

// checkPage finds the API's numbers in the drawing's names and in the table behind it.
func checkPage(t *testing.T, got trendsAnswer, page string) {
	t.Helper()
	type sum struct{ units, contra, dup, misroute int }
	weeks := map[string]sum{}
	for _, s := range got.Series {
		w := weeks[s.Bucket]
		weeks[s.Bucket] = sum{w.units + s.Units, w.contra + s.Contra, w.dup + s.Dup, w.misroute + s.Misroute}
	}
	for bucket, w := range weeks {
		at, err := time.Parse(time.DateOnly, bucket)
		if err != nil {
			t.Fatal(err)
		}
		if bar := fmt.Sprintf("from %s: %d contra of %d units", at.Format("2 Jan 2006"), w.contra, w.units); !strings.Contains(page, bar) {
			t.Errorf("the drawing lacks %q", bar)
		}
		if cells := fmt.Sprintf(`<th scope="row">%s</th><td>%d</td><td>%d</td><td>%d</td><td>%d</td>`, bucket, w.units, w.misroute, w.contra, w.dup); !strings.Contains(page, cells) {
			t.Errorf("the table lacks %q", cells)
		}
	}
	if !strings.Contains(page, "judge-b") || !strings.Contains(page, `id="change-1"`) {
		t.Error("the change of the model is not marked")
	}
}

var (
	passing = regexp.MustCompile(`just now|\d+ (min|h) ago`)
	hidden  = regexp.MustCompile(`name="_csrf" value="[^"]*"`)
	hosts   = regexp.MustCompile(`127\.0\.0\.1:\d+`)
	notice  = regexp.MustCompile(`(?s)<div class="notices">.*?</div>`)
)

// sameBut is a page without what passes with time, and what belongs to the reader or the process.
func sameBut(t *testing.T, r reader, base, path string) string {
	t.Helper()
	res, err := r.http.Get(base + path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %v %s", path, res.StatusCode, err, b)
	}
	page := hidden.ReplaceAllString(hosts.ReplaceAllString(passing.ReplaceAllString(string(b), "ago"), "host"), "csrf")
	return notice.ReplaceAllString(page, "")
}

func TestRetentionDropsBytesAndSaysSo(t *testing.T) {
	e := newEco(t)
	workday(e)
	model := llmtest.Start(t, func(f *llmtest.Faults) { f.Answer = rules(workdayRules) })
	a := newApp(t, e, model, func(c *Config) { c.KeepRaw = 90 * 24 * time.Hour })
	base := serveWeb(t, a)
	rec, _ := runEco(t, a, e, "s1")
	if _, err := a.db.SQL().Exec("UPDATE manifests SET received_at = now() - interval '91 days'"); err != nil {
		t.Fatal(err)
	}
	if n, err := a.db.DropRaw(t.Context(), time.Now().Add(-a.cfg.KeepRaw)); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	var problem struct{ Detail string }
	at := fmt.Sprintf("%s/api/manifests/%d", base, rec.ID)
	if code := call(t, "GET", at+"/manifest", a.cfg.OwnerToken, nil, &problem); code != http.StatusNotFound || !strings.Contains(problem.Detail, "STOROZH_KEEP_RAW") {
		t.Errorf("the bytes: %d %q", code, problem.Detail)
	}
	if code := call(t, "POST", at+"/runs", a.cfg.OwnerToken, []byte("{}"), &problem); code != http.StatusConflict || !strings.Contains(problem.Detail, "STOROZH_KEEP_RAW") {
		t.Errorf("judging again: %d %q", code, problem.Detail)
	}
	r := signIn(t, base, a.cfg.OwnerToken)
	if page := sameBut(t, r, base, fmt.Sprintf("/manifests/%d", rec.ID)); !strings.Contains(page, "Deploys on a Friday") {
		t.Error("the units are gone from the page")
	}
}

func TestWhatWouldStorozhSay(t *testing.T) {
	e := newEco(t)
	workday(e)
	model := llmtest.Start(t, func(f *llmtest.Faults) { f.Answer = rules(workdayRules) })
	a := newApp(t, e, model, nil)
	runEco(t, a, e, "s1") // reads and embeds the corpus
	before := model.Counts()
	s := shelf{a.db, a.guard, a.cfg.ShieldDir}
	pairs, err := s.Ask(t.Context(), "", "Deploys on a Friday are welcome at night.", false)
	if err != nil || len(pairs) != 5 || pairs[0].Label != "" || pairs[0].Similarity < pairs[4].Similarity {
		t.Fatalf("%+v %v", pairs, err)
	}
	if now := model.Counts(); now.Completions != before.Completions || now.Texts != before.Texts+1 {
		t.Errorf("asked for %+v, before %+v", now, before)
	}
	pairs, err = s.Ask(t.Context(), "", "Deploys on a Friday are welcome at night.", true)
	contra := 0
	for _, p := range pairs {
		if p.Label == core.Contra && p.Item == "shield/invariants/core.txt#1" {
			contra++
		}
	}
	if err != nil || contra != 1 {
		t.Errorf("%+v %v", pairs, err)
	}
	if n, err := a.db.Unfinished(t.Context()); n != 0 || err != nil {
		t.Errorf("asking left %d runs, %v", n, err)
	}
	view, err := s.CorpusView(t.Context())
	if err != nil || view.Kinds[core.KindInvariant] != 3 || len(view.Most) != 2 || view.Most[0].Contra != 1 {
		t.Errorf("%+v %v", view, err)
	}
	model.Set(func(f *llmtest.Faults) { f.Down = true })
	for text, want := range map[string]string{"": "invalid input", strings.Repeat("x", 30_000): "invalid input", "something new": "unavailable"} {
		if _, err := s.Ask(t.Context(), "", text, false); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.20q gave %v", text, err)
		}
	}
}

func TestExportOverTheControlSocket(t *testing.T) {
	e := newEco(t)
	a := newApp(t, e, nil, nil)
	runEco(t, a, e, "s1")
	ln, err := listenControl(a.cfg.DataDir)
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: controlHandler(a), ReadHeaderTimeout: time.Second}
	go func() { _ = srv.Serve(ln) }()
	t.Cleanup(func() { _ = srv.Close() })
	remote, ok := Dial(t.Context(), a.cfg.DataDir)
	if !ok {
		t.Fatal("nobody answers")
	}
	var out strings.Builder
	if _, err := remote.Export(t.Context(), &out); err != nil || !strings.HasSuffix(strings.TrimSpace(out.String()), "}") || !strings.Contains(out.String(), `"end":true`) {
		t.Errorf("%v: %.200s", err, out.String())
	}
	if _, err := Import(t.Context(), a.cfg, slog.Default(), func(string) {}, strings.NewReader("")); err == nil || !strings.Contains(err.Error(), "stop it first") {
		t.Errorf("import beside a running process: %v", err)
	}
}
