package handlers

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"storozh/core"
	"storozh/views"
)

const (
	whatIfFlags  = 100 // flags on the page
	longestModel = 1_000
)

// whatIf is GET /whatif?floor=&model=: what a floor under the similarity would have cut off. None is applied anywhere.
func (s *server) whatIf(c echo.Context) error {
	if s.Recall == nil {
		return fmt.Errorf("what-if %w", core.ErrNotFound)
	}
	in := views.WhatIfInput{Floor: strings.TrimSpace(c.QueryParam("floor")), Limit: whatIfFlags}
	model := c.QueryParam("model")
	if len(model) > longestModel || len(in.Floor) > 40 {
		return fmt.Errorf("%w: a floor is a number such as 0.65, a model one of the list", core.ErrInvalid)
	}
	ctx := c.Request().Context()
	var err error
	if in.Data, err = s.Recall.WhatIf(ctx, model); err != nil {
		return err
	}
	status := http.StatusOK
	if in.Floor != "" {
		if in.Percent, err = floorParam(in.Floor); err != nil {
			in.Problem, status = err, http.StatusBadRequest
		} else if in.Flags, err = s.Recall.WhatIfFlags(ctx, in.Data.Model, in.Percent, whatIfFlags+1); err != nil {
			return err
		}
	}
	return s.render(c, status, views.WhatIfPage(views.NewWhatIf(s.page(c), in)))
}

// floorParam reads a similarity as whole percent; a decimal comma will do.
func floorParam(text string) (int, error) {
	f, err := strconv.ParseFloat(strings.Replace(text, ",", ".", 1), 64)
	if err != nil || !(f >= 0 && f <= 1) {
		return 0, fmt.Errorf("%w: the floor must be a number from 0 to 1, such as 0.65, not %.40q", core.ErrInvalid, text)
	}
	return int(math.Round(100 * f)), nil
}
