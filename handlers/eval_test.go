package handlers

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"storozh/core"
)

func TestEvalIsForCosigners(t *testing.T) {
	t.Parallel()
	asked, fail := 0, error(nil)
	h := newHouse(t, func(c *Config) {
		c.Evaluations = func(_ context.Context, limit int) ([]core.Evaluation, error) {
			asked = limit
			return []core.Evaluation{{ID: 4, Judge: &core.JudgeScore{Model: "a-judge", Set: "dev"}}}, fail
		}
	})
	if got := h.do(h.browser(), http.MethodGet, "/eval", nil); got.status == http.StatusOK || strings.Contains(got.body, "a-judge") {
		t.Errorf("a stranger gets %d", got.status)
	}
	b := h.signedIn(ownerToken)
	if got := h.do(b, http.MethodGet, "/eval", nil); got.status != http.StatusOK || !strings.Contains(got.body, "a-judge") || asked != evalLimit {
		t.Errorf("status %d, limit %d", got.status, asked)
	}
	got := h.do(h.browser(), http.MethodGet, "/api/evaluations", nil, "Authorization", "Bearer "+claudeToken)
	if got.status != http.StatusOK || !strings.Contains(got.body, `"evaluations":[{"id":4,`) {
		t.Errorf("%d %s", got.status, got.body)
	}
	fail = errors.New("secret detail")
	if got := h.do(b, http.MethodGet, "/eval", nil); got.status != http.StatusInternalServerError || strings.Contains(got.body, "secret detail") {
		t.Errorf("%d %s", got.status, got.body)
	}
}

func TestEvalWithoutAStore(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	if got := h.do(h.signedIn(ownerToken), http.MethodGet, "/eval", nil); got.status != http.StatusOK || !strings.Contains(got.body, "Nothing measured yet") {
		t.Errorf("status %d", got.status)
	}
	if got := h.do(h.signedIn(ownerToken), http.MethodGet, "/api/evaluations", nil); !strings.Contains(got.body, `"evaluations":[]`) {
		t.Errorf("%d %s", got.status, got.body)
	}
}
