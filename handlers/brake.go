package handlers

import (
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
	"golang.org/x/time/rate"
)

// brake slows failed sign-ins. It acts only after a secret was found to be wrong, so a genuine sender never waits; and it
// holds few requests at a time, so guessing costs the guesser and not us.
type brake struct {
	limit *rate.Limiter
	slots chan struct{}
}

const (
	brakeSlots = 32
	brakeWait  = 5 * time.Second
)

func newBrake(limit *rate.Limiter) *brake {
	return &brake{limit: limit, slots: make(chan struct{}, brakeSlots)}
}

// failed waits until the failure may be answered. It returns 429 when too many are waiting already.
func (b *brake) failed(c echo.Context) error {
	select {
	case b.slots <- struct{}{}:
		defer func() { <-b.slots }()
	default:
		return tooMany(c)
	}
	ctx, cancel := context.WithTimeout(c.Request().Context(), brakeWait)
	defer cancel()
	if err := b.limit.Wait(ctx); err != nil {
		return tooMany(c)
	}
	return nil
}

func tooMany(c echo.Context) error {
	c.Response().Header().Set(echo.HeaderRetryAfter, "10")
	return echo.NewHTTPError(http.StatusTooManyRequests, "too many failed sign-ins; wait ten seconds")
}
