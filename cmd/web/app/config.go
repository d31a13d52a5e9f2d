package app

import (
	"time"

	"storozh/core/localllm"
	"storozh/core/routing"
)

// Config is everything a process is set up with.
type Config struct {
	Version     string
	DatabaseURL string // empty: the embedded Postgres
	Addr        string // host:port of the dashboard
	DataDir     string // embedded database, webhook secret, control socket
	CacheDir    string // npm packages of the embedded database

	ManifestPath string // watched file; empty: none
	Ecosystem    string // folder of the four repos
	ShieldDir    string
	PolicyPath   string
	Rules        routing.Rules
	Aliases      routing.Aliases

	MarkerHome string // home folder in which the co-sign markers can be seen; empty: not from here

	Demo        bool // the demo model instead of LLM
	LLM         localllm.Config
	Concurrency int
	K           int
	NoSwap      bool // do not ask about flagged pairs once more in swapped order
	NoWords     bool // do not look for one more neighbour by the words it shares

	Zone    *time.Location // of days and times on pages, by its IANA name; nil: UTC
	KeepRaw time.Duration  // how long the bytes of manifests are kept; 0: for ever

	Now func() time.Time // nil: the system's clock

	OwnerToken     string // empty: made at first start
	ClaudeToken    string
	WebhookSecrets []string // empty: made at first start
	AllowedHosts   []string
	PublicURL      string // how people reach the dashboard; empty: http://Addr
}

// URL is the dashboard's address as people open it, without a final slash.
func (c Config) URL() string {
	if c.PublicURL != "" {
		return c.PublicURL
	}
	return "http://" + c.Addr
}
