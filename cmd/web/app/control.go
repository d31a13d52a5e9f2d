package app

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"storozh/core"
)

// The control socket lets the command line ask the running process, which alone may hold the embedded database open. It lies in the data
// folder, which only the user can enter; that is its whole access control.

// maxSocketPath is what a unix socket's address can hold, with room to spare.
const maxSocketPath = 100

func controlPath(dataDir string) string {
	p := filepath.Join(dataDir, "control.sock")
	if len(p) <= maxSocketPath {
		return p
	}
	sum := sha256.Sum256([]byte(dataDir))
	return filepath.Join(os.TempDir(), "storozh-"+strconv.Itoa(os.Getuid())+"-"+hex.EncodeToString(sum[:6]), "control.sock")
}

// listenControl opens the control socket. The caller must hold the embedded database, or be the only one to care.
func listenControl(dataDir string) (net.Listener, error) {
	path := controlPath(dataDir)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	if err := os.Chmod(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("the folder of the control socket is not ours: %w", err)
	}
	_ = os.Remove(path) // of an earlier process that was killed
	ln, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	return ln, os.Chmod(path, 0o600)
}

// controlHandler serves a Desk.
func controlHandler(d Desk) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /check", func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxFile))
		if err != nil {
			answer(w, nil, fmt.Errorf("%w: %v", core.ErrInvalid, err))
			return
		}
		id, err := d.Check(r.Context(), raw, r.URL.Query().Get("path"))
		answer(w, id, err)
	})
	mux.HandleFunc("POST /sample", func(w http.ResponseWriter, r *http.Request) {
		id, err := d.RunSample(r.Context())
		answer(w, id, err)
	})
	mux.HandleFunc("GET /outcome/{id}", func(w http.ResponseWriter, r *http.Request) {
		id, _ := strconv.ParseInt(r.PathValue("id"), 10, 64)
		o, err := d.Outcome(r.Context(), id)
		answer(w, o, err)
	})
	mux.HandleFunc("POST /login/{who}", func(w http.ResponseWriter, r *http.Request) {
		link, err := d.Link(r.Context(), core.Cosigner(r.PathValue("who")))
		answer(w, link, err)
	})
	mux.HandleFunc("POST /sync", func(w http.ResponseWriter, r *http.Request) {
		s, err := d.Sync(r.Context())
		answer(w, s, err)
	})
	mux.HandleFunc("POST /evaluations", serveEvaluation(d))
	if x, ok := d.(exporter); ok {
		mux.HandleFunc("GET /export", serveExport(x))
	}
	return mux
}

type controlAnswer struct {
	Value   json.RawMessage `json:"value,omitempty"`
	Error   string          `json:"error,omitempty"`
	Invalid bool            `json:"invalid,omitempty"` // the error is core.ErrInvalid
	Away    bool            `json:"away,omitempty"`    // the error is core.ErrNoDatabase
}

func answer(w http.ResponseWriter, v any, err error) {
	var a controlAnswer
	if err == nil {
		a.Value, err = json.Marshal(v)
	}
	if err != nil {
		a.Error, a.Invalid, a.Away = err.Error(), errors.Is(err, core.ErrInvalid), errors.Is(err, core.ErrNoDatabase)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(a) // the reader is gone
}

// ErrGone means that the running process does not answer any more, as when it was stopped.
var ErrGone = errors.New("the running storozh does not answer")

// Remote is the Desk of a process that is already running with the same data folder.
type Remote struct {
	c     *http.Client
	limit time.Duration // for an answer that needs no model
}

// callLimit is how long the running process may take for what needs no model. A first reading of a big corpus takes as long as it takes, as
// does an export: they end with their context, and with the process.
const callLimit = 10 * time.Minute

// Dial finds the running process; ok is false if there is none.
func Dial(ctx context.Context, dataDir string) (*Remote, bool) {
	path := controlPath(dataDir)
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, false
	}
	_ = conn.Close()
	return &Remote{limit: callLimit, c: &http.Client{
		Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return d.DialContext(ctx, "unix", path)
		}},
	}}, true
}

// quick is call with a limit.
func (r *Remote) quick(ctx context.Context, method, path string, body []byte, into any) error {
	ctx, cancel := context.WithTimeout(ctx, r.limit)
	defer cancel()
	return r.call(ctx, method, path, body, into)
}

func (r *Remote) call(ctx context.Context, method, path string, body []byte, into any) error {
	req, err := http.NewRequestWithContext(ctx, method, "http://storozh"+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	res, err := r.c.Do(req)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrGone, err)
	}
	defer func() { _ = res.Body.Close() }()
	var a controlAnswer
	if err := json.NewDecoder(res.Body).Decode(&a); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) { // it ended in the middle of its answer
			return fmt.Errorf("%w: %w", ErrGone, err)
		}
		return fmt.Errorf("the running storozh answers something else: %w", err)
	}
	switch {
	case a.Invalid:
		return said{a.Error, core.ErrInvalid}
	case a.Away:
		return said{a.Error, core.ErrNoDatabase}
	case a.Error != "":
		return errors.New(a.Error)
	}
	return json.Unmarshal(a.Value, into)
}

// said is an error of core with the words that came over the socket.
type said struct {
	words string
	kind  error
}

func (e said) Error() string { return e.words }
func (e said) Unwrap() error { return e.kind }

var _ Desk = (*Remote)(nil)

// Check asks the running process.
func (r *Remote) Check(ctx context.Context, raw []byte, path string) (id int64, err error) {
	err = r.quick(ctx, http.MethodPost, "/check?path="+url.QueryEscape(path), raw, &id)
	return id, err
}

// RunSample asks the running process.
func (r *Remote) RunSample(ctx context.Context) (id int64, err error) {
	err = r.quick(ctx, http.MethodPost, "/sample", nil, &id)
	return id, err
}

// Outcome asks the running process.
func (r *Remote) Outcome(ctx context.Context, id int64) (o Outcome, err error) {
	err = r.quick(ctx, http.MethodGet, fmt.Sprintf("/outcome/%d", id), nil, &o)
	return o, err
}

// Link asks the running process.
func (r *Remote) Link(ctx context.Context, c core.Cosigner) (link string, err error) {
	err = r.quick(ctx, http.MethodPost, "/login/"+url.PathEscape(string(c)), nil, &link)
	return link, err
}

// Sync asks the running process.
func (r *Remote) Sync(ctx context.Context) (s core.CorpusState, err error) {
	err = r.call(ctx, http.MethodPost, "/sync", nil, &s)
	return s, err
}
