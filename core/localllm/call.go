package localllm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/sony/gobreaker/v2"

	"storozh/core"
)

// The operations, as they appear in errors.
const (
	opEmbed    = "embed"
	opComplete = "complete"
	opModels   = "models"
	opLoaded   = "loaded"
)

// maxRetryAfter caps what a server may ask us to wait.
const maxRetryAfter = 30 * time.Second

// reply is an answer that arrived whole, whatever its status.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// post sends in as JSON until an answer without an error arrives, and returns its body.
func (c *Client) post(ctx context.Context, op, path string, in any) ([]byte, error) {
	body, err := json.Marshal(in)
	if err != nil {
		return nil, &Error{Kind: KindMalformed, Op: op, Detail: "the request cannot be written as JSON", Err: err}
	}
	r, err := c.retry(ctx, op, http.MethodPost, path, body, c.cfg.MaxRetries)
	return r.body, err
}

// retry repeats a request on connection errors, 429 and 5xx, with jittered exponential waits.
func (c *Client) retry(ctx context.Context, op, method, path string, body []byte, retries int) (reply, error) {
	waits := backoff.NewExponentialBackOff()
	waits.InitialInterval, waits.MaxInterval = c.firstWait, 20*c.firstWait
	var last *Error
	r, err := backoff.Retry(ctx, func() (reply, error) {
		r, again, fail := c.attempt(ctx, op, method, path, body)
		if fail == nil {
			return r, nil
		}
		last = fail
		if !again {
			return r, backoff.Permanent(fail)
		}
		if d := retryAfter(r.header); d > 0 {
			return r, &backoff.RetryAfterError{Duration: d}
		}
		return r, fail
	}, backoff.WithBackOff(waits), backoff.WithMaxTries(uint(retries)+1), backoff.WithMaxElapsedTime(0))
	switch {
	case err == nil:
		return r, nil
	case ctx.Err() != nil && last.Kind != KindCancelled && last.Kind != KindTimeout:
		return r, c.broken(ctx, op, ctx.Err()) // it ended during a wait
	default:
		return r, last
	}
}

// attempt is one request through the breaker. again tells whether it is worth repeating.
func (c *Client) attempt(ctx context.Context, op, method, path string, body []byte) (r reply, again bool, fail *Error) {
	r, err := c.breaker.Execute(func() (reply, error) { return c.once(ctx, op, method, c.base+path, body) })
	switch {
	case errors.Is(err, gobreaker.ErrOpenState):
		return r, false, &Error{Kind: KindUnreachable, Op: op, Err: err,
			Detail: c.base + " refused " + strconv.Itoa(breakerTrips) + " connections in a row; the next try is in a few seconds"}
	case errors.Is(err, gobreaker.ErrTooManyRequests):
		return r, true, &Error{Kind: KindUnreachable, Op: op, Err: err, Detail: c.base + " is being tried again by another request"}
	case err != nil:
		var e *Error
		if !errors.As(err, &e) {
			e = &Error{Kind: KindUnreachable, Op: op, Err: err}
		}
		return r, e.Kind == KindUnreachable, e
	}
	again, fail = c.judgeStatus(op, r)
	return r, again, fail
}

// judgeStatus finds the error in an answer: by status, and by an `error` member even with status 200 (case L1).
func (c *Client) judgeStatus(op string, r reply) (again bool, fail *Error) {
	said, code, member := serverError(r.body)
	status := r.status
	if status >= 200 && status < 300 {
		if !member { // a good answer may well have a `message`
			return false, nil
		}
		if code >= 400 && code < 600 {
			status = code
		}
	}
	if said == "" {
		said = string(r.body[:min(len(r.body), 4*maxDetail)])
	}
	kind, again := classify(op, status, said)
	if status == http.StatusRequestTimeout {
		kind = KindTimeout
	}
	if status >= 300 && status < 400 {
		said = "it redirects elsewhere; set the base URL to where it really is"
	}
	e := &Error{Kind: kind, Op: op, Status: r.status, Detail: c.scrub(said)}
	switch member := namedMember(said); {
	case member != nil:
		e.Err = member
	case missingEndpoint(status, said):
		e.Err = errNoEndpoint
	}
	return again, e
}

// errNoEndpoint marks an error that means: this server has no such route.
var errNoEndpoint = errors.New("no such endpoint")

// once sends one request and reads the whole answer within the time limit.
func (c *Client) once(ctx context.Context, op, method, address string, body []byte) (reply, error) {
	limit := c.cfg.Timeout
	switch op { // no model is loaded for a list
	case opModels:
		limit = min(limit, 10*time.Second)
	case opLoaded:
		limit = min(limit, loadedLimit)
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	req, err := http.NewRequestWithContext(limited, method, address, bytes.NewReader(body))
	if err != nil {
		return reply{}, &Error{Kind: KindMalformed, Op: op, Detail: "the request cannot be built", Err: err}
	}
	req.Header.Set("Content-Type", "application/json")
	switch {
	case c.cfg.Key != "":
		req.Header.Set("Authorization", "Bearer "+c.cfg.Key)
	case c.user != nil:
		pass, _ := c.user.Password()
		req.SetBasicAuth(c.user.Username(), pass)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return reply{}, c.broken(ctx, op, err)
	}
	defer func() { _ = resp.Body.Close() }()
	got, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	if err != nil {
		return reply{}, c.broken(ctx, op, err)
	}
	if len(got) > maxBody {
		return reply{}, &Error{Kind: KindMalformed, Op: op, Status: resp.StatusCode, Detail: fmt.Sprintf("the answer is larger than %d MiB", maxBody>>20)}
	}
	return reply{status: resp.StatusCode, header: resp.Header, body: got}, nil
}

// broken tells cancelled, timed out and lost connections apart. ctx is the caller's.
func (c *Client) broken(ctx context.Context, op string, err error) *Error {
	e := &Error{Kind: KindUnreachable, Op: op, Err: err}
	var dial *net.OpError
	var wait net.Error
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		e.Kind, e.Err = KindCancelled, errors.Join(core.ErrCanceled, ctx.Err())
		return e
	case errors.As(err, &dial) && dial.Op == "dial" && ctx.Err() == nil:
	case ctx.Err() != nil, errors.As(err, &wait) && wait.Timeout():
		e.Kind, e.Detail = KindTimeout, c.base+" gave no whole answer in time"
		return e
	}
	e.Detail = c.scrub(c.base + ": " + err.Error())
	return e
}

// scrub makes a detail one short line without secrets, which a server may echo.
func (c *Client) scrub(s string) string {
	secrets := []string{c.cfg.Key}
	if c.user != nil {
		pass, _ := c.user.Password()
		secrets = append(secrets, pass)
	}
	for _, secret := range secrets {
		if secret != "" {
			s = strings.ReplaceAll(s, secret, "***")
		}
	}
	return oneLine(s)
}

// retryAfter reads a Retry-After header: seconds, or a date that is measured against the answer's own Date (this package has no
// clock). 0 means that there is none.
func retryAfter(h http.Header) time.Duration {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if v == "" {
		return 0
	}
	d := time.Duration(0)
	if n, err := strconv.Atoi(v); err == nil {
		d = time.Duration(min(max(n, 0), 3600)) * time.Second
	} else if at, err := http.ParseTime(v); err == nil {
		if now, err := http.ParseTime(h.Get("Date")); err == nil {
			d = at.Sub(now)
		}
	}
	return min(max(d, 0), maxRetryAfter)
}
