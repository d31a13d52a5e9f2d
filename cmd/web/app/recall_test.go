package app

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"storozh/core"
	"storozh/core/localllm/llmtest"
	"storozh/views"
)

// judgedWorkday is the workday, judged with two neighbours per unit so that not everything is brought.
func judgedWorkday(t *testing.T) (base, id string, raw []byte) {
	t.Helper()
	e := newEco(t)
	workday(e)
	model := llmtest.Start(t, func(f *llmtest.Faults) { f.Answer = rules(workdayRules) })
	a := newApp(t, e, model, func(c *Config) { c.K = 2 })
	base = serveWeb(t, a)
	var got reviewed
	raw = e.manifest("s1", "2026-05-01T12:00:00Z")
	if code := call(t, "POST", base+"/webhooks/mirabilis?wait=60s", testSecret, raw, &got); code != http.StatusOK {
		t.Fatalf("webhook: %d", code)
	}
	return base, got.ID.String(), raw
}

const naps, merging = "shield/lessons/naps.md", "shield/lessons/merging.md"

// Without a script: the unit's link, a search, a choice; then the mark on the unit, and back again.
func TestAMissedClashIsNamedByForm(t *testing.T) {
	base, id, _ := judgedWorkday(t)
	owner, claude := signIn(t, base, ownerAPI), signIn(t, base, claudeAPI)
	at := "/manifests/" + id + "/missed"
	if page := owner.get("/manifests/" + id); strings.Count(page, ">name a missed clash</a>") != 4 || !strings.Contains(page, `href="`+at+`?unit=`+url.QueryEscape(naps)+`"`) {
		t.Error("the units with text do not lead to the page")
	}
	page := owner.get(at + "?unit=" + url.QueryEscape(naps) + "&q=" + url.QueryEscape("CACHES build"))
	if !strings.Contains(page, `name="pick" value="shield/claims/claims.ttl#ex:cache"`) || strings.Contains(page, `value="shield/memory/names.ru.md"`) {
		t.Errorf("the search by words does not find the claim: %s", page)
	}
	refusal := func(want string, fill ...string) {
		t.Helper()
		v := url.Values{"unit": {naps}, "item": {"shield/claims/claims.ttl#ex:cache"}, "label": {"contra"}, "note": {"typed <b>"}}
		for i := 0; i < len(fill); i += 2 {
			v.Set(fill[i], fill[i+1])
		}
		status, _, body := owner.post(at, v)
		if status != http.StatusUnprocessableEntity || !strings.Contains(body, want) || !strings.Contains(body, "typed &lt;b&gt;") {
			t.Errorf("%q: %d %s", want, status, body)
		}
	}
	refusal("the corpus holds no item", "item", "shield/nothing.md")
	refusal("label must be contra or dup", "label", "ok")
	refusal("label must be contra or dup", "label", "")
	refusal("name the item", "item", " ")
	refusal("nothing to take back", "label", "withdrawn")
	refusal("the run found that", "unit", merging, "pick", "shield/invariants/core.txt#2")

	send := func(label string) (string, string) {
		t.Helper()
		status, where, body := owner.post(at, url.Values{
			"unit": {naps}, "pick": {"shield/claims/claims.ttl#ex:cache"}, "item": {"ignored"}, "label": {label}, "note": {"кэш, не кофе"}})
		if status != http.StatusOK {
			t.Fatalf("%d %s", status, body)
		}
		return where, body
	}
	where, body := send("contra")
	if !strings.HasSuffix(where, "/manifests/"+id+"?unit="+url.QueryEscape(naps)) || !strings.Contains(body, "was missed (contra)") {
		t.Errorf("it leads to %s: %s", where, body)
	}
	if _, body = send("contra"); !strings.Contains(body, "kept already") {
		t.Error("said twice it is kept twice")
	}
	for name, body := range map[string]string{"claude": claude.get("/manifests/" + id), "claude's form": claude.get(at + "?unit=" + url.QueryEscape(naps))} {
		if strings.Count(body, "missed, named by owner") != 1 || !strings.Contains(body, "кэш, не кофе") {
			t.Errorf("%s does not see it once", name)
		}
		if strings.Contains(body, "Take it back") {
			t.Errorf("%s could take the owner's word back", name)
		}
	}
	// It is no flag and no label.
	var got reviewed
	call(t, "GET", base+"/api/manifests/"+id, ownerAPI, nil, &got)
	for _, f := range got.Storozh.Flags {
		if f.Unit == naps && f.Semantic != core.OK {
			t.Errorf("the word became a label: %+v", f)
		}
	}
	if page := owner.get("/status"); !strings.Contains(page, "missed clash") || !strings.Contains(page, "one named, contra") {
		t.Error("the audit does not show it")
	}
	send("withdrawn")
	if page := claude.get("/manifests/" + id); strings.Contains(page, "missed, named by") {
		t.Error("what was taken back still stands")
	}
}

func TestAMissedClashIsNamedByTheAPI(t *testing.T) {
	base, id, raw := judgedWorkday(t)
	type answer struct {
		ID       int64
		By       string
		Brought  bool
		Judged   string
		Label    string
		Detail   string
		Repeated bool
	}
	post := func(token string, want int, unit, item, label string) (a answer) {
		t.Helper()
		body := fmt.Sprintf(`{"unit":%q,"item":%q,"label":%q,"note":"n"}`, unit, item, label)
		if code := call(t, "POST", base+"/api/manifests/"+id+"/missed", token, []byte(body), &a); code != want {
			t.Errorf("%s: %d, want %d: %+v", body, code, want, a)
		}
		return a
	}
	first := post(claudeAPI, http.StatusCreated, naps, "shield/memory/names.ru.md", "dup")
	if first.By != "claude" || first.Label != "dup" || first.ID == 0 {
		t.Errorf("%+v", first)
	}
	if again := post(claudeAPI, http.StatusOK, naps, "shield/memory/names.ru.md", "dup"); again.ID != first.ID || !again.Repeated {
		t.Errorf("%+v after %+v", again, first)
	}
	var seen struct {
		Units []struct {
			Unit   string
			Missed []struct{ Item, Label, By, Note string }
		}
	}
	call(t, "GET", base+"/api/manifests/"+id, ownerAPI, nil, &seen)
	for _, u := range seen.Units {
		if want := map[string]int{naps: 1}[u.Unit]; len(u.Missed) != want || want == 1 && (u.Missed[0].By != "claude" || u.Missed[0].Note != "n") {
			t.Errorf("%s: %+v", u.Unit, u.Missed)
		}
	}
	var sender struct{ Units []map[string]any }
	if code := call(t, "POST", base+"/webhooks/mirabilis?wait=60s", testSecret, raw, &sender); code != http.StatusOK || len(sender.Units) != len(seen.Units) {
		t.Errorf("the same manifest again: %d, %d units", code, len(sender.Units))
	}
	for _, u := range sender.Units {
		if _, told := u["missed"]; told {
			t.Errorf("the sender reads what cosigners say: %v", u["missed"])
		}
	}
	for want, in := range map[string][3]string{
		"no unit":                {"shield/lessons/none.md", "shield/memory/names.ru.md", "dup"},
		"no item":                {naps, "shield/none.md", "dup"},
		"stands beside the unit": {merging, "shield/invariants/core.txt#2", "contra"},
		"no text":                {"mirabilis/cmd/run/main.go", "shield/memory/names.ru.md", "dup"},
		"label must be":          {naps, "shield/memory/names.ru.md", "ok"},
	} {
		if a := post(ownerAPI, http.StatusUnprocessableEntity, in[0], in[1], in[2]); !strings.Contains(a.Detail, want) {
			t.Errorf("%v: %q", in, a.Detail)
		}
	}
	// Brought and judged otherwise is a miss of the judge.
	if a := post(ownerAPI, http.StatusCreated, merging, "shield/invariants/core.txt#2", "dup"); !a.Brought || a.Judged != "contra" {
		t.Errorf("%+v", a)
	}
	post(ownerAPI, http.StatusCreated, naps, "shield/claims/claims.ttl#ex:cache", "contra")
	if a := post(ownerAPI, http.StatusCreated, naps, "shield/claims/claims.ttl#ex:cache", "withdrawn"); a.Label != "withdrawn" {
		t.Errorf("%+v", a)
	}
	if code := call(t, "POST", base+"/api/manifests/"+id+"/missed", "wrong", []byte(`{}`), nil); code != http.StatusUnauthorized {
		t.Errorf("a stranger gets %d", code)
	}
	if code := call(t, "POST", base+"/api/manifests/987/missed", ownerAPI, []byte(`{}`), nil); code != http.StatusNotFound {
		t.Errorf("no manifest: %d", code)
	}
	if code := call(t, "POST", base+"/api/manifests/"+id+"/missed", ownerAPI, []byte(`{`), nil); code != http.StatusBadRequest {
		t.Errorf("no JSON: %d", code)
	}
}

// The figure on /eval and in its JSON, from flags that both decide and clashes that somebody names; and what a floor would have done.
func TestRecallInUseAndWhatIf(t *testing.T) {
	base, id, _ := judgedWorkday(t)
	owner := signIn(t, base, ownerAPI)
	if page := owner.get("/eval"); !strings.Contains(page, "No data yet") {
		t.Error("without data the page does not say so")
	}
	type figures struct {
		InUse struct {
			Found, NotBrought, OtherLabel int
			Recall                        core.Rate
		} `json:"inUse"`
	}
	see := func() (f figures) {
		t.Helper()
		call(t, "GET", base+"/api/evaluations", claudeAPI, nil, &f)
		return f
	}
	if f := see(); f.InUse.Recall.Of != 0 || f.InUse.Recall.High != 1 {
		t.Errorf("%+v", f)
	}
	lines := "shield/lessons/log-lines.md"
	decide := func(token, unit, decision string) {
		t.Helper()
		body := fmt.Sprintf(`{"unit":%q,"flag":"semantic","decision":%q,"rationale":"r"}`, unit, decision)
		if code := call(t, "POST", base+"/api/manifests/"+id+"/decisions", token, []byte(body), nil); code != http.StatusCreated {
			t.Fatalf("%s: %d", body, code)
		}
	}
	decide(ownerAPI, merging, "fix")
	if f := see(); f.InUse.Found != 0 {
		t.Errorf("what only one has decided is counted: %+v", f)
	}
	decide(claudeAPI, merging, "land")
	decide(ownerAPI, lines, "accept")
	decide(claudeAPI, lines, "land")
	if code := call(t, "POST", base+"/api/manifests/"+id+"/missed", claudeAPI,
		[]byte(`{"unit":"`+naps+`","item":"shield/claims/claims.ttl#ex:cache","label":"contra"}`), nil); code != http.StatusCreated {
		t.Fatal(code)
	}
	if f := see().InUse; f.Found != 1 || f.NotBrought+f.OtherLabel != 1 || f.Recall.N != 1 || f.Recall.Of != 2 || f.Recall.Low <= 0 || f.Recall.High >= 1 {
		t.Errorf("%+v", f)
	}
	if page := owner.get("/eval"); !strings.Contains(page, "1 of 2 known clashes: <strong>50 % (9–91)</strong>") {
		t.Errorf("the page does not show the share: %s", page)
	}

	page := owner.get("/whatif")
	if !strings.Contains(page, "No floor is applied anywhere") || strings.Contains(page, "Flags below") || strings.Count(page, `href="/whatif?floor=`) != 9 {
		t.Errorf("without a floor: %s", page)
	}
	page = owner.get("/whatif?floor=1")
	k := core.FlagKey{UnitID: merging, Kind: core.FlagSemantic}
	for _, want := range []string{
		"3 contra and dup flags", "Flags below 1.00", "owner: fix, claude: land", "not decided by both", "owner: accept, claude: land",
		strings.ReplaceAll(views.FlagURL(1, k, true, ""), "&", "&amp;"),
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not on the page", want)
		}
	}
	if page := owner.get("/whatif?floor=0,33"); !strings.Contains(page, "Flags below 0.33") || strings.Count(page, `href="/whatif?floor=`) != 10 {
		t.Error("a floor with a decimal comma")
	}
	for _, bad := range []string{"2", "-0.1", "NaN", "x", "1e999", "<b>"} {
		if page := owner.get("/whatif?floor=" + url.QueryEscape(bad)); !strings.Contains(page, "from 0 to 1") {
			t.Errorf("floor %q is not refused", bad)
		}
	}
	if page := owner.get("/whatif?floor=0.5&model=another"); !strings.Contains(page, "0 contra and dup flags") {
		t.Error("a model that nothing was counted under")
	}
}
