package localllm

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// LM Studio lists beside its compatible API what is in its memory. It is asked at the first Resolve, when the names of the models
// change, and else now and then, counted in calls: this package has no clock.
const (
	loadedLimit   = 2 * time.Second
	loadedEvery   = 5  // calls of Resolve to one question, where it was answered
	loadedSeldom  = 50 // likewise, where it was not: another server, most likely
	stateLoaded   = "loaded"
	stateUnloaded = "not-loaded"
)

// loads is what was last seen of the server's memory; the client's mutex guards it.
type loads struct {
	embed, judge string // the models it was asked about
	one          bool   // not both were loaded
	left         int    // times that Resolve goes by it without asking
}

// oneAtATime tells that the server is known not to hold both models now. Silence, another server, or a model that is not listed mean
// that nothing is known: false. A wait for it is bounded and an error is none of Resolve's.
func (c *Client) oneAtATime(ctx context.Context, m Models) bool {
	root, ours := strings.CutSuffix(c.base, "/v1")
	if !ours || m.Embed == m.Judge {
		return false
	}
	c.mu.Lock()
	seen := c.loads
	c.loads.left--
	c.mu.Unlock()
	if seen.left > 0 && seen.embed == m.Embed && seen.judge == m.Judge {
		return seen.one
	}
	now := loads{embed: m.Embed, judge: m.Judge, left: loadedSeldom}
	if r, err := c.once(ctx, opLoaded, http.MethodGet, root+"/api/v0/models", nil); err == nil && r.status == http.StatusOK {
		states := statesOf(r.body)
		embed, judge := states[m.Embed], states[m.Judge]
		if embed != "" && judge != "" {
			now.one, now.left = embed != stateLoaded || judge != stateLoaded, loadedEvery
		}
	}
	c.mu.Lock()
	c.loads = now
	c.mu.Unlock()
	return now.one
}

// statesOf reads which models are loaded; anything but LM Studio's two words yields none.
func statesOf(body []byte) map[string]string {
	var list struct {
		Data []struct {
			ID    string `json:"id"`
			State string `json:"state"`
		} `json:"data"`
	}
	if json.Unmarshal(body, &list) != nil {
		return nil
	}
	out := map[string]string{}
	for _, d := range list.Data[:min(len(list.Data), maxNames)] {
		if d.State == stateLoaded || d.State == stateUnloaded {
			out[d.ID] = d.State
		}
	}
	return out
}
