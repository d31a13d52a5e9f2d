package handlers

import (
	"fmt"
	"net/http"

	"github.com/labstack/echo/v4"

	"storozh/core"
	"storozh/views"
)

// deliveries lists what came to the webhook.
func (s *server) deliveries(c echo.Context) error {
	after := c.QueryParam("after")
	list, next, err := s.Deliveries.ListDeliveries(c.Request().Context(), after, pageSize)
	if err != nil {
		return err
	}
	return s.render(c, http.StatusOK, views.DeliveriesPage(views.NewDeliveries(s.page(c), list, after, next, s.webhookURL(c))))
}

// deliverAgain is the "Deliver again" button: the manifest that the delivery brought is judged once more.
func (s *server) deliverAgain(c echo.Context) error {
	id, err := idParam(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	d, err := s.Deliveries.Delivery(ctx, id)
	if err != nil {
		return err
	}
	if d.ManifestID == 0 {
		return fmt.Errorf("%w: nothing was kept of this delivery (%s), so there is nothing to deliver", core.ErrConflict, d.Verdict)
	}
	return s.runAgain(c, d.ManifestID, false, fmt.Sprintf("manifest %d, delivery %d again", d.ManifestID, d.ID))
}
