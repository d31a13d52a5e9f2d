package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"storozh/core"
)

// settingsKey is where the last configuration stands.
const settingsKey = "configuration"

// AuditConfig keeps a configuration change in the audit: which settings differ from those of the last start. Secrets appear as "given" or
// "made here"; that one was exchanged shows by a digest, of which nothing is printed.
func (a *App) AuditConfig(ctx context.Context) error {
	salt, err := a.db.Secret(ctx, "judge-fence", func() []byte { return nil })
	if err != nil {
		return err
	}
	now := a.settings(salt)
	text, err := json.Marshal(now) // keys in order: the same settings are the same bytes
	if err != nil {
		return err
	}
	before, changed, err := a.db.Changed(ctx, settingsKey, text)
	if err != nil || !changed {
		return err
	}
	detail := "first start"
	if before != nil {
		old := map[string]string{}
		if err := json.Unmarshal(before, &old); err != nil {
			return fmt.Errorf("the last configuration: %w", err)
		}
		detail = difference(old, now)
	}
	a.audit(ctx, core.AuditEntry{Who: core.AuditProcess, What: core.AuditConfig, Detail: detail})
	return nil
}

// secretsSetting is the digest of all secrets: compared, never shown.
const secretsSetting = "secrets"

func (a *App) settings(salt []byte) map[string]string {
	c := a.cfg
	model := "demo"
	if !c.Demo {
		model = a.model.URL() // without credentials
	}
	given := func(s string) string {
		if s == "" {
			return "made here"
		}
		return "given"
	}
	h := sha256.New()
	h.Write(salt)
	for _, s := range append([]string{c.OwnerToken, c.ClaudeToken, c.LLM.Key}, c.WebhookSecrets...) {
		_, _ = fmt.Fprintf(h, "%d:%s", len(s), s)
	}
	return map[string]string{
		"version": c.Version, "address": c.Addr, "manifest": c.ManifestPath, "ecosystem": c.Ecosystem, "shield": c.ShieldDir, "policy": c.PolicyPath,
		"model": model, "model API": c.LLM.API, "embedding model": c.LLM.EmbedModel, "judge model": c.LLM.JudgeModel,
		"concurrency": fmt.Sprint(c.Concurrency), "k": fmt.Sprint(c.K), "public URL": c.PublicURL, "allowed hosts": strings.Join(c.AllowedHosts, " "),
		"owner's token": given(c.OwnerToken), "claude's token": given(c.ClaudeToken), "webhook secrets": fmt.Sprint(len(c.WebhookSecrets)),
		secretsSetting: hex.EncodeToString(h.Sum(nil)),
	}
}

// difference words what changed: `k: 5 → 7; secrets exchanged`.
func difference(old, now map[string]string) string {
	keys := map[string]bool{}
	for k := range old {
		keys[k] = true
	}
	for k := range now {
		keys[k] = true
	}
	var out []string
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		switch was, is := old[k], now[k]; {
		case was == is:
		case k == secretsSetting:
			out = append(out, "secrets exchanged")
		default:
			out = append(out, fmt.Sprintf("%s: %s → %s", k, word(was), word(is)))
		}
	}
	return strings.Join(out, "; ")
}

func word(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
