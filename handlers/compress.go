package handlers

import (
	"compress/gzip"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"storozh/views"
)

// compressFrom is the size from which an answer is compressed, in bytes: below, it fits a packet or two all the same.
const compressFrom = 1024

// compress sends long answers gzipped. The fastest level: on one machine the bytes cost
// next to nothing, and the time does.
//
// A compressed page that holds a secret (the forms' _csrf, the changeset itself) beside text of the asker's choice (a search) lets who sees
// only its length guess the secret (BREACH). That takes many requests in the victim's name, so over TLS, where length is all that an
// eavesdropper sees, an answer to a request that another site may have caused stays as it is: one with a cookie and without the browser's
// word that it comes from our own pages or from the reader. Such requests are the first click on a link elsewhere, and no others.
func (s *server) compress() echo.MiddlewareFunc {
	return middleware.GzipWithConfig(middleware.GzipConfig{Level: gzip.BestSpeed, MinLength: compressFrom, Skipper: func(c echo.Context) bool {
		r := c.Request()
		switch {
		case r.Method == http.MethodHead || !views.AcceptsGzip(r.Header):
			return true
		case strings.HasSuffix(c.Path(), "/events"): // a stream: each event must leave at once
			return true
		case c.Path() == "/metrics" || strings.HasPrefix(c.Path(), views.AssetPrefix): // these do it themselves
			return true
		}
		return s.secure(c) && r.Header.Get(echo.HeaderCookie) != "" && !ownRequest(r.Header.Get(echo.HeaderSecFetchSite))
	}})
}

// ownRequest tells whether no other site can have caused a request: the browser says that one of our pages or the reader did.
func ownRequest(fetchSite string) bool { return fetchSite == "same-origin" || fetchSite == "none" }
