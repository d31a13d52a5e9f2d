package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"storozh/cmd/web/app"
	"storozh/core/localllm"
	"storozh/core/routing"
)

// config reads the environment. Every error names the variable and what it should hold.
func config(env func(string) string) (app.Config, error) {
	r := reader{env: env}
	home := r.home()
	cfg := app.Config{
		Version:      version(),
		DatabaseURL:  env("DATABASE_URL"),
		Addr:         r.text("STOROZH_ADDR", "127.0.0.1:8787"),
		DataDir:      r.path("STOROZH_DATA_DIR", r.dataDir(home)),
		CacheDir:     r.cacheDir(home),
		ManifestPath: r.path("STOROZH_MANIFEST", filepath.Join(home, ".claude", "changeset-manifest.json")),
		Ecosystem:    r.path("STOROZH_ECOSYSTEM_DIR", filepath.Join(home, "ecosystem")),
		Concurrency:  r.number("STOROZH_LLM_CONCURRENCY", 4, 1, 64),
		K:            r.number("STOROZH_K", 5, 1, 50),
		OwnerToken:   env("STOROZH_OWNER_TOKEN"),
		ClaudeToken:  env("STOROZH_CLAUDE_TOKEN"),

		WebhookSecrets: strings.Fields(env("STOROZH_WEBHOOK_SECRET")),
		AllowedHosts:   strings.FieldsFunc(env("STOROZH_ALLOWED_HOSTS"), func(c rune) bool { return c == ',' || c == ' ' }),
		PublicURL:      strings.TrimRight(env("STOROZH_PUBLIC_URL"), "/"),
	}
	if !inContainer() {
		cfg.MarkerHome = home // a container's home folder is another one than that of the markers
	}
	cfg.NoSwap = r.off("STOROZH_JUDGE_SWAP")
	cfg.NoWords = r.off("STOROZH_WORDS")
	cfg.ShieldDir = r.path("STOROZH_SHIELD_DIR", shieldDir(cfg.Ecosystem))
	cfg.PolicyPath = r.path("STOROZH_POLICY", filepath.Join(cfg.Ecosystem, "darwin", "genome", "registry-new.md"))
	r.routing(&cfg)
	r.model(&cfg)
	r.history(&cfg)
	r.check(cfg)
	return cfg, r.err
}

// reader reads variables and keeps the first error.
type reader struct {
	env func(string) string
	err error
}

func (r *reader) fail(name, want string, err error) {
	if r.err == nil {
		r.err = fmt.Errorf("%s: %s", name, want)
		if err != nil {
			r.err = fmt.Errorf("%w: %w", r.err, err)
		}
	}
}

func (r *reader) text(name, fallback string) string {
	if v := r.env(name); v != "" {
		return v
	}
	return fallback
}

func (r *reader) path(name, fallback string) string {
	p, err := filepath.Abs(r.text(name, fallback))
	if err != nil {
		r.fail(name, "is not a usable path", err)
	}
	return p
}

func (r *reader) number(name string, fallback, low, high int) int {
	v := r.env(name)
	if v == "" {
		return fallback
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < low || n > high {
		r.fail(name, fmt.Sprintf("must be a whole number from %d to %d, not %q", low, high, v), nil)
	}
	return n
}

// off reads a switch that is on unless it is turned off.
func (r *reader) off(name string) bool {
	v := r.env(name)
	if v != "" && v != "on" && v != "off" {
		r.fail(name, "must be on or off", nil)
	}
	return v == "off"
}

func (r *reader) home() string {
	if h := r.env("HOME"); h != "" {
		return h
	}
	h, err := os.UserHomeDir()
	if err != nil {
		r.fail("HOME", "is not set, and Storozh needs it to find your files", err)
	}
	return h
}

// inContainer tells whether Docker or Podman runs this process.
func inContainer() bool {
	for _, mark := range []string{"/.dockerenv", "/run/.containerenv"} {
		if _, err := os.Stat(mark); err == nil {
			return true
		}
	}
	return false
}

func (r *reader) dataDir(home string) string {
	return filepath.Join(r.text("XDG_DATA_HOME", filepath.Join(home, ".local", "share")), "storozh")
}

func (r *reader) cacheDir(home string) string {
	return filepath.Join(r.text("XDG_CACHE_HOME", filepath.Join(home, ".cache")), "storozh")
}

// shieldDir finds the shield checkout by the names it is known under.
func shieldDir(ecosystem string) string {
	names := []string{"SolitaryEquilibriumShield", "shield", "learning"}
	for _, n := range names {
		p := filepath.Join(ecosystem, n)
		if st, err := os.Stat(p); err == nil && st.IsDir() {
			return p
		}
	}
	return filepath.Join(ecosystem, names[0])
}

func (r *reader) routing(cfg *app.Config) {
	var err error
	if cfg.Aliases, err = routing.ParseAliases(r.env("STOROZH_ALIASES")); err != nil {
		r.fail("STOROZH_ALIASES", "must look like name=shield,other=darwin", err)
	}
	cfg.Rules = routing.DefaultRules()
	if file := r.env("STOROZH_RULES"); file != "" {
		text, err := os.ReadFile(file)
		if err == nil {
			cfg.Rules, err = routing.ParseRules(text, cfg.Aliases)
		}
		if err != nil {
			r.fail("STOROZH_RULES", "is not a readable file of path rules", err)
		}
	}
}

func (r *reader) model(cfg *app.Config) {
	base := r.env("STOROZH_LLM_URL")
	if cfg.Demo = base == "demo"; cfg.Demo {
		return
	}
	if base == "" {
		base = defaultModelURL()
	}
	cfg.LLM = localllm.Config{
		BaseURL: base, API: r.text("STOROZH_LLM_API", "auto"), Key: r.env("STOROZH_LLM_KEY"), EmbedModel: r.env("STOROZH_EMBED_MODEL"),
		JudgeModel: r.env("STOROZH_JUDGE_MODEL"),
	}
	if u, err := url.Parse(base); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		r.fail("STOROZH_LLM_URL", "must be an http address such as http://127.0.0.1:1234/v1, or demo", nil)
	}
	if v := r.env("STOROZH_LLM_TIMEOUT"); v != "" {
		d, err := time.ParseDuration(v)
		if err != nil || d <= 0 {
			r.fail("STOROZH_LLM_TIMEOUT", "must be a time such as 90s or 2m", nil)
		}
		cfg.LLM.Timeout = d
	}
}

// defaultModelURL is LM Studio on the host: by the name that containers know it under, else on this machine.
func defaultModelURL() string {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if _, err := net.DefaultResolver.LookupHost(ctx, "host.docker.internal"); err == nil {
		return "http://host.docker.internal:1234/v1"
	}
	return "http://127.0.0.1:1234/v1"
}

func (r *reader) check(cfg app.Config) {
	if _, _, err := net.SplitHostPort(cfg.Addr); err != nil {
		r.fail("STOROZH_ADDR", "must be host:port, such as 127.0.0.1:8787", nil)
	}
	if cfg.PublicURL != "" {
		if u, err := url.Parse(cfg.PublicURL); err != nil || u.Host == "" {
			r.fail("STOROZH_PUBLIC_URL", "must be an address such as https://storozh.example.org", nil)
		}
	}
	for name, t := range map[string]string{"STOROZH_OWNER_TOKEN": cfg.OwnerToken, "STOROZH_CLAUDE_TOKEN": cfg.ClaudeToken} {
		if t != "" && len(t) < minToken {
			r.fail(name, fmt.Sprintf("must have at least %d characters", minToken), nil)
		}
	}
	for _, s := range cfg.WebhookSecrets {
		if len(s) < minToken {
			r.fail("STOROZH_WEBHOOK_SECRET", fmt.Sprintf("each secret must have at least %d characters", minToken), nil)
		}
		if key, signs := strings.CutPrefix(s, "whsec_"); signs {
			if b, err := base64.StdEncoding.DecodeString(key); err != nil || len(b) < minKey {
				r.fail("STOROZH_WEBHOOK_SECRET", fmt.Sprintf("a signing secret is whsec_ and the base64 of at least %d bytes, such as the output of: echo \"whsec_$(openssl rand -base64 24)\"", minKey), nil)
			}
		}
	}
	if cfg.OwnerToken != "" && cfg.OwnerToken == cfg.ClaudeToken {
		r.fail("STOROZH_CLAUDE_TOKEN", "must differ from the owner's token: each cosigner decides alone", nil)
	}
}

// minToken is the least length of a token that is given from outside; minKey that of a signing key, in bytes.
const (
	minToken = 16
	minKey   = 16
)

func logLevel(env func(string) string) slog.Level {
	var l slog.Level
	if l.UnmarshalText([]byte(env("STOROZH_LOG_LEVEL"))) != nil {
		return slog.LevelInfo
	}
	return l
}

func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "devel"
	}
	return strings.Trim(info.Main.Version, "()")
}
