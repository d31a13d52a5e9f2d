package localllm

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// Kind is the kind of a failure: what a caller may say about it and do next.
type Kind string

// The kinds of failures.
const (
	KindUnreachable Kind = "unreachable"  // no connection, or the breaker keeps us from trying one
	KindTimeout     Kind = "timeout"      // connected, but no whole answer within the time limit
	KindRateLimited Kind = "rate-limited" // 429 until the retries ran out
	KindServer      Kind = "server"       // any other error the server answered
	KindRefused     Kind = "refused"      // 401 or 403: a key is missing or wrong
	KindNoModel     Kind = "no-model"     // no such model, none loaded, or none that can embed
	KindTooLong     Kind = "too-long"     // the text does not fit into the model's context
	KindEmpty       Kind = "empty"        // the answer has no text (or only a reasoning field)
	KindCutOff      Kind = "cut-off"      // the answer ended at its token limit; what there is of it comes beside the error
	KindMalformed   Kind = "malformed"    // the answer cannot be what was asked for
	KindCancelled   Kind = "cancelled"    // the caller's context was cancelled
)

// maxDetail caps an error's detail, in runes: it ends up on a page and in a log line.
const maxDetail = 300

// Error is a failed call. It never holds the key or the credentials of the URL.
type Error struct {
	Kind   Kind
	Op     string // "embed", "complete", "models" or "loaded"
	Status int    // HTTP status; 0 if none was received
	Detail string // one line of at most 300 runes, for people
	Err    error  // the cause; may be nil
}

// Error is one line: the operation, the kind, the detail and the status.
func (e *Error) Error() string {
	s := fmt.Sprintf("localllm: %s: %s", e.Op, e.Kind)
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	if e.Status != 0 {
		s += fmt.Sprintf(" (HTTP %d)", e.Status)
	}
	return s
}

// Unwrap yields the cause, so that errors.Is finds context.Canceled and core.ErrCanceled.
func (e *Error) Unwrap() error { return e.Err }

// KindOf is the kind of err, or "" if no [Error] is in its chain.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return ""
}

// oneLine makes s fit for a log line: valid UTF-8, blanks folded, nothing invisible, at most maxDetail runes.
func oneLine(s string) string {
	if len(s) > 16*maxDetail {
		s = s[:16*maxDetail]
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > maxDetail {
		s = string(r[:maxDetail-1]) + "…"
	}
	return s
}
