package handlers

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"storozh/core"
)

// Deliveries keeps what came to the webhook. Errors wrap the sentinels of core.
type Deliveries interface {
	// Deliver stores an arrival like Store.Submit and, in the same transaction, the delivery that brought it, with the answer that is
	// made of the receipt. If the delivery's id was taken before, nothing is stored and the first delivery under it is returned: two at
	// the same time wait for each other. id is the row of the delivery.
	Deliver(ctx context.Context, a core.Arrival, d core.Delivery, answer func(core.Receipt) []byte) (r core.Receipt, id int64, first *core.Delivery, err error)
	// FinishDelivery keeps the answer of an accepted delivery whose sender waited; a second one changes nothing.
	FinishDelivery(ctx context.Context, id int64, status int, answer []byte, took time.Duration) error
	// KeepDelivery stores a delivery that was not accepted.
	KeepDelivery(ctx context.Context, d core.Delivery) error
	// Delivery returns one by its row, or core.ErrNotFound.
	Delivery(ctx context.Context, id int64) (core.Delivery, error)
	// ListDeliveries lists them, newest first, and the cursor of the next page (empty: none). Answers are left out.
	ListDeliveries(ctx context.Context, after string, limit int) (list []core.Delivery, next string, err error)
}

const (
	keepTime     = 5 * time.Second // to write a record of what has happened already
	headerCount  = 40              // headers kept of a delivery
	headerBytes  = 300             // of each
	keptRefusals = 30              // deliveries of strangers kept per minute
	masked       = "•••"
)

// arriving starts the record of a delivery.
func (s *server) arriving(c echo.Context) *core.Delivery {
	r := c.Request()
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	return &core.Delivery{
		ReceivedAt: s.Now().UTC(), Remote: host, Headers: keptHeaders(r.Header, s.WebhookSecrets()), DeliveryID: cutText(r.Header.Get(webhookID), headerBytes),
	}
}

// secretWords mark a header whose value is never kept.
var secretWords = []string{"auth", "token", "secret", "key", "cookie", "signature", "password", "session", "credential"}

// keptHeaders copies what may be shown: a header that can hold a secret keeps its scheme at most, and so does any that holds one of ours.
func keptHeaders(h http.Header, secrets []string) map[string]string {
	out := map[string]string{}
	for name, values := range h {
		if len(out) == headerCount {
			break
		}
		value := strings.Join(values, ", ")
		lower := strings.ToLower(name)
		secret := false
		for _, w := range secretWords {
			secret = secret || strings.Contains(lower, w)
		}
		for _, w := range secrets {
			secret = secret || w != "" && strings.Contains(value, w)
		}
		if secret {
			value = mask(value)
		}
		out[cutText(name, 100)] = cutText(value, headerBytes)
	}
	return out
}

// mask hides a value but for a scheme that is known to be none.
func mask(value string) string {
	for _, scheme := range []string{"Bearer ", "Basic ", "v1,"} {
		if len(value) > len(scheme) && strings.EqualFold(value[:len(scheme)], scheme) {
			return scheme + masked
		}
	}
	return masked
}

func cutText(s string, limit int) string {
	if len(s) > limit {
		s = s[:limit] + "…"
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// keepFailure stores a delivery that was not accepted, by the error that ends it. Strangers can't fill the disk: of theirs a few a minute
// are kept, the rest only counted.
func (s *server) keepFailure(c echo.Context, d core.Delivery, err error) {
	d.Status = classify(err).Status
	if d.Verdict == "" {
		d.Verdict = verdictOf(err, d.Status)
	}
	s.meter.delivery(d.Verdict)
	if c.Get(ctxSender) != true && !s.strangers.AllowN(s.Now(), 1) {
		return
	}
	s.keepDelivery(c, d)
}

func (s *server) keepDelivery(c echo.Context, d core.Delivery) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request().Context()), keepTime)
	defer cancel()
	d.Duration = s.Now().Sub(d.ReceivedAt)
	if err := s.Deliveries.KeepDelivery(ctx, d); err != nil {
		s.Log.ErrorContext(ctx, "a delivery could not be recorded", "verdict", d.Verdict, "request", requestIDOf(c), "error", err)
	}
}

// verdictOf words an error of the checks.
func verdictOf(err error, status int) core.DeliveryVerdict {
	switch status {
	case http.StatusUnauthorized, http.StatusTooManyRequests:
		return core.DeliveryUnauthorized
	case http.StatusRequestEntityTooLarge:
		return core.DeliveryTooLarge
	case http.StatusUnsupportedMediaType:
		return core.DeliveryBadEncoding
	case http.StatusConflict:
		return core.DeliveryConflict
	}
	switch {
	case status >= http.StatusInternalServerError, status == statusClosed:
		return core.DeliveryFailed
	case errors.Is(err, errBadGzip):
		return core.DeliveryBadEncoding
	}
	return core.DeliveryRefused
}
