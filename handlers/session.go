package handlers

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

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
)

// echoKey finds echo's context from a request's, for the session manager's error hook.
type echoKey struct{}

// sessionFault hands a fault of the session store to the one error mapper.
func sessionFault(w http.ResponseWriter, r *http.Request, err error) {
	if c, ok := r.Context().Value(echoKey{}).(echo.Context); ok {
		c.Error(fmt.Errorf("the session store: %w", err))
		return
	}
	http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
}

// session loads the browser's session into the request and saves it before the answer goes out.
func (s *server) session(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		c.SetRequest(r.WithContext(context.WithValue(r.Context(), echoKey{}, c)))
		s.Sessions.LoadAndSave(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			c.SetRequest(r)
			before := c.Response().Writer
			c.Response().Writer = w
			defer func() { c.Response().Writer = before }()
			c.Set(ctxSession, true)
			// The error is answered in here, while the session can still be saved.
			if err := next(c); err != nil {
				c.Error(err)
			}
		})).ServeHTTP(c.Response().Writer, c.Request())
		return nil
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
	if id := c.Param("id"); id != "" {
		return "/manifests/" + url.PathEscape(id)
	}
	return "/"
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
