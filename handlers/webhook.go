package handlers

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"storozh/core"
	"storozh/core/manifest"
)

// receiptJSON is the answer once a manifest, or the wish to judge it again, is durable.
type receiptJSON struct {
	ID     int64       `json:"id"`
	Status core.Status `json:"status"`
	URL    string      `json:"url"` // the page; absolute if the public URL is known
}

// ErrDraining is what Config.Wait returns when the process is about to end: whoever waits is answered now, the run goes on later.
var ErrDraining = errors.New("the process is about to end")

// webhook takes a manifest (C1) and keeps a record of the delivery, whatever becomes of it.
func (s *server) webhook(c echo.Context) error {
	d := s.arriving(c)
	err := s.receive(c, d)
	if err != nil {
		s.keepFailure(c, *d, err)
	}
	return err
}

// receive goes through the checks in the order that design §7 fixes: who, size, encoding, JSON. The delivery and its manifest become
// durable together, before the answer.
func (s *server) receive(c echo.Context, d *core.Delivery) error {
	wire, err := s.authenticate(c, d)
	if err != nil {
		return err
	}
	c.Set(ctxSender, true)
	s.extend(c, uploadTime, uploadTime+answerTime)
	if wire == nil {
		if wire, err = readWire(c, true); err != nil {
			return err
		}
	}
	d.Size = int64(len(wire))
	raw, err := decodeBody(c, wire)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(raw)
	d.BodyHash = sum[:]
	wait, err := s.question(c)
	if err != nil {
		return err
	}
	arrival, _, err := manifest.Arrive(raw, core.SourceWebhook, "")
	if err != nil {
		d.Verdict = core.DeliveryBadJSON
		return err
	}
	return s.deliver(c, d, arrival, wait)
}

// question reads what the request asks for beside the manifest: `?wait`, and an id that can be kept.
func (s *server) question(c echo.Context) (time.Duration, error) {
	id := c.Request().Header.Get(webhookID)
	for _, r := range id {
		if len(id) > maxWebhookID || r < '!' || r > '~' {
			return 0, fmt.Errorf("%w: %s must be up to %d printable ASCII characters without a space", core.ErrInvalid, webhookID, maxWebhookID)
		}
	}
	return waitParam(c.QueryParam("wait"))
}

// deliver stores the arrival and answers: the first time with what became of it, again with the first answer.
func (s *server) deliver(c echo.Context, d *core.Delivery, a core.Arrival, wait time.Duration) error {
	ctx := c.Request().Context()
	d.DeliveryID, d.Verdict, d.Status = c.Request().Header.Get(webhookID), core.DeliveryAccepted, http.StatusAccepted
	now := s.Now()
	d.Duration = now.Sub(d.ReceivedAt)
	if wait > 0 {
		d.Status, d.AnswerBy = 0, now.Add(wait)
	}
	receipt, id, first, err := s.Deliveries.Deliver(ctx, a, *d, s.receiptBody)
	if err != nil {
		d.Verdict = ""
		return err
	}
	if first != nil {
		return s.repeat(c, d, *first)
	}
	s.meter.delivery(core.DeliveryAccepted)
	if wait > 0 {
		return s.waited(c, id, *d, receipt, wait)
	}
	return s.accepted(c, receipt)
}

// waitParam reads `?wait=60s`; a bare number is seconds. Longer waits than waitLimit are cut to it.
func waitParam(s string) (time.Duration, error) {
	if s == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(s)
	if n, numErr := strconv.Atoi(s); numErr == nil {
		d, err = time.Duration(min(max(n, -1), int(waitLimit/time.Second)))*time.Second, nil
	}
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%w: wait must be a time such as 60s", core.ErrInvalid)
	}
	return min(d, waitLimit), nil
}

// waited answers with the whole manifest if its run ends in time, else as if nobody had waited; and keeps what it answered, for a
// sender who asks again.
func (s *server) waited(c echo.Context, id int64, d core.Delivery, receipt core.Receipt, wait time.Duration) error {
	s.extend(c, wait+answerTime, wait+answerTime)
	seen := listen(c)
	err := s.answerWhenDone(c, receipt, wait)
	if err != nil {
		return s.giveUp(c, id, d, receipt, err)
	}
	s.finishDelivery(c, id, d, c.Response().Status, seen.body())
	return nil
}

func (s *server) answerWhenDone(c echo.Context, receipt core.Receipt, wait time.Duration) error {
	ctx, cancel := context.WithTimeout(c.Request().Context(), wait)
	defer cancel()
	if !receipt.Status.Finished() {
		if err := s.Wait(ctx, receipt.ManifestID); err != nil {
			if errors.Is(ctx.Err(), context.DeadlineExceeded) || errors.Is(err, ErrDraining) {
				return s.accepted(c, receipt)
			}
			return err
		}
	}
	return s.answerManifest(c, receipt.ManifestID)
}

// giveUp keeps the answer of one who didn't wait for a sender who could not be answered: the manifest is durable all the same. The error
// goes on to the sender, if there still is one; it is no failure of the delivery.
func (s *server) giveUp(c echo.Context, id int64, d core.Delivery, receipt core.Receipt, err error) error {
	s.finishDelivery(c, id, d, http.StatusAccepted, s.receiptBody(receipt))
	c.Error(err)
	return nil
}

func (s *server) accepted(c echo.Context, r core.Receipt) error {
	return s.acceptedBody(c, r.ManifestID, s.receiptBody(r))
}

func (s *server) acceptedBody(c echo.Context, manifestID int64, body []byte) error {
	c.Response().Header().Set(echo.HeaderLocation, fmt.Sprintf("/api/manifests/%d", manifestID))
	return c.Blob(http.StatusAccepted, echo.MIMEApplicationJSON, body)
}

// receiptBody is the answer's body; made before anything is sent, for it is kept with the delivery.
func (s *server) receiptBody(r core.Receipt) []byte {
	body, err := json.Marshal(receiptJSON{ID: r.ManifestID, Status: r.Status, URL: s.PublicURL + fmt.Sprintf("/manifests/%d", r.ManifestID)})
	if err != nil {
		panic(err) // numbers and strings
	}
	return append(body, '\n')
}
