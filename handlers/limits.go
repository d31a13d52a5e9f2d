package handlers

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
)

// Limits of requests and waits.
const (
	manifestLimit = 64 << 20 // bytes of a manifest, on the wire and decoded (design §7)
	formBytes     = 64 << 10
	waitLimit     = 10 * time.Minute // longest ?wait
	uploadTime    = 2 * time.Minute  // to send a manifest
	answerTime    = time.Minute      // to take an answer, after a wait
	readyTimeout  = 5 * time.Second
	sampleTime    = 20 * time.Second // to queue the sample
	pageSize      = 25               // manifests on a page of the inbox
	apiPageSize   = 50               // manifests in an API answer, unless ?limit says otherwise
	apiPageMax    = 200
)

// formLimit bounds the body of everything but the webhook. Forms and the API's requests are small.
func formLimit(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		r.Body = http.MaxBytesReader(c.Response(), r.Body, formBytes)
		return next(c)
	}
}

// extend moves the connection's deadlines for a route that needs longer than the server's defaults. A connection that
// knows no deadlines (a test recorder) stays as it is.
func (s *server) extend(c echo.Context, read, write time.Duration) {
	rc := http.NewResponseController(c.Response())
	// The deadline of a socket is real time, whatever clock the pages show.
	now := time.Now()
	_ = rc.SetReadDeadline(now.Add(read))
	_ = rc.SetWriteDeadline(now.Add(write))
}
