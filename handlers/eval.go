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
	m := views.NewEval(s.page(c), all, evalLimit)
	if s.Recall != nil {
		u, err := s.Recall.InUse(c.Request().Context())
		if err != nil {
			return err
		}
		m.InUse = views.NewInUse(u)
	}
	return s.render(c, http.StatusOK, views.EvalPage(m))
}

func (s *server) apiEval(c echo.Context) error {
	all, err := s.evaluations(c)
	if err != nil {
		return err
	}
	if all == nil {
		all = []core.Evaluation{}
	}
	out := map[string]any{"evaluations": all}
	if s.Recall != nil {
		u, err := s.Recall.InUse(c.Request().Context())
		if err != nil {
			return err
		}
		out["inUse"] = inUseJSON{u.Found, u.NotBrought, u.OtherLabel, views.InUseRate(u)}
	}
	return c.JSON(http.StatusOK, out)
}

// inUseJSON is the recall in use. With nothing known, recall.of is 0 and its interval 0 to 1.
type inUseJSON struct {
	Found      int       `json:"found"`
	NotBrought int       `json:"notBrought"`
	OtherLabel int       `json:"otherLabel"`
	Recall     core.Rate `json:"recall"`
}
