package handlers

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/alexedwards/scs/v2"
	"github.com/labstack/echo/v4"

	"storozh/core"
)

// Names under which things are kept in the session and in echo's context.
const (
	sessionCosigner = "cosigner"
	ctxCosigner     = "storozh.cosigner"
	ctxBearer       = "storozh.bearer"
	ctxSession      = "storozh.session"
	ctxLimited      = "storozh.limited" // the body has a limit already
	ctxSender       = "storozh.sender"  // a delivery's sender is known
	ctxForeign      = "storozh.foreign" // the host is not an allowed one: nothing but a token counts
)

// sessionLook bounds a look at a session, or its saving, where the request's own context does not.
const sessionLook = 5 * time.Second

// session loads the browser's session into the request, and saves it when the answer begins to go out.
func (s *server) session(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		c.Response().Header().Add(echo.HeaderVary, echo.HeaderCookie)
		r := c.Request()
		token := ""
		if cookie, err := c.Cookie(s.Sessions.Cookie.Name); err == nil {
			token = cookie.Value
		}
		ctx, err := s.Sessions.Load(withOrigin(r.Context()), token)
		if err != nil {
			return fmt.Errorf("the session store: %w", err)
		}
		c.SetRequest(r.WithContext(ctx))
		c.Set(ctxSession, true)
		c.Response().Before(func() { s.saveSession(c, ctx) })
		return next(c)
	}
}

// saveSession keeps what the request has changed in its session, prolongs it, and sets the cookie. The answer is made by then, so a failure
// can't change it: the reader keeps the session as it was. (Signing in, where that would not do, has saved it before.)
func (s *server) saveSession(c echo.Context, ctx context.Context) {
	switch s.Sessions.Status(ctx) {
	case scs.Modified:
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), sessionLook)
		defer cancel()
		token, expiry, err := s.Sessions.Commit(limited)
		if err != nil {
			s.Log.WarnContext(ctx, "the session could not be saved", "request", requestIDOf(c), "error", err)
			return
		}
		s.Sessions.WriteSessionCookie(ctx, c.Response(), token, expiry)
	case scs.Destroyed:
		s.Sessions.WriteSessionCookie(ctx, c.Response(), "", time.Time{})
	}
}

// peek loads the session of a request that no route took, so that its error page has the reader's menu. Nothing is saved; a
// session that can't be read is no session.
func (s *server) peek(c echo.Context) {
	cookie, err := c.Cookie(s.Sessions.Cookie.Name)
	if err != nil || c.Get(ctxSession) != nil {
		return
	}
	ctx, err := s.Sessions.Load(c.Request().Context(), cookie.Value)
	if err != nil {
		return
	}
	c.SetRequest(c.Request().WithContext(ctx))
	c.Set(ctxSession, true)
}

// signedIn is the cosigner of this request, or empty.
func (s *server) signedIn(c echo.Context) core.Cosigner {
	if who, ok := c.Get(ctxCosigner).(core.Cosigner); ok {
		return who
	}
	if c.Get(ctxSession) == nil {
		return ""
	}
	who := core.Cosigner(s.Sessions.GetString(c.Request().Context(), sessionCosigner))
	if !who.Valid() {
		return ""
	}
	return who
}

// pageCosigner lets signed-in readers through and sends others to the sign-in page, and back afterwards.
func (s *server) pageCosigner(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if s.signedIn(c) == "" {
			return c.Redirect(http.StatusSeeOther, "/login?next="+url.QueryEscape(comeBack(c)))
		}
		return next(c)
	}
}

// comeBack is the page to return to after signing in: what was asked for, or the page a form stood on.
func comeBack(c echo.Context) string {
	r := c.Request()
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return r.URL.RequestURI()
	}
	switch id := c.Param("id"); {
	case strings.HasPrefix(c.Path(), "/manifests/:id/"):
		return "/manifests/" + url.PathEscape(id)
	case strings.HasPrefix(c.Path(), "/deliveries/"):
		return "/deliveries"
	case c.Path() == "/corpus":
		return "/corpus"
	}
	return "/"
}

// stillSignedIn looks whether the session that a long request began with was ended since.
func (s *server) stillSignedIn(c echo.Context) (bool, error) {
	cookie, err := c.Cookie(s.Sessions.Cookie.Name)
	if err != nil || c.Get(ctxBearer) == true {
		return true, nil // it came by another way
	}
	ctx, cancel := context.WithTimeout(context.Background(), sessionLook) // not the request's, which has the session as it was
	defer cancel()
	if ctx, err = s.Sessions.Load(ctx, cookie.Value); err != nil {
		return false, err
	}
	return s.Sessions.GetString(ctx, sessionCosigner) == string(s.signedIn(c)), nil
}

// apiCosigner takes the bearer token of a cosigner, or else the session.
func (s *server) apiCosigner(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if c.Request().Header.Get(echo.HeaderAuthorization) == "" {
			if s.signedIn(c) == "" {
				return unauthorized(c, "send the token of a cosigner as `Authorization: Bearer …`")
			}
			return next(c)
		}
		who, err := s.byBearer(c)
		if err != nil {
			return err
		}
		c.Set(ctxCosigner, who)
		c.Set(ctxBearer, true)
		return next(c)
	}
}

func (s *server) byBearer(c echo.Context) (core.Cosigner, error) {
	token := bearer(c.Request())
	who, err := s.Identity.ByToken(c.Request().Context(), sha256.Sum256([]byte(token)))
	switch {
	case token == "" || errors.Is(err, core.ErrNotFound):
		if err := s.brake.failed(c); err != nil {
			return "", err
		}
		if token != "" {
			s.auditAs(c, "", core.AuditSignInFailed, "by API token"+from(c))
		}
		return "", unauthorized(c, "this token is not known")
	case err != nil:
		return "", err
	}
	return who, nil
}

// bearer is the token of the Authorization header, or empty.
func bearer(r *http.Request) string {
	scheme, token, ok := strings.Cut(r.Header.Get(echo.HeaderAuthorization), " ")
	if !ok || !strings.EqualFold(scheme, "bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

func unauthorized(c echo.Context, detail string) error {
	c.Response().Header().Set(echo.HeaderWWWAuthenticate, `Bearer realm="storozh"`)
	return echo.NewHTTPError(http.StatusUnauthorized, detail)
}
