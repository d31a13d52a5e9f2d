package handlers

import (
	"errors"
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

// The values of the field `form` by which a sign-in form tells which form it carries. A decision's has no such field.
const (
	keptMissed = "missed"
	keptAsk    = "ask"
)

// keepTyping lets signed-in readers through. A form whose session has expired in mid-typing gets the sign-in page with its text in it; keep
// reads the form of the route.
func (s *server) keepTyping(keep func(c echo.Context, id int64) views.Kept) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			if s.signedIn(c) != "" {
				return next(c)
			}
			if err := parseForm(c); err != nil {
				return err
			}
			kept := keep(c, number(c.Param("id")))
			if kept == (views.Kept{}) {
				return s.pageCosigner(next)(c)
			}
			m := views.NewLogin(s.page(c), comeBack(c), "You were signed out, and nothing was stored. Sign in with your token: your text is kept below.", "")
			m.Kept = kept
			return s.render(c, http.StatusUnauthorized, views.LoginPage(m))
		}
	}
}

func keepDecision(c echo.Context, manifest int64) views.Kept {
	t := typedForm(c, manifest)
	if manifest == 0 || t.Unit == "" {
		return views.Kept{}
	}
	return views.Kept{Decision: &t}
}

func keepMissed(c echo.Context, manifest int64) views.Kept {
	t := typedMissed(c, manifest)
	if manifest == 0 || t.Unit == "" {
		return views.Kept{}
	}
	return views.Kept{Missed: &t}
}

func keepAsk(c echo.Context, _ int64) views.Kept {
	f := askForm(c)
	if f.Title == "" && f.Text == "" {
		return views.Kept{}
	}
	return views.Kept{Ask: &f}
}

// keptForm is what a sign-in form carries along.
func keptForm(c echo.Context) views.Kept {
	id, form := number(c.Request().PostFormValue("manifest")), c.Request().PostFormValue("form")
	switch {
	case form == keptAsk:
		return keepAsk(c, 0)
	case id == 0:
		return views.Kept{}
	case form == keptMissed:
		return keepMissed(c, id)
	}
	return keepDecision(c, id)
}

// resume shows a form again after signing in, filled in and not sent.
func (s *server) resume(c echo.Context, kept views.Kept) error {
	const again = "You are signed in again. Nothing was stored yet: look at what you typed, then "
	switch {
	case kept.Missed != nil:
		return s.missedForm(c, http.StatusOK, *kept.Missed, again+"send it.")
	case kept.Ask != nil:
		return s.corpusPage(c, http.StatusOK, views.CorpusInput{Asked: *kept.Ask, Problem: errors.New("you are signed in again; nothing was asked yet")})
	}
	r, err := s.Store.Record(c.Request().Context(), kept.Decision.Manifest)
	if err != nil {
		return err
	}
	return s.decisionPage(c, http.StatusOK, r, *kept.Decision, again+"decide.")
}
