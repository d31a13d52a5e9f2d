package handlers

import (
	"fmt"
	"net/http"

	"github.com/alexedwards/scs/v2"
	"github.com/labstack/echo/v4"

	"storozh/core"
	"storozh/views"
)

// account is the page about the reader's own sign-in.
func (s *server) account(c echo.Context) error {
	return s.render(c, http.StatusOK, views.AccountPage(views.NewAccount(s.page(c))))
}

// keys is the keyboard map as a page, for readers without the script.
func (s *server) keys(c echo.Context) error {
	return s.render(c, http.StatusOK, views.KeysPage(views.NewKeys(s.page(c))))
}

// logoutEverywhere ends every session of the signed-in cosigner, on whatever machine it was opened, and the one-time links that could
// open another. Requests under way can't bring a session back (finalStore).
func (s *server) logoutEverywhere(c echo.Context) error {
	who := s.signedIn(c)
	ctx := c.Request().Context()
	// Links first: one that is used right now opens a session that the next step finds.
	if err := s.Identity.DropLinks(ctx, who); err != nil {
		return err
	}
	n, err := s.SessionStore.EndAll(ctx, SessionsOf(who))
	if err != nil {
		return err
	}
	s.audit(c, core.AuditSignOut, fmt.Sprintf("everywhere: %d sessions", n))
	if err := s.Sessions.Destroy(ctx); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/login")
}

// SessionsOf picks the sessions of a cosigner by their content, for SessionStore.EndAll. One that can't be read signs nobody in.
func SessionsOf(who core.Cosigner) func(data []byte) bool {
	return func(data []byte) bool {
		_, values, err := scs.GobCodec{}.Decode(data)
		return err == nil && values[sessionCosigner] == string(who)
	}
}
