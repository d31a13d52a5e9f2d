package handlers

import (
	"fmt"
	"strings"

	"github.com/labstack/echo/v4"

	"storozh/views"
)

// sessionFlash is a line that the next page shows once.
const sessionFlash = "flash"

// flashNames bounds how many flags that were left out are named.
const flashNames = 5

// flash says on the next page what became of a decision: to a reader of the page, and to one who hears it.
func (s *server) flash(c echo.Context, out outcome) {
	line := "Decided: " + views.ChoiceWord(out.choice) + "."
	if n := len(out.decided); n > 1 {
		line = fmt.Sprintf("%d flags decided: %s.", n, views.ChoiceWord(out.choice))
	}
	if out.already {
		line = "That was stored already; nothing was added."
	}
	if n := len(out.leftOut); n > 0 {
		var names []string
		for _, l := range out.leftOut[:min(n, flashNames)] {
			names = append(names, clip(l.flag.UnitID)+" ("+l.why+")")
		}
		line += fmt.Sprintf(" Left out %d: %s", n, strings.Join(names, ", "))
		if n > flashNames {
			line += fmt.Sprintf(" and %d more", n-flashNames)
		}
		line += "."
	}
	s.say(c, line)
}

// say keeps a line for the next page of this session.
func (s *server) say(c echo.Context, line string) {
	s.Sessions.Put(c.Request().Context(), sessionFlash, line)
}

// said takes the line that an earlier request left, or nothing.
func (s *server) said(c echo.Context) string {
	if c.Get(ctxSession) == nil {
		return ""
	}
	return s.Sessions.PopString(c.Request().Context(), sessionFlash)
}
