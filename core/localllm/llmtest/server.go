// Package llmtest is a real HTTP server that speaks the protocol of contract C5, for tests. The demo model answers behind it; its
// [Faults] reproduce what real servers do wrong and may change while it runs.
package llmtest

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"storozh/core/localllm"
)

// Faults are the ways in which a server departs from the ideal. The zero value is a good server.
type Faults struct {
	Delay          time.Duration // before every answer
	Down           bool          // connections are reset
	Statuses       []int         // the statuses of the next requests other than GET, one each; 0: an answer as usual
	RetryAfter     string        // header beside such a status
	StatusBody     string        // body beside such a status
	ErrorAs200     any           // status 200 with this as `error`
	Raw            string        // status 200 with this body
	Shuffle        bool          // vectors come in reverse order, with a right `index`
	NullVectors    bool          // every number is null
	ZeroVectors    bool          // every number is 0
	Dimensions     int           // vectors are cut to this length; 0: whole
	OddLength      bool          // the last vector of a batch is one number short
	Indexes        []int         // in place of the right ones
	OnlyReasoning  bool          // the answer stands in `reasoning_content`, the content is null (chat)
	Fences         bool          // the answer is wrapped in a code fence
	EmptyText      bool          // the answer is ""
	NoCompletions  bool          // 404 on /completions
	NoChat         bool          // 404 on /chat/completions
	NoEmbeddings   bool          // 404 on /embeddings
	Unexpected200  bool          // like LM Studio, a missing endpoint answers 200 with an `error`
	NoModels       bool          // 404 on /models
	Models         []string      // what /models lists; nil: the demo models
	MaxPrompt      int           // bytes of a prompt or text beyond which the context overflows; 0: any
	Answer         func(prompt string) string
	Embedder       func(text string) []float32
	BeforeAnswer   func() // called for every POST that will be answered
	RequireBearer  string // 401 without this key
	RedirectModels string // /models redirects there
	Habits
}

// Counts are the requests that arrived, whatever became of them.
type Counts struct {
	Models, Embeddings, Texts, Completions, Chat int
	Loaded                                       int // LM Studio's list of what is loaded
	Aborted                                      int // the client went away during Delay
	Peak                                         int // most requests at once
}

// Server is a running test server.
type Server struct {
	URL string // base URL, ends in /v1

	mu     sync.Mutex
	faults Faults
	counts Counts
	active int
	asked  []Asked
	fake   *localllm.Fake
}

// Asked is one request for a completion as it came in.
type Asked struct {
	Path   string
	Body   map[string]any
	Prompt string // the prompt, or all messages joined by blank lines
	Auth   string // the Authorization header
}

// Option sets a fault at the start.
type Option func(*Faults)

// Start runs a server until the test ends.
func Start(t testing.TB, opts ...Option) *Server {
	t.Helper()
	s := &Server{fake: localllm.NewFake()}
	s.Set(opts...)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", s.models)
	mux.HandleFunc("GET /api/v0/models", s.loaded)
	mux.HandleFunc("POST /v1/embeddings", s.embeddings)
	mux.HandleFunc("POST /v1/completions", s.completions)
	mux.HandleFunc("POST /v1/chat/completions", s.completions)
	srv := httptest.NewServer(s.faulty(mux))
	t.Cleanup(srv.Close)
	s.URL = srv.URL + "/v1"
	return s
}

// Set changes faults while the server runs.
func (s *Server) Set(opts ...Option) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range opts {
		o(&s.faults)
	}
}

// Reset makes it a good server again and forgets what was counted.
func (s *Server) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults, s.counts, s.asked = Faults{}, Counts{}, nil
}

// Counts is what has arrived so far.
func (s *Server) Counts() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts
}

// Asked are the requests for completions so far.
func (s *Server) Asked() []Asked {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

func (s *Server) now() Faults {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.faults
}

func (s *Server) count(f func(*Counts)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.counts)
}

// faulty does what concerns every route alike.
func (s *Server) faulty(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.active++
		s.counts.Peak = max(s.counts.Peak, s.active)
		f := s.faults
		s.mu.Unlock()
		defer func() {
			s.mu.Lock()
			s.active--
			s.mu.Unlock()
		}()
		if f.Down {
			s.arrived(r.URL.Path)
			reset(w)
			return
		}
		if f.RequireBearer != "" && r.Header.Get("Authorization") != "Bearer "+f.RequireBearer {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// arrived counts a request by its route.
func (s *Server) arrived(path string) {
	s.count(func(c *Counts) {
		switch path {
		case "/v1/models":
			c.Models++
		case "/api/v0/models":
			c.Loaded++
		case "/v1/embeddings":
			c.Embeddings++
		case "/v1/completions":
			c.Completions++
		case "/v1/chat/completions":
			c.Chat++
		}
	})
}

// reset breaks the connection off, as a server does that dies.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// spoiled writes the fault of a POST, if there is one, once its body has been read.
func (s *Server) spoiled(w http.ResponseWriter, r *http.Request, f Faults) bool {
	select {
	case <-time.After(f.Delay):
	case <-r.Context().Done():
		s.count(func(c *Counts) { c.Aborted++ })
		return true
	}
	status := 0
	s.mu.Lock()
	if len(s.faults.Statuses) > 0 {
		status, s.faults.Statuses = s.faults.Statuses[0], s.faults.Statuses[1:]
	}
	s.mu.Unlock()
	switch {
	case status != 0:
		if f.RetryAfter != "" {
			w.Header().Set("Retry-After", f.RetryAfter)
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(f.StatusBody))
	case f.ErrorAs200 != nil:
		write(w, map[string]any{"error": f.ErrorAs200})
	case f.Raw != "":
		_, _ = w.Write([]byte(f.Raw))
	default:
		if f.BeforeAnswer != nil {
			f.BeforeAnswer()
		}
		return false
	}
	return true
}

// missing answers for an endpoint that this server does not have.
func missing(w http.ResponseWriter, r *http.Request, f Faults) {
	if f.Unexpected200 {
		write(w, map[string]any{"error": "Unexpected endpoint or method. (" + r.Method + " " + r.URL.Path + "). Returning 200 anyway"})
		return
	}
	http.NotFound(w, r)
}

func write(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}
