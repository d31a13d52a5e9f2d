package handlers

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"storozh/core"
)

const (
	answerLimit = 1 << 20 // bytes of an answer that are kept; a longer one is made anew
	answerPoll  = 250 * time.Millisecond
	answerGrace = 5 * time.Second // after the time at which the first sender should have been answered
)

// repeat answers a delivery whose id was used before: with the first answer, for which it waits if the first is still in work; or with 409
// if the body is another one.
func (s *server) repeat(c echo.Context, d *core.Delivery, first core.Delivery) error {
	d.ManifestID, d.AnswerBy, d.Verdict = first.ManifestID, time.Time{}, core.DeliveryConflict
	if !bytes.Equal(d.BodyHash, first.BodyHash) {
		d.ManifestID = 0
		return fmt.Errorf("%w: the delivery %q came before with another body; a new manifest needs a new %s", core.ErrConflict, d.DeliveryID, webhookID)
	}
	d.Verdict = ""
	first, err := s.firstAnswer(c, first)
	if err != nil {
		return err
	}
	switch {
	case first.Status == http.StatusAccepted:
		err = s.acceptedBody(c, first.ManifestID, first.Answer)
	case len(first.Answer) > 0:
		err = c.Blob(first.Status, echo.MIMEApplicationJSON, first.Answer)
	default:
		err = s.answerManifest(c, first.ManifestID)
	}
	if err != nil {
		return err
	}
	d.Verdict, d.Status = core.DeliveryReplay, c.Response().Status
	s.meter.delivery(d.Verdict)
	s.keepDelivery(c, *d)
	return nil
}

// firstAnswer waits for the answer of the first delivery. If none comes in time, its process has died: then it gets the answer of one who
// didn't wait, for good.
func (s *server) firstAnswer(c echo.Context, first core.Delivery) (core.Delivery, error) {
	if first.Status != 0 {
		return first, nil
	}
	left := min(max(first.AnswerBy.Sub(s.Now()), 0), waitLimit) + answerGrace
	s.extend(c, left+answerTime, left+answerTime)
	ctx, cancel := context.WithTimeout(c.Request().Context(), left)
	defer cancel()
	tick := time.NewTicker(answerPoll)
	defer tick.Stop()
	for {
		d, err := s.Deliveries.Delivery(ctx, first.ID)
		if err == nil && d.Status != 0 {
			return d, nil
		}
		if err != nil && ctx.Err() == nil {
			return first, err
		}
		select {
		case <-ctx.Done():
			return s.answerForTheDead(c.Request().Context(), first)
		case <-tick.C:
		}
	}
}

func (s *server) answerForTheDead(ctx context.Context, first core.Delivery) (core.Delivery, error) {
	r, err := s.Store.Record(ctx, first.ManifestID)
	if err != nil {
		return first, err
	}
	body := s.receiptBody(core.Receipt{ManifestID: r.ID, Status: r.Run.Status})
	if err := s.Deliveries.FinishDelivery(ctx, first.ID, http.StatusAccepted, body, max(s.Now().Sub(first.ReceivedAt), 0)); err != nil {
		return first, err
	}
	return s.Deliveries.Delivery(ctx, first.ID) // whichever answer was kept first
}

// finishDelivery keeps the answer of a sender who waited.
func (s *server) finishDelivery(c echo.Context, id int64, d core.Delivery, status int, body []byte) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request().Context()), keepTime)
	defer cancel()
	if err := s.Deliveries.FinishDelivery(ctx, id, status, body, s.Now().Sub(d.ReceivedAt)); err != nil {
		s.Log.ErrorContext(ctx, "the answer to a delivery could not be recorded", "request", requestIDOf(c), "error", err)
	}
}

// ear hears what is answered, up to answerLimit.
type ear struct {
	http.ResponseWriter
	heard bytes.Buffer
	lost  bool
}

func listen(c echo.Context) *ear {
	e := &ear{ResponseWriter: c.Response().Writer}
	c.Response().Writer = e
	return e
}

func (e *ear) Write(p []byte) (int, error) {
	if e.lost = e.lost || e.heard.Len()+len(p) > answerLimit; !e.lost {
		e.heard.Write(p)
	}
	return e.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach the connection.
func (e *ear) Unwrap() http.ResponseWriter { return e.ResponseWriter }

// body is all that was answered, or nothing if it is too long to keep.
func (e *ear) body() []byte {
	if e.lost {
		return nil
	}
	return e.heard.Bytes()
}
