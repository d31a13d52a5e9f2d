package handlers

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
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

// webhook takes a manifest (C1). The order of checks is fixed by design §7: who, size, encoding, JSON; a stranger learns
// nothing else than that they are one.
func (s *server) webhook(c echo.Context) error {
	if !s.knownSender(c.Request()) {
		if err := s.brake.failed(c); err != nil {
			return err
		}
		return unauthorized(c, "send the webhook's secret as `Authorization: Bearer …`")
	}
	s.extend(c, uploadTime, uploadTime+answerTime)
	raw, err := readManifest(c)
	if err != nil {
		return err
	}
	wait, err := waitParam(c.QueryParam("wait"))
	if err != nil {
		return err
	}
	arrival, _, err := manifest.Arrive(raw, core.SourceWebhook, "")
	if err != nil {
		return err
	}
	receipt, err := s.Store.Submit(c.Request().Context(), arrival)
	if err != nil {
		return err
	}
	if wait > 0 {
		return s.waited(c, receipt, wait)
	}
	return s.accepted(c, receipt)
}

// knownSender compares the bearer secret with each of ours, all of them, in constant time.
func (s *server) knownSender(r *http.Request) bool {
	given := sha256.Sum256([]byte(bearer(r)))
	known := 0
	for _, secret := range s.WebhookSecrets() {
		want := sha256.Sum256([]byte(secret))
		if secret != "" {
			known |= subtle.ConstantTimeCompare(given[:], want[:])
		}
	}
	return known == 1
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

// waited answers with the whole manifest if its run ends in time, else as if nobody had waited.
func (s *server) waited(c echo.Context, receipt core.Receipt, wait time.Duration) error {
	s.extend(c, wait+answerTime, wait+answerTime)
	ctx, cancel := context.WithTimeout(c.Request().Context(), wait)
	defer cancel()
	if !receipt.Status.Finished() {
		if err := s.Wait(ctx, receipt.ManifestID); err != nil {
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return s.accepted(c, receipt)
			}
			return err
		}
	}
	return s.answerManifest(c, receipt.ManifestID)
}

func (s *server) accepted(c echo.Context, r core.Receipt) error {
	c.Response().Header().Set(echo.HeaderLocation, fmt.Sprintf("/api/manifests/%d", r.ManifestID))
	return c.JSON(http.StatusAccepted, receiptJSON{ID: r.ManifestID, Status: r.Status, URL: s.PublicURL + fmt.Sprintf("/manifests/%d", r.ManifestID)})
}
