package handlers

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"storozh/core"
	"storozh/views"
)

// statusClosed is what the log shows for a reader who went away; nobody receives it.
const statusClosed = 499

// retryAfter is when to come back once the database did not answer, in seconds.
const retryAfter = "5"

// problem is an error as a reader may see it; its JSON form is RFC 9457.
type problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`
	ID     string `json:"requestId"`
}

// fail is the one place where an error becomes an answer.
func (s *server) fail(err error, c echo.Context) {
	r := c.Request()
	p := classify(err)
	p.ID = requestIDOf(c)
	if p.Status >= http.StatusInternalServerError {
		s.Log.ErrorContext(r.Context(), "request failed", "route", routeOf(c), "method", r.Method, "request", p.ID, "error", err)
	}
	if c.Response().Committed {
		return
	}
	if p.Status == statusClosed {
		c.Response().Status = statusClosed
		return
	}
	if p.Status == http.StatusServiceUnavailable {
		c.Response().Header().Set(echo.HeaderRetryAfter, retryAfter)
	}
	if err := s.answer(c, p); err != nil {
		s.Log.ErrorContext(r.Context(), "the error could not be answered", "route", routeOf(c), "request", p.ID, "error", err)
	}
}

// classify maps an error to what the reader is told. What is not listed is ours to explain in the log, not theirs to read.
func classify(err error) problem {
	var he *echo.HTTPError
	var tooBig *http.MaxBytesError
	switch {
	case errors.As(err, &tooBig):
		return titled(http.StatusRequestEntityTooLarge, "the body is larger than this address takes")
	case errors.As(err, &he):
		detail, _ := he.Message.(string)
		if detail == http.StatusText(he.Code) || he.Code >= http.StatusInternalServerError {
			detail = ""
		}
		return titled(he.Code, detail)
	case errors.Is(err, core.ErrDropped):
		return titled(http.StatusNotFound, core.ErrDropped.Error())
	case errors.Is(err, core.ErrNotFound):
		return titled(http.StatusNotFound, "")
	case errors.Is(err, core.ErrInvalid):
		return titled(http.StatusBadRequest, core.Detail(err))
	case errors.Is(err, core.ErrConflict):
		return titled(http.StatusConflict, core.Detail(err))
	case errors.Is(err, core.ErrNoDatabase):
		p := titled(http.StatusServiceUnavailable, "")
		p.Title = "The database does not answer"
		return p
	case errors.Is(err, context.Canceled), errors.Is(err, core.ErrCanceled):
		return titled(statusClosed, "")
	}
	return titled(http.StatusInternalServerError, "")
}

func titled(status int, detail string) problem {
	title := http.StatusText(status)
	switch status {
	case http.StatusInternalServerError:
		title = "Something went wrong"
	case http.StatusNotFound:
		title = "Not found"
	}
	return problem{Type: "about:blank", Title: title, Status: status, Detail: detail}
}

// answer prints a problem as the caller can read it.
func (s *server) answer(c echo.Context, p problem) error {
	if c.Request().Method == http.MethodHead {
		return c.NoContent(p.Status)
	}
	if wantsJSON(c.Request()) {
		body, err := json.Marshal(p)
		if err != nil {
			return err
		}
		return c.Blob(p.Status, "application/problem+json", body)
	}
	s.peek(c)
	detail := p.Detail
	switch {
	case detail != "":
	case p.Status == http.StatusNotFound:
		detail = "There is nothing at this address, or not any more."
	case p.Status == http.StatusInternalServerError:
		detail = "It is not your fault. Try again; if it stays so, look into the log."
	case p.Status == http.StatusServiceUnavailable:
		detail = "It may be starting again. Load this page once more in a moment: what a form held is sent again, and nothing is stored twice."
	}
	id := ""
	if p.Status >= http.StatusInternalServerError {
		id = p.ID
	}
	return s.render(c, p.Status, views.ProblemPage(views.NewProblem(s.page(c), p.Status, p.Title, detail, id)))
}

// wantsJSON tells programs from browsers: by address, else by what they accept.
func wantsJSON(r *http.Request) bool {
	for _, prefix := range []string{"/api/", "/webhooks/"} {
		if strings.HasPrefix(r.URL.Path, prefix) {
			return true
		}
	}
	accept := r.Header.Get(echo.HeaderAccept)
	return strings.Contains(accept, "json") && !strings.Contains(accept, "text/html")
}
