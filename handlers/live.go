package handlers

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"storozh/core"
	"storozh/views"
)

// Times of the live stream.
const (
	liveLook  = time.Second      // how often a run is looked at, beside what wakes us
	liveBeat  = 15 * time.Second // comments that keep the connection from being taken for dead
	liveWrite = 10 * time.Second // for one event to leave
)

// progressJSON says how far a run is: one event of the stream, and the answer to a page that polls.
type progressJSON struct {
	Run      int64       `json:"run"`
	Status   core.Status `json:"status"`
	Finished bool        `json:"finished"`
	Line     string      `json:"line"`
	core.Progress
}

func newProgress(r core.Record) progressJSON {
	return progressJSON{
		Run: r.Run.ID, Status: r.Run.Status, Finished: r.Run.Status.Finished(), Line: views.Plain(views.RunLine(r)), Progress: r.Run.Progress,
	}
}

// progress is what a page asks for that can't have the stream.
func (s *server) progress(c echo.Context) error {
	r, err := s.record(c)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, newProgress(r))
}

// events streams how far the latest run of a manifest is, one event per change. It ends with the run, with the reader or their session, and
// when the server shuts down.
func (s *server) events(c echo.Context) error {
	r, err := s.record(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	h := c.Response().Header()
	h.Set(echo.HeaderContentType, "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // a proxy must hand each event on
	look, beat := time.NewTicker(liveLook), time.NewTicker(liveBeat)
	defer look.Stop()
	defer beat.Stop()
	last := newProgress(r)
	if err := s.event(c, last); err != nil {
		return nil // the reader went away: there is nobody to tell
	}
	for !last.Finished {
		changed := s.changed()
		select {
		case <-ctx.Done():
			return nil
		case <-s.Closing:
			return nil
		case <-beat.C:
			if err := s.emit(c, ": still here\n\n"); err != nil {
				return nil
			}
			continue
		case <-look.C:
		case <-changed:
		}
		if ok, err := s.stillSignedIn(c); err != nil || !ok {
			return err // signed out elsewhere: the page asks again, and is sent to the sign-in
		}
		if r, err = s.Store.Record(ctx, r.ID); err != nil {
			return err
		}
		if now := newProgress(r); now != last {
			last = now
			if err := s.event(c, now); err != nil {
				return nil
			}
		}
	}
	return nil
}

// changed is closed when some run ends; nil where nobody tells.
func (s *server) changed() <-chan struct{} {
	if s.Changed == nil {
		return nil
	}
	return s.Changed()
}

func (s *server) event(c echo.Context, p progressJSON) error {
	body, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return s.emit(c, "data: "+string(body)+"\n\n")
}

// emit sends a piece of the stream at once. The deadlines are moved each time, for the server's own are those of a short answer.
func (s *server) emit(c echo.Context, piece string) error {
	s.extend(c, 4*liveBeat, liveWrite)
	if _, err := c.Response().Write([]byte(piece)); err != nil {
		return err
	}
	return http.NewResponseController(c.Response().Writer).Flush()
}

// cancel is the "Cancel" button of a run under way. One that has ended meanwhile is not an error: the page says so.
func (s *server) cancel(c echo.Context) error {
	id, err := idParam(c)
	if err != nil {
		return err
	}
	err = s.Store.Cancel(c.Request().Context(), id)
	switch {
	case errors.Is(err, core.ErrConflict):
		s.say(c, "The run had ended before it could be cancelled.")
	case err != nil:
		return err
	default:
		s.say(c, "The run is being cancelled.")
		s.audit(c, core.AuditCancel, fmt.Sprintf("manifest %d", id))
	}
	return c.Redirect(http.StatusSeeOther, fmt.Sprintf("/manifests/%d", id))
}
