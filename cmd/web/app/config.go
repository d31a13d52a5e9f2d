package app

import (
	"cmp"
	"net"
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

// URL is the dashboard's address as people open it, without a final slash. One that listens everywhere is opened on this machine.
func (c Config) URL() string {
	if c.PublicURL != "" {
		return c.PublicURL
	}
	_, port, err := net.SplitHostPort(c.Addr)
	if err != nil {
		return "http://" + c.Addr
	}
	return "http://" + net.JoinHostPort(cmp.Or(c.listenHost(), "127.0.0.1"), port)
}

// listenHost is the one host that the dashboard listens on; empty: it listens on all of them.
func (c Config) listenHost() string {
	host, _, err := net.SplitHostPort(c.Addr)
	if ip := net.ParseIP(host); err != nil || ip != nil && ip.IsUnspecified() {
		return ""
	}
	return host
}

// allowedHosts are the names that the dashboard may be asked for. Who tells it to listen on one address opens it there: no hostile name leads
// to that, for a page under it would send its own.
func (c Config) allowedHosts() []string {
	if h := c.listenHost(); h != "" {
		return append([]string{h}, c.AllowedHosts...)
	}
	return c.AllowedHosts
}
