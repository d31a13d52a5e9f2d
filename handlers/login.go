package handlers

import (
	"crypto/sha256"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"storozh/core"
	"storozh/views"
)

func (s *server) loginPage(c echo.Context) error {
	next := localPath(c.QueryParam("next"))
	return s.render(c, http.StatusOK, views.LoginPage(views.NewLogin(s.page(c), next, "", "")))
}

// login signs a cosigner in by their long-lived token.
func (s *server) login(c echo.Context) error {
	if err := parseForm(c); err != nil {
		return err
	}
	r := c.Request()
	next := localPath(r.PostFormValue("next"))
	token := strings.TrimSpace(r.PostFormValue("token"))
	who, err := s.Identity.ByToken(r.Context(), sha256.Sum256([]byte(token)))
	if token == "" || errors.Is(err, core.ErrNotFound) {
		return s.refuse(c, next, "This token is not known. Check that all of it was copied.")
	}
	if err != nil {
		return err
	}
	return s.signIn(c, who, next, "by token")
}

// linkPage asks before a one-time link is used: programs that only look at links must not use it up.
func (s *server) linkPage(c echo.Context) error {
	c.Response().Header().Set(echo.HeaderReferrerPolicy, "no-referrer") // the address is a secret
	return s.render(c, http.StatusOK, views.LoginPage(views.NewLogin(s.page(c), "", "", linkPath(c))))
}

// redeem signs a cosigner in by a one-time link.
func (s *server) redeem(c echo.Context) error {
	who, err := s.Identity.RedeemLink(c.Request().Context(), sha256.Sum256([]byte(c.Param("link"))))
	if errors.Is(err, core.ErrNotFound) {
		return s.refuse(c, "/", "This link has been used or has expired. The commands below print a new one.")
	}
	if err != nil {
		return err
	}
	return s.signIn(c, who, "/", "by one-time link")
}

func linkPath(c echo.Context) string { return "/login/" + url.PathEscape(c.Param("link")) }

// refuse answers a failed sign-in, not faster than the brake allows.
func (s *server) refuse(c echo.Context, next, why string) error {
	if err := s.brake.failed(c); err != nil {
		return err
	}
	s.auditAs(c, "", core.AuditSignInFailed, "in the browser"+from(c))
	m := views.NewLogin(s.page(c), next, why, "")
	m.Kept = keptForm(c)
	return s.render(c, http.StatusUnauthorized, views.LoginPage(m))
}

// signIn opens a session under a new id, so that an id that someone planted before is worth nothing.
func (s *server) signIn(c echo.Context, who core.Cosigner, next, how string) error {
	ctx := c.Request().Context()
	if err := s.Sessions.RenewToken(ctx); err != nil {
		return err
	}
	s.Sessions.Put(ctx, sessionCosigner, string(who))
	if _, _, err := s.Sessions.Commit(ctx); err != nil {
		return err
	}
	s.auditAs(c, string(who), core.AuditSignIn, how+from(c))
	if kept := keptForm(c); kept != (views.Kept{}) {
		return s.resume(c, kept)
	}
	return c.Redirect(http.StatusSeeOther, next)
}

func (s *server) logout(c echo.Context) error {
	who := s.signedIn(c)
	if err := s.Sessions.Destroy(c.Request().Context()); err != nil {
		return err
	}
	if who != "" {
		s.auditAs(c, string(who), core.AuditSignOut, "")
	}
	return c.Redirect(http.StatusSeeOther, "/login")
}

// localPath keeps a path of this site and turns everything else into the inbox: nobody is sent elsewhere after signing in.
func localPath(next string) string {
	u, err := url.Parse(next)
	if err != nil || len(next) > 2_000 || u.IsAbs() || u.Host != "" || u.User != nil || u.Opaque != "" {
		return "/"
	}
	if !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\r\n\t\x00") || strings.HasPrefix(next, "/login") {
		return "/"
	}
	return next
}

// parseForm reads a form within its limit.
func parseForm(c echo.Context) error {
	if err := c.Request().ParseForm(); err != nil {
		var tooBig *http.MaxBytesError
		if errors.As(err, &tooBig) {
			return err
		}
		return echo.NewHTTPError(http.StatusBadRequest, "the form could not be read")
	}
	return nil
}
