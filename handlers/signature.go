package handlers

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"storozh/core"
)

// Who may send (design §7): a sender that knows a secret, shown as it stands (bearer) or by a signature of the Standard Webhooks scheme
// over the bytes on the wire. A secret that begins with whsec_ does both; any other is a bearer secret.

// The headers of Standard Webhooks.
const (
	webhookID        = standardwebhooks.HeaderWebhookID
	webhookTimestamp = standardwebhooks.HeaderWebhookTimestamp
	webhookSignature = standardwebhooks.HeaderWebhookSignature

	signingPrefix  = "whsec_"
	signatureAge   = 5 * time.Minute // either way
	maxSignatures  = 16              // in one header: a rotation needs two
	maxWebhookID   = 256             // bytes of an id
	signatureBytes = 44              // of base64
)

// authenticate lets known senders through. A signed body has to be read for that, and is returned as it came; nil means that the secret
// was shown and nothing has been read. Whatever is wrong, the stranger learns only that they are one.
func (s *server) authenticate(c echo.Context, d *core.Delivery) (wire []byte, err error) {
	r := c.Request()
	if s.knownSecret(r) {
		return nil, nil
	}
	if s.plausiblySigned(r.Header) {
		s.extend(c, uploadTime, uploadTime+answerTime)
		if wire, err = readWire(c, false); err != nil {
			return nil, err
		}
		d.Size = int64(len(wire))
		if s.signed(wire, r.Header) {
			return wire, nil
		}
	}
	if err := s.brake.failed(c); err != nil {
		return nil, err
	}
	return nil, unauthorized(c, "sign the bytes you send as Standard Webhooks says, or send the webhook's secret as `Authorization: Bearer …`")
}

// knownSecret compares the bearer secret with each of ours, all of them, in constant time.
func (s *server) knownSecret(r *http.Request) bool {
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

// plausiblySigned looks at the headers alone, so that a body is read only for one who took the trouble: an id, a time within five
// minutes, and a signature of the right shape.
func (s *server) plausiblySigned(h http.Header) bool {
	if h.Get(webhookID) == "" {
		return false
	}
	seconds, err := strconv.ParseInt(h.Get(webhookTimestamp), 10, 64)
	if err != nil {
		return false
	}
	if age := s.Now().Sub(time.Unix(seconds, 0)); age > signatureAge || age < -signatureAge {
		return false
	}
	all := strings.Split(h.Get(webhookSignature), " ")
	if len(all) > maxSignatures {
		return false
	}
	for _, one := range all {
		version, value, ok := strings.Cut(one, ",")
		if _, err := base64.StdEncoding.DecodeString(value); ok && version == "v1" && err == nil && len(value) == signatureBytes {
			return true
		}
	}
	return false
}

// signed verifies the bytes with each signing secret. The library's own clock is not asked: plausiblySigned has looked at the time.
func (s *server) signed(wire []byte, h http.Header) bool {
	for _, secret := range s.WebhookSecrets() {
		if !strings.HasPrefix(secret, signingPrefix) || len(secret) == len(signingPrefix) {
			continue
		}
		key, err := standardwebhooks.NewWebhook(secret)
		if err == nil && key.VerifyIgnoringTimestamp(wire, h) == nil {
			return true
		}
	}
	return false
}
