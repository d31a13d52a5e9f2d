package app

import (
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"storozh/core"
	"storozh/core/blocktest"
	"storozh/core/localllm/llmtest"
	"storozh/core/manifest"
	"storozh/views"
)

// reader is a cosigner with a browser that runs no script.
type reader struct {
	t    *testing.T
	base string
	http *http.Client
}

func signIn(t *testing.T, base, token string) reader {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	r := reader{t: t, base: base, http: &http.Client{Jar: jar}}
	if status, _, body := r.post("/login", url.Values{"token": {token}}); status != http.StatusOK {
		t.Fatalf("signing in: %d %s", status, body)
	}
	return r
}

func (r reader) get(path string) string {
	r.t.Helper()
	res, err := r.http.Get(r.base + path)
	if err != nil {
		r.t.Fatal(err)
	}
	return r.read(res)
}

func (r reader) read(res *http.Response) string {
	r.t.Helper()
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return string(b)
}

// post sends a form and follows where it leads.
func (r reader) post(path string, v url.Values) (status int, at, body string) {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, r.base+path, strings.NewReader(v.Encode()))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	res, err := r.http.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	return res.StatusCode, res.Request.URL.String(), r.read(res)
}

// press fills a form of a flag's panel in, as it stands on the page, and sends it; class tells which form.
func (r reader) press(id string, k core.FlagKey, class string, fill ...string) string {
	r.t.Helper()
	_, panel, _ := strings.Cut(r.get("/manifests/"+id), `id="`+views.FlagDOM(k)+`"`)
	_, form, ok := strings.Cut(panel, `<form class="`+class+`"`)
	if !ok {
		r.t.Fatalf("%v: no form %s", k, class)
	}
	form, _, _ = strings.Cut(form, "</form>")
	v := url.Values{}
	for _, field := range strings.Split(form, `<input type="hidden" name="`)[1:] {
		name, rest, _ := strings.Cut(field, `" value="`)
		value, _, _ := strings.Cut(rest, `"`)
		v.Set(name, html.UnescapeString(value))
	}
	for i := 0; i+1 < len(fill); i += 2 {
		v.Set(fill[i], fill[i+1])
	}
	status, _, body := r.post("/manifests/"+id+"/decisions", v)
	if status != http.StatusOK {
		r.t.Fatalf("%v: %d %s", k, status, body)
	}
	return body
}

// reviewed is what a client reads of the decisions.
type reviewed struct {
	ID      json.Number `json:"id"`
	Queue   core.Queue  `json:"queue"`
	Storozh core.Block  `json:"storozh"`
	Units   []struct {
		Unit      string
		Decisions []struct{ By, Flag, Decision, Rationale string }
	} `json:"units"`
}

const ownerAPI, claudeAPI = "owner-token-of-the-test", "claude-token-of-the-test"

func fileReviews(t *testing.T, path string) []core.Review {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	blocktest.ValidateManifest(t, b)
	raw, ok := manifest.Extract(b)
	if !ok {
		t.Fatal("the file has no block")
	}
	var block core.Block
	if err := json.Unmarshal(raw, &block); err != nil {
		t.Fatal(err)
	}
	return block.Reviews
}

func TestTwoCosignersDecide(t *testing.T) {
	e := newEco(t)
	workday(e)
	model := llmtest.Start(t, func(f *llmtest.Faults) { f.Answer = rules(workdayRules) })
	a := newApp(t, e, model, nil)
	base := serveWeb(t, a)
	send := func(session, stamp string) (string, int64) {
		t.Helper()
		raw := e.manifest(session, stamp)
		writeFile(t, a.cfg.ManifestPath, raw)
		var got reviewed
		if code := call(t, "POST", base+"/webhooks/mirabilis?wait=60s", testSecret, raw, &got); code != http.StatusOK {
			t.Fatalf("webhook: %d", code)
		}
		n, _ := got.ID.Int64()
		if err := a.WaitWritten(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		return got.ID.String(), n
	}
	see := func(id, token string) (got reviewed) {
		t.Helper()
		call(t, "GET", base+"/api/manifests/"+id, token, nil, &got)
		return got
	}
	id, number := send("s1", "2026-05-01T12:00:00Z")
	fridays, merging, lines := "neuro-matrix/lessons/fridays.md", "shield/lessons/merging.md", "shield/lessons/log-lines.md"

	// The owner decides with forms, without a script; claude through the API.
	owner := signIn(t, base, ownerAPI)
	for _, d := range []struct {
		k    core.FlagKey
		c    core.Choice
		text string
	}{
		{core.FlagKey{UnitID: fridays, Kind: core.FlagRouting}, core.Fix, ""},
		{core.FlagKey{UnitID: fridays, Kind: core.FlagSemantic}, core.Accept, "пятница — it is 'quiet' there\nand watched"},
		{core.FlagKey{UnitID: merging, Kind: core.FlagSemantic}, core.Land, ""},
		{core.FlagKey{UnitID: lines, Kind: core.FlagSemantic}, core.DropAsDup, "said already"},
	} {
		owner.press(id, d.k, "choose", "decision", string(d.c), "rationale", d.text)
	}
	if got := see(id, ownerAPI); got.Queue != core.QueueOther || got.Storozh.Reviews != nil {
		t.Errorf("after the owner: %s, %v", got.Queue, got.Storozh.Reviews)
	}
	for _, u := range see(id, claudeAPI).Units {
		if len(u.Decisions) != 0 {
			t.Errorf("claude sees %v", u)
		}
	}
	if got := fileReviews(t, a.cfg.ManifestPath); got != nil {
		t.Errorf("the file holds %v before both are done", got)
	}
	for _, body := range []string{
		`{"unit":"` + fridays + `","flag":"routing","decision":"fix"}`,
		`{"unit":"` + fridays + `","flag":"semantic","decision":"fix","rationale":"nobody is there on Saturday"}`,
		`{"unit":"` + merging + `","flag":"semantic","decision":"land"}`,
		`{"unit":"` + lines + `","flag":"semantic","decision":"drop-as-dup"}`,
	} {
		if code := call(t, "POST", base+"/api/manifests/"+id+"/decisions", claudeAPI, []byte(body), nil); code != http.StatusCreated {
			t.Fatalf("%s: %d", body, code)
		}
	}
	if got := see(id, claudeAPI); got.Queue != core.QueueDisagree {
		t.Errorf("queue %q", got.Queue)
	}
	if page := owner.get("/manifests/" + id); !strings.Contains(page, "nobody is there on Saturday") || !strings.Contains(page, "disagree") {
		t.Error("the page does not show both sides")
	}
	owner.press(id, core.FlagKey{UnitID: fridays, Kind: core.FlagSemantic}, "choose", "decision", "fix", "rationale", "convinced")
	if got := see(id, ownerAPI); got.Queue != core.QueueDone {
		t.Errorf("queue %q", got.Queue)
	}
	wrote := func(want string) []core.Review {
		t.Helper()
		if err := a.WaitWritten(t.Context(), number); err != nil {
			t.Fatal(err)
		}
		got := fileReviews(t, a.cfg.ManifestPath)
		if len(got) != 2 || got[0].By != core.Owner || got[1].By != core.Claude || len(got[0].Decisions) != 4 || !strings.Contains(fmt.Sprint(got), want) {
			t.Errorf("the file holds %+v", got)
		}
		return got
	}
	inFile := wrote("convinced")
	if diff := cmp.Diff(inFile, see(id, ownerAPI).Storozh.Reviews); diff != "" {
		t.Errorf("file and API differ: %s", diff)
	}

	t.Run("judging again keeps what was decided", func(t *testing.T) {
		if code := call(t, "POST", base+"/api/manifests/"+id+"/runs", ownerAPI, []byte(`{}`), nil); code != http.StatusAccepted {
			t.Fatalf("judge again: %d", code)
		}
		if err := a.Wait(t.Context(), number); err != nil {
			t.Fatal(err)
		}
		if got := see(id, ownerAPI); got.Queue != core.QueueDone || len(got.Storozh.Reviews) != 2 {
			t.Errorf("queue %q", got.Queue)
		}
		wrote("convinced")
	})

	t.Run("the next manifest with the same clash", func(t *testing.T) {
		e.change("shield/lessons/merging.md", "# Merging first\n\nMerge first, by all means, and run the tests afterwards.\n")
		next, _ := send("s2", "2026-05-02T12:00:00Z")
		k := core.FlagKey{UnitID: fridays, Kind: core.FlagSemantic}
		page := owner.get("/manifests/" + next)
		if strings.Count(page, "<summary>Decided before: ") != 3 || !strings.Contains(page, "convinced") {
			t.Errorf("carried: %d", strings.Count(page, "<summary>Decided before: "))
		}
		if got := see(next, ownerAPI); got.Queue != core.QueueYours {
			t.Errorf("what was carried counts before it is confirmed: %q", got.Queue)
		}
		owner.press(next, k, "confirm")
		for _, u := range see(next, ownerAPI).Units {
			if u.Unit == fridays && (len(u.Decisions) != 1 || u.Decisions[0].Rationale != "convinced" || u.Decisions[0].Decision != "fix") {
				t.Errorf("confirmed: %v", u.Decisions)
			}
		}
		if _, panel, _ := strings.Cut(page, `id="`+views.FlagDOM(core.FlagKey{UnitID: merging, Kind: core.FlagSemantic})+`"`); strings.Contains(strings.SplitN(panel, "</section>", 2)[0], "Decided before") {
			t.Error("a decision outlived a change of its unit")
		}
	})
}
