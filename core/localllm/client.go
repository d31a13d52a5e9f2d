package localllm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"
)

// The values of [Config.API].
const (
	APIAuto        = "auto"        // /completions; where that is missing, /chat/completions from then on
	APICompletions = "completions" // only /completions
	APIChat        = "chat"        // only /chat/completions
)

const (
	defaultTimeout = 120 * time.Second // leaves room for a cold model load
	defaultRetries = 3
	maxBody        = 16 << 20 // bytes of an answer
	breakerTrips   = 5        // consecutive failed connections
	breakerWait    = 10 * time.Second
	dialTimeout    = 5 * time.Second
)

// Config says where the model is and how to ask it.
type Config struct {
	BaseURL    string        // such as http://127.0.0.1:1234/v1; without a scheme http is meant, without a path /v1
	API        string        // one of the API constants; empty: auto
	Key        string        // sent as a bearer token; empty: none
	EmbedModel string        // empty: found by Resolve
	JudgeModel string        // empty: found by Resolve
	Timeout    time.Duration // per request; 0: 120 s
	MaxRetries int           // further tries after a failed one; 0: 3, negative: none
	HTTP       *http.Client  // nil: an own one, without proxy and redirects
}

// Opts are the options of one completion (C5).
type Opts struct {
	System    string          // instructions; put before the prompt where the API has no system message
	MaxTokens int             // 0: the server's own default
	Stop      []string        // texts that end the answer
	Model     string          // empty: the judge model
	Schema    json.RawMessage // JSON schema of the answer, asked for where the server takes one; never a promise. Empty: plain text
}

// Model is what the guard asks: a [Client], or a [Fake].
type Model interface {
	// Embeddings is the vector of one text (C5).
	Embeddings(ctx context.Context, text string) ([]float32, error)
	// EmbedBatch is one vector per text, in the texts' order, all of one length; all of them or an error.
	EmbedBatch(ctx context.Context, texts []string) ([][]float32, error)
	// Complete is the model's answer to a prompt, never empty. One that was cut off at MaxTokens comes as it is, perhaps empty,
	// together with an [Error] of [KindCutOff].
	Complete(ctx context.Context, prompt string, opts Opts) (string, error)
	// Resolve names the models in use; an [Error] of [KindUnreachable] means that nothing answers.
	Resolve(ctx context.Context) (Models, error)
	// Demo tells that the answers are a heuristic's, not a model's.
	Demo() bool
	// URL says where the model is, for people and without credentials.
	URL() string
}

// Client asks an OpenAI-compatible server (C5). It is safe for concurrent use.
type Client struct {
	cfg        Config
	base       string        // without a slash at its end, without credentials
	user       *url.Userinfo // from the base URL; may be nil
	http       *http.Client
	breaker    *gobreaker.CircuitBreaker[reply]
	firstWait  time.Duration // before the first retry
	useChat    atomic.Bool   // /completions is missing
	mu         sync.Mutex
	models     Models              // as last resolved; empty names: never
	dimensions map[string]int      // by embedding model: the length seen first
	manners    map[string]*manners // by judge model
	loads      loads
}

var _ Model = (*Client)(nil)

// New checks cfg and returns its client; it asks the server nothing yet.
func New(cfg Config) (*Client, error) {
	u, err := parseBase(cfg.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("localllm: base URL: %w", err)
	}
	switch cfg.API {
	case "":
		cfg.API = APIAuto
	case APIAuto, APICompletions, APIChat:
	default:
		return nil, fmt.Errorf("localllm: API %q: use auto, completions or chat", cfg.API)
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = defaultTimeout
	}
	if cfg.MaxRetries == 0 {
		cfg.MaxRetries = defaultRetries
	}
	cfg.MaxRetries = max(cfg.MaxRetries, 0)
	c := &Client{cfg: cfg, user: u.User, http: cfg.HTTP, firstWait: 250 * time.Millisecond, dimensions: map[string]int{}, manners: map[string]*manners{}}
	u.User = nil
	c.base = strings.TrimRight(u.String(), "/")
	if c.http == nil {
		c.http = ownHTTP()
	}
	c.useChat.Store(cfg.API == APIChat)
	c.breaker = newBreaker(breakerWait)
	return c, nil
}

// Demo is false: a real server answers.
func (c *Client) Demo() bool { return false }

// URL is the base URL without credentials.
func (c *Client) URL() string { return c.base }

// parseBase reads a base URL as people write it. Its errors do not repeat it: it may hold a password.
func parseBase(s string) (*url.URL, error) {
	s = strings.TrimSpace(s)
	if s != "" && !strings.Contains(s, "://") {
		s = "http://" + s
	}
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return nil, errors.New("not a URL; use one such as http://127.0.0.1:1234/v1")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("neither http nor https; use one such as http://127.0.0.1:1234/v1")
	case u.Host == "":
		return nil, errors.New("no host; use one such as http://127.0.0.1:1234/v1")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("it has a query or a fragment; leave them out (a key has its own setting)")
	}
	if strings.Trim(u.Path, "/") == "" {
		u.Path = "/v1"
	}
	return u, nil
}

// ownHTTP is a client for a server next door: no proxy from the environment (the texts are private) and no redirects (they would
// be sent elsewhere).
func ownHTTP() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			DialContext:         (&net.Dialer{Timeout: dialTimeout}).DialContext,
			MaxIdleConnsPerHost: 16,
			IdleConnTimeout:     30 * time.Second,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// newBreaker opens after breakerTrips failed connections in a row and lets one request try again after wait. Any answer at all
// counts as success; a timeout or a cancelled request says nothing about the connection.
func newBreaker(wait time.Duration) *gobreaker.CircuitBreaker[reply] {
	return gobreaker.NewCircuitBreaker[reply](gobreaker.Settings{
		Name:         "localllm",
		Timeout:      wait,
		ReadyToTrip:  func(n gobreaker.Counts) bool { return n.ConsecutiveFailures >= breakerTrips },
		IsSuccessful: func(err error) bool { return err == nil },
		IsExcluded:   func(err error) bool { return err != nil && KindOf(err) != KindUnreachable },
	})
}
