package handlers

import (
	"crypto/rand"
	"crypto/subtle"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"
)

const (
	csrfCookie = "storozh_csrf"
	csrfField  = "_csrf"
	csrfHeader = "X-CSRF-Token"
)

// ownPages lets a request that changes something through only if it comes from our own pages. Any one proof is enough: the
// hidden field (or header) that repeats the cookie; the browser's word that the request is same-origin; or an Origin that is
// our host. A request with a bearer token needs none, for no browser adds that by itself.
func (s *server) ownPages(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		switch r.Method {
		case http.MethodGet, http.MethodHead, http.MethodOptions:
			return next(c)
		}
		if c.Get(ctxBearer) == true || s.csrfProof(c) {
			return next(c)
		}
		return echo.NewHTTPError(http.StatusForbidden, "this form did not come from a page of Storozh, or that page is too old; load the page again and repeat")
	}
}

func (s *server) csrfProof(c echo.Context) bool {
	r := c.Request()
	// A browser's own word comes first: it needs no body, so a body over the limit gets its own answer later.
	switch r.Header.Get(echo.HeaderSecFetchSite) {
	case "same-origin":
		return true
	case "cross-site":
		return false
	}
	if origin := r.Header.Get(echo.HeaderOrigin); origin != "" && s.ownOrigin(r, origin) {
		return true
	}
	return csrfToken(c)
}

// ownOrigin compares an Origin with the host that was asked and with the public URL.
func (s *server) ownOrigin(r *http.Request, origin string) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" {
		return false
	}
	return strings.EqualFold(u.Host, r.Host) || s.PublicURL != "" && strings.EqualFold(origin, s.PublicURL)
}

// csrfToken compares the cookie with the hidden field.
func csrfToken(c echo.Context) bool {
	r := c.Request()
	cookie, err := r.Cookie(csrfCookie)
	if err != nil || len(cookie.Value) < 26 { // as long as rand.Text makes it
		return false
	}
	given := r.Header.Get(csrfHeader)
	if given == "" {
		if c.Get(ctxLimited) == nil { // else the route has set a limit of its own
			r.Body = http.MaxBytesReader(c.Response(), r.Body, formBytes)
		}
		given = r.PostFormValue(csrfField) // a body that is no form, or too long, has no field
	}
	return subtle.ConstantTimeCompare([]byte(cookie.Value), []byte(given)) == 1
}

// csrf is the value for the hidden field of this reader's forms; it sets the cookie that goes with it at the first call.
func (s *server) csrf(c echo.Context) string {
	if cookie, err := c.Cookie(csrfCookie); err == nil && len(cookie.Value) >= 26 && len(cookie.Value) < 100 {
		return cookie.Value
	}
	value := rand.Text()
	c.SetCookie(&http.Cookie{
		Name: csrfCookie, Value: value, Path: "/", HttpOnly: true, Secure: s.secure(c), SameSite: http.SameSiteStrictMode,
	})
	return value
}
