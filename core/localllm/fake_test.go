package localllm_test

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"storozh/core"
	"storozh/core/localllm"
)

// samples are pairs on which the demo heuristics must be right. They are no measure of a real model.
var samples = []struct {
	item, unit string
	want       core.Label
}{
	{"Every service must log to standard output.", "Services must never log to standard output.", core.Contra},
	{"Secrets are never written to the log.", "Secrets may be written to the log.", core.Contra},
	{"Times are stored in UTC. Counter: the export screen shows local time.", "The export screen shows times in local time.", core.OK},
	{"Times are stored in UTC. Counter: the export screen shows local time.", "Times are stored in local time.", core.Contra},
	{"Passwords are hashed with argon2.", "All passwords must be hashed with argon2.", core.Dup},
	{"Do not push to main without a review.", "Never push to main without review.", core.Dup},
	{"Do not push to main without a review.", "You may push to main without a review.", core.Contra},
	{"A request times out after 30 seconds.", "A request times out after 60 seconds.", core.Contra},
	{"A request times out after 30 seconds.", "Requests time out after 30 seconds.", core.Dup},
	{"Keep at most three backups of a database.", "Keep at most five backups of a database.", core.Contra},
	{"Code review is required for every change.", "Code review is optional for every change.", core.Contra},
	{"Migrations run before the deploy.", "Migrations run after the deploy.", core.Contra},
	{"Indent Go code with tabs.", "Indent Go code with spaces.", core.Contra},
	{"Indent Go code with tabs.", "Buttons have rounded corners.", core.OK},
	{"Tests must not reach the network.", "Last week a violation was found: tests must reach the network in CI.", core.OK},
	{"Tests must not reach the network.", "Tests must not use the network except in the nightly job.", core.OK},
	{"Metrics are public.", "Metrics are private.", core.Contra},
	{"Build metrics are public for every team.", "Build metrics are private for every team.", core.Contra},
	{"Always disable telemetry in test builds.", "Always enable telemetry in test builds.", core.Contra},
	{"Пароли хранятся только в виде хеша.", "Пароли нельзя хранить в виде хеша.", core.Contra},
	{"Не писать секреты в журнал.", "Секреты в журнал писать нельзя.", core.Dup},
	{"Не писать секреты в журнал.", "Секреты в журнал писать можно.", core.Contra},
	{"Каждое изменение обязательно проверяет второй человек.", "Изменение проверяет второй человек по желанию.", core.Contra},
	{"Миграции выполняются до развёртывания.", "Миграции выполняются после развёртывания.", core.Contra},
	{"Время ожидания запроса — 30 секунд.", "Время ожидания запроса — 10 секунд.", core.Contra},
	{"Миграции выполняются до развёртывания, всегда вперёд.", "Имена таблиц пишутся в единственном числе.", core.OK},
	{"Резервные копии хранятся десять дней.", "Резервные копии хранятся 10 дней.", core.Dup},
	{"Тесты никогда не обращаются к сети.", "Тесты всегда обращаются к сети.", core.Contra},
	{"Тесты никогда не обращаются к сети.", "Тесты не должны обращаться к сети.", core.Dup},
	{"#4 [critical] [O] Manifest bytes are kept raw | Why: signatures | Counter: none", "Manifest bytes are never kept raw.", core.Contra},
}

// ask puts a pair before the demo model by the documented shape.
func ask(t *testing.T, item, unit string) (core.Label, string) {
	t.Helper()
	quote := func(s string) string {
		b, err := json.Marshal(map[string]string{"statement": s})
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	prompt := "ITEM example {\"statement\":\"x\"}\nUNIT example {\"statement\":\"y\"}\n\nITEM c0de " + quote(item) + "\nUNIT c0de " + quote(unit) + "\nANSWER"
	answer, err := localllm.NewFake().Complete(t.Context(), prompt, localllm.Opts{})
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		Reason string
		Label  core.Label
	}
	if err := json.Unmarshal([]byte(answer), &v); err != nil || strings.Contains(answer, "\n") || !strings.HasPrefix(v.Reason, "demo model: ") {
		t.Fatalf("answer %q: %v", answer, err)
	}
	return v.Label, v.Reason
}

func TestDemoHeuristics(t *testing.T) {
	t.Parallel()
	for _, s := range samples {
		if got, why := ask(t, s.item, s.unit); got != s.want {
			t.Errorf("%q / %q: %s (%s), want %s", s.item, s.unit, got, why, s.want)
		}
	}
}

func TestDemoWithoutAPair(t *testing.T) {
	t.Parallel()
	for _, prompt := range []string{"", "hello", "ITEM a {\"statement\":\"x\"}\nUNIT b {\"statement\":\"y\"}", "ITEM a {broken}\nUNIT a {}"} {
		if got, err := localllm.NewFake().Complete(t.Context(), prompt, localllm.Opts{}); err != nil || strings.Contains(got, "label") {
			t.Errorf("%q: %q, %v", prompt, got, err)
		}
	}
}

func TestDemoEmbeddings(t *testing.T) {
	t.Parallel()
	f := localllm.NewFake()
	near := func(a, b string) float64 {
		v, err := f.EmbedBatch(t.Context(), []string{a, b})
		if err != nil {
			t.Fatal(err)
		}
		dot := 0.0
		for i := range v[0] {
			dot += float64(v[0][i]) * float64(v[1][i])
		}
		return dot
	}
	tests := [][3]string{ // a text, a near one, a far one
		{"Times are stored in UTC.", "Time must be stored in local time.", "Buttons have rounded corners."},
		{"Пароли хранятся в виде хеша.", "Пароль нельзя хранить открыто.", "Имена таблиц пишутся в единственном числе."},
		{"Секреты не пишем в журнал.", "В журнале нет секретов.", "Times are stored in UTC."},
	}
	for _, tt := range tests {
		if n, far := near(tt[0], tt[1]), near(tt[0], tt[2]); n < 0.3 || n < far+0.2 {
			t.Errorf("%q: %.2f to %q, %.2f to %q", tt[0], n, tt[1], far, tt[2])
		}
	}
	for _, text := range []string{"", "…", "a", "\xff\x00", strings.Repeat("x ", 100_000)} {
		v, err := f.Embeddings(t.Context(), text)
		again, _ := f.Embeddings(t.Context(), text)
		sum := 0.0
		for _, x := range v {
			sum += float64(x) * float64(x)
		}
		if err != nil || len(v) != 256 || math.Abs(sum-1) > 1e-4 || cmp.Diff(v, again) != "" {
			t.Errorf("%.20q: %d numbers of length %v, %v", text, len(v), sum, err)
		}
	}
}

func TestDemoIsAModelThatSaysSo(t *testing.T) {
	t.Parallel()
	var m localllm.Model = localllm.NewFake()
	names, err := m.Resolve(t.Context())
	if err != nil || names.Embed != "demo-embed" || names.Judge != "demo-judge" || !m.Demo() || m.URL() != "demo" {
		t.Errorf("%+v, %v", names, err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = m.Complete(gone, "p", localllm.Opts{})
	wantKind(t, err, localllm.KindCancelled)
	_, err = m.EmbedBatch(gone, []string{"a"})
	wantKind(t, err, localllm.KindCancelled)
}
