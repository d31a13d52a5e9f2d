package handlers

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"storozh/core"
	"storozh/core/manifest"
	"storozh/views"
)

// transcript shows what the session of a manifest said: the passages that name the file of ?unit=, and the whole, page by page. It is read
// from the manifest's own bytes when asked for, never kept beside them.
func (s *server) transcript(c echo.Context) error {
	r, err := s.record(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	var unit *core.Unit
	if id := c.QueryParam("unit"); id != "" {
		if r.Judged == nil {
			return fmt.Errorf("unit %w", core.ErrNotFound)
		}
		u, err := s.Store.Unit(ctx, r.Judged.ID, id)
		if err != nil {
			return err
		}
		unit = &u.Unit
	}
	raw, err := s.Store.RawManifest(ctx, r.ID)
	if err != nil {
		return err
	}
	m, err := manifest.Parse(raw)
	if err != nil {
		return fmt.Errorf("manifest %d: reading the transcript: %w", r.ID, err)
	}
	at, _ := strconv.Atoi(c.QueryParam("page")) // anything unreadable is the first page
	return s.render(c, http.StatusOK, views.TranscriptPage(views.NewTranscript(s.page(c), r, m.Transcript, unit, at)))
}
