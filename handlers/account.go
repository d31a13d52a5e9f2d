package handlers

import (
	"errors"
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

// logoutEverywhere ends every session of the signed-in cosigner, on whatever machine it was opened.
func (s *server) logoutEverywhere(c echo.Context) error {
	who := s.signedIn(c)
	n, err := s.endSessions(who)
	if err != nil {
		return err
	}
	s.audit(c, core.AuditSignOut, fmt.Sprintf("everywhere: %d sessions", n))
	if err := s.Sessions.Destroy(c.Request().Context()); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/login")
}

// endSessions deletes a cosigner's sessions by the names under which the store keeps them. (The manager's own iteration would hash those
// names once more and delete nothing.)
func (s *server) endSessions(who core.Cosigner) (int, error) {
	store, ok := s.Sessions.Store.(scs.IterableStore)
	if !ok {
		return 0, errors.New("the session store can't list its sessions")
	}
	all, err := store.All()
	if err != nil {
		return 0, fmt.Errorf("listing sessions: %w", err)
	}
	n := 0
	for name, b := range all {
		_, values, err := s.Sessions.Codec.Decode(b)
		if err != nil || values[sessionCosigner] != string(who) {
			continue // one that can't be read signs nobody in
		}
		if err := s.Sessions.Store.Delete(name); err != nil {
			return n, fmt.Errorf("ending a session: %w", err)
		}
		n++
	}
	return n, nil
}
