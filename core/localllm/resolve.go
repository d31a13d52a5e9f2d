package localllm

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// The names used where the server lists nothing that fits: LM Studio's bundled embedding model, and the name it takes for whatever
// model is loaded.
const (
	DefaultEmbedModel = "text-embedding-nomic-embed-text-v1.5"
	DefaultJudgeModel = "local-model"
)

// Models are the models in use.
type Models struct {
	Embed    string
	Judge    string
	Warnings []string // each a choice that was not ours to make, naming it

	// OneAtATime tells that the server is known to hold one model at a time: embeddings and answers asked in turn would load one model
	// after the other for each.
	OneAtATime bool
}

// What a model is for shows only in its name: /models has no common field for it.
var (
	embeds   = regexp.MustCompile(`embed|bge|nomic|minilm|mpnet|labse|instructor|sentence-(t5|encoder|transformer)|(^|[^a-z0-9])(e5|gte|gtr|stella|arctic)([^a-z0-9]|$)`)
	neither  = regexp.MustCompile(`rerank|whisper|(^|[^a-z0-9])(tts|stt|asr|clip|flux|sdxl|mmproj)([^a-z0-9]|$)|stable-diffusion`)
	maxNames = 1000 // of a list
)

// Resolve names the models in use: as configured; else by kind from GET /models; else, while that list cannot be had, those of the last one;
// else the default names. Whatever the server answers, even 404, means that it is reachable; only silence is an [Error].
func (c *Client) Resolve(ctx context.Context) (Models, error) {
	m := Models{Embed: c.cfg.EmbedModel, Judge: c.cfg.JudgeModel}
	r, err := c.retry(ctx, opModels, http.MethodGet, "/models", nil, min(c.cfg.MaxRetries, 1))
	if err != nil && r.status == 0 {
		return Models{}, err
	}
	if err != nil {
		m = c.last(m)
	}
	if err != nil && KindOf(err) == KindRefused {
		m.Warnings = []string{c.base + " refuses access: set its key, or take its protection off"}
	}
	var names []string
	if err == nil {
		names = listed(r.body)
	}
	judges, embedders := sortByKind(names)
	m.Embed = m.pick(m.Embed, "embedding", embedders, DefaultEmbedModel)
	m.Judge = m.pick(m.Judge, "judge", judges, DefaultJudgeModel)
	m.OneAtATime = c.oneAtATime(ctx, m)
	c.mu.Lock()
	c.models = m
	c.mu.Unlock()
	return m, nil
}

// last gives the models of the last list, if there was one: another name for the same model would be other vectors and other verdicts.
func (c *Client) last(otherwise Models) Models {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.models.Embed == "" {
		return otherwise
	}
	return Models{Embed: c.models.Embed, Judge: c.models.Judge, Warnings: c.models.Warnings}
}

// pick takes the configured model, else the first candidate in alphabetical order, else the default; a choice among several is
// written down.
func (m *Models) pick(configured, kind string, candidates []string, otherwise string) string {
	switch {
	case configured != "":
		return configured
	case len(candidates) == 0:
		return otherwise
	case len(candidates) > 1:
		m.Warnings = append(m.Warnings, fmt.Sprintf("%d %s models are available; %s is used: set the one you mean", len(candidates), kind, candidates[0]))
	}
	return candidates[0]
}

// names are the models in use, resolved now if they never were.
func (c *Client) names(ctx context.Context) (Models, error) {
	if c.cfg.EmbedModel != "" && c.cfg.JudgeModel != "" {
		return Models{Embed: c.cfg.EmbedModel, Judge: c.cfg.JudgeModel}, nil
	}
	c.mu.Lock()
	m := c.models
	c.mu.Unlock()
	if m.Embed != "" {
		return m, nil
	}
	return c.Resolve(ctx)
}

// listed reads the ids of a model list; anything else yields none.
func listed(body []byte) []string {
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if json.Unmarshal(body, &list) != nil {
		return nil
	}
	var out []string
	for _, d := range list.Data[:min(len(list.Data), maxNames)] {
		if id := strings.TrimSpace(d.ID); id != "" && len(id) <= maxDetail {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// sortByKind parts names into those that judge and those that embed.
func sortByKind(names []string) (judges, embedders []string) {
	for _, name := range names {
		switch low := strings.ToLower(name); {
		case neither.MatchString(low):
		case embeds.MatchString(low):
			embedders = append(embedders, name)
		default:
			judges = append(judges, name)
		}
	}
	return judges, embedders
}
