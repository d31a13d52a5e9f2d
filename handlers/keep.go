package handlers

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"storozh/views"
)

// decisionBytes bounds a decision form. It is far above the longest rationale (of which a form makes three bytes each, in Russian), so that
// one that is too long gets a page that keeps it.
const decisionBytes = 512 << 10

// decisionLimit is formLimit for the routes that carry a rationale.
func decisionLimit(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		r.Body = http.MaxBytesReader(c.Response(), r.Body, decisionBytes)
		c.Set(ctxLimited, true)
		return next(c)
	}
}

// keepTyping lets signed-in readers through. A form whose session has expired in mid-typing gets the sign-in page with its text in it.
func (s *server) keepTyping(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if s.signedIn(c) != "" {
			return next(c)
		}
		if err := parseForm(c); err != nil {
			return err
		}
		id, err := idParam(c)
		if err != nil {
			return err
		}
		t := typedForm(c, id)
		if t.Unit == "" {
			return s.pageCosigner(next)(c)
		}
		m := views.NewLogin(s.page(c), comeBack(c), "You were signed out, and nothing was stored. Sign in with your token: your text is kept below.", "")
		m.Kept = &t
		return s.render(c, http.StatusUnauthorized, views.LoginPage(m))
	}
}

// keptForm is the decision that a sign-in form carries along; nil: none.
func keptForm(c echo.Context) *views.Typed {
	id := number(c.Request().PostFormValue("manifest"))
	if id == 0 || c.Request().PostFormValue("unit") == "" {
		return nil
	}
	t := typedForm(c, id)
	return &t
}

// resume shows the decision form again after signing in, filled in and not sent.
func (s *server) resume(c echo.Context, t views.Typed) error {
	r, err := s.Store.Record(c.Request().Context(), t.Manifest)
	if err != nil {
		return err
	}
	return s.decisionPage(c, http.StatusOK, r, t, "You are signed in again. Nothing was stored yet: look at what you typed, then decide.")
}
