package handlers

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"storozh/views"
)

// requestID gives every request an id of our own, for the log and for the reader of an error.
func (s *server) requestID(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		c.Response().Header().Set(echo.HeaderXRequestID, rand.Text())
		return next(c)
	}
}

func requestIDOf(c echo.Context) string { return c.Response().Header().Get(echo.HeaderXRequestID) }

// logRequest writes one line per request. It names the route, never the path or the query: a path can be a one-time link, and
// headers and bodies hold secrets.
func (s *server) logRequest(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		began := time.Now()
		err := next(c)
		if err != nil {
			c.Error(err) // answer now, so that the status is known; the error has been dealt with
		}
		s.Log.InfoContext(c.Request().Context(), "request", "method", c.Request().Method, "route", routeOf(c), "manifest", c.Param("id"),
			"status", c.Response().Status, "bytes", c.Response().Size, "took", time.Since(began).Round(time.Microsecond), "request", requestIDOf(c))
		return nil
	}
}

func routeOf(c echo.Context) string {
	if c.Path() == "" {
		return "none"
	}
	return c.Path()
}

// panicked is a panic on its way to the error mapper.
type panicked struct {
	value any
	stack []byte
}

func (p panicked) Error() string { return fmt.Sprintf("panic: %v\n%s", p.value, p.stack) }

// recoverPanic turns a panic into an error page; the connection's own abort goes on.
func (s *server) recoverPanic(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) (err error) {
		defer func() {
			v := recover()
			if v == nil {
				return
			}
			if e, ok := v.(error); ok && errors.Is(e, http.ErrAbortHandler) {
				panic(v)
			}
			err = panicked{value: v, stack: debug.Stack()}
		}()
		return next(c)
	}
}

// policy is the content security policy of every page: own files only, no inline script or style, no frames, forms to us.
const policy = "default-src 'self'; base-uri 'none'; object-src 'none'; form-action 'self'; frame-ancestors 'none'"

// headers sets what a browser needs to know about our answers.
func (s *server) headers(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		h := c.Response().Header()
		h.Set(echo.HeaderContentSecurityPolicy, policy)
		h.Set(echo.HeaderXContentTypeOptions, "nosniff")
		h.Set(echo.HeaderXFrameOptions, "DENY")
		h.Set(echo.HeaderReferrerPolicy, "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		if s.secure(c) {
			h.Set(echo.HeaderStrictTransportSecurity, "max-age=31536000")
		}
		if !strings.HasPrefix(c.Request().URL.Path, views.AssetPrefix) {
			h.Set(echo.HeaderCacheControl, "no-store")
		}
		return next(c)
	}
}

// secure tells whether the reader came over TLS: to us, or to the proxy that the public URL names.
func (s *server) secure(c echo.Context) bool {
	return c.Request().TLS != nil || strings.HasPrefix(s.PublicURL, "https://")
}

// allowedHost refuses a foreign Host header, so that a hostile page can't reach us under a name of its own (DNS rebinding).
// Requests that carry a token are spared: such a page has none, and the webhook's sender calls host.docker.internal. So are
// the health checks, which tell nothing.
func (s *server) allowedHost(next echo.HandlerFunc) echo.HandlerFunc {
	allowed := map[string]bool{"localhost": true, "127.0.0.1": true, "::1": true}
	for _, h := range s.AllowedHosts {
		allowed[strings.ToLower(hostOnly(h))] = true
	}
	if _, rest, ok := strings.Cut(s.PublicURL, "://"); ok {
		host, _, _ := strings.Cut(rest, "/")
		allowed[strings.ToLower(hostOnly(host))] = true
	}
	return func(c echo.Context) error {
		if allowed["*"] || allowed[strings.ToLower(hostOnly(c.Request().Host))] {
			return next(c)
		}
		if sparesHost(c.Request()) {
			c.Set(ctxForeign, true)
			return next(c)
		}
		return echo.NewHTTPError(http.StatusForbidden, "this host name is not allowed; add it to STOROZH_ALLOWED_HOSTS")
	}
}

func sparesHost(r *http.Request) bool {
	switch p := r.URL.Path; {
	case p == "/healthz", p == "/readyz", strings.HasPrefix(p, "/webhooks/"):
		return true
	case p == "/metrics", strings.HasPrefix(p, "/api/"):
		return r.Header.Get(echo.HeaderAuthorization) != ""
	}
	return false
}

// hostOnly is a host without its port and without the brackets of an IPv6 address.
func hostOnly(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		return h
	}
	return strings.Trim(host, "[]")
}
