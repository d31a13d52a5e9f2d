package handlers

import (
	"context"
	"errors"
	"time"
)

// SessionStore keeps browsers' sessions under a hash of their id, and decides how long they last.
type SessionStore interface {
	// Find gives a session's content; false if there is none, or it has ended.
	Find(ctx context.Context, token string) (data []byte, found bool, err error)
	// Add keeps a new session.
	Add(ctx context.Context, token string, data []byte) error
	// Update keeps new content of a session that is still there, and prolongs it. One that was ended meanwhile stays ended, without an error.
	Update(ctx context.Context, token string, data []byte) error
	// End removes a session for good.
	End(ctx context.Context, token string) error
	// EndAll removes the sessions whose content ended picks, and tells how many.
	EndAll(ctx context.Context, ended func(data []byte) bool) (int, error)
}

// finalStore is a SessionStore as the session manager wants it. The manager saves a session at the end of each request that read it, so a
// request that is under way while the session is ended would bring it back. Here only a session that began with the request is added; one
// that was read can be updated, which does nothing once it is gone.
type finalStore struct{ SessionStore }

// origin is what a request knows of its session; it lies in the request's context under originKey.
type origin struct{ read string } // the name under which the session is in the store; empty: it is not

type originKey struct{}

// errNoContext is for calls without a request, of which the manager makes none.
var errNoContext = errors.New("sessions are kept within requests only")

func withOrigin(ctx context.Context) context.Context {
	return context.WithValue(ctx, originKey{}, new(origin))
}

// FindCtx reads a session and remembers that it was there.
func (f finalStore) FindCtx(ctx context.Context, token string) ([]byte, bool, error) {
	data, found, err := f.SessionStore.Find(ctx, token)
	if o, ok := ctx.Value(originKey{}).(*origin); ok && found {
		o.read = token
	}
	return data, found, err
}

// CommitCtx keeps a session. The expiry that the manager worked out by this process's clock is for the cookie; the store has its own.
func (f finalStore) CommitCtx(ctx context.Context, token string, data []byte, _ time.Time) error {
	o, ok := ctx.Value(originKey{}).(*origin)
	if !ok {
		return errNoContext
	}
	if o.read == token {
		return f.SessionStore.Update(ctx, token, data)
	}
	err := f.SessionStore.Add(ctx, token, data)
	if err == nil {
		o.read = token
	}
	return err
}

// DeleteCtx ends a session.
func (f finalStore) DeleteCtx(ctx context.Context, token string) error {
	return f.SessionStore.End(ctx, token)
}

// Find, Commit and Delete are what the manager asks of a store that knows no contexts.
func (finalStore) Find(string) ([]byte, bool, error)      { return nil, false, errNoContext }
func (finalStore) Commit(string, []byte, time.Time) error { return errNoContext }
func (finalStore) Delete(string) error                    { return errNoContext }
