package handlers

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"storozh/core"
	"storozh/views"
)

// page is what every view needs to know about this request.
func (s *server) page(c echo.Context) views.Page {
	return views.Page{Signed: s.signedIn(c), CSRF: s.csrf(c), Demo: s.Demo, Version: s.Version, Now: s.Now()}
}

// render prints a view into memory first, so that a fault in it still becomes an error page.
func (s *server) render(c echo.Context, status int, view templ.Component) error {
	var b bytes.Buffer
	if err := view.Render(c.Request().Context(), &b); err != nil {
		return fmt.Errorf("printing the page: %w", err)
	}
	return c.HTMLBlob(status, b.Bytes())
}

// idParam is the manifest's id in the path. Anything that is no id can't be found.
func idParam(c echo.Context) (int64, error) {
	id, err := strconv.ParseInt(c.Param("id"), 10, 64)
	if err != nil || id < 1 {
		return 0, fmt.Errorf("manifest %w", core.ErrNotFound)
	}
	return id, nil
}
