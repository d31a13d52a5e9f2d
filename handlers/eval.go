package handlers

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"storozh/core"
	"storozh/views"
)

// evalLimit is how many measurements the page and the API give.
const evalLimit = 30

// evaluations are what `web eval` kept, newest first; none where nothing keeps them.
func (s *server) evaluations(c echo.Context) ([]core.Evaluation, error) {
	if s.Evaluations == nil {
		return nil, nil
	}
	return s.Evaluations(c.Request().Context(), evalLimit)
}

func (s *server) evalPage(c echo.Context) error {
	all, err := s.evaluations(c)
	if err != nil {
		return err
	}
	return s.render(c, http.StatusOK, views.EvalPage(views.NewEval(s.page(c), all, evalLimit)))
}

func (s *server) apiEval(c echo.Context) error {
	all, err := s.evaluations(c)
	if err != nil {
		return err
	}
	if all == nil {
		all = []core.Evaluation{}
	}
	return c.JSON(http.StatusOK, map[string]any{"evaluations": all})
}
