package handlers

import (
	"bytes"
	"compress/gzip"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/time/rate"

	"storozh/core"
)

var (
	signingSecret = "whsec_" + base64.StdEncoding.EncodeToString([]byte("the key of the test's sender"))
	olderSigning  = "whsec_" + base64.StdEncoding.EncodeToString([]byte("the key that is being retired"))
)

// sign makes a signature as the scheme's text says it, by other code than the one that verifies.
func sign(secret, id string, at time.Time, body []byte) string {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		panic(err)
	}
	mac := hmac.New(sha256.New, key)
	_, _ = fmt.Fprintf(mac, "%s.%d.", id, at.Unix())
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// signedHeaders are what a signing sender adds.
func signedHeaders(secret, id string, at time.Time, body []byte) []string {
	return []string{"Webhook-Id", id, "Webhook-Timestamp", fmt.Sprint(at.Unix()), "Webhook-Signature", sign(secret, id, at, body)}
}

func signingHouse(t *testing.T, change ...func(*Config)) *house {
	return newHouse(t, append([]func(*Config){func(c *Config) {
		c.WebhookSecrets = func() []string { return []string{olderSigning, hookSecret, signingSecret} }
	}}, change...)...)
}

// Case H1: the bytes on the wire are what was signed.
const spacedBody = "{\"b\": 1.0,  \"a\":\"\\u0416\"}"

func TestSignedDeliveries(t *testing.T) {
	t.Parallel()
	body := []byte(spacedBody)
	var gz bytes.Buffer
	z := gzip.NewWriter(&gz)
	_, _ = z.Write(body)
	_ = z.Close()
	plainKey := "whsec_" + base64.StdEncoding.EncodeToString([]byte(hookSecret))
	now := testNow
	for name, tc := range map[string]struct {
		body    []byte
		headers []string
		want    int
	}{
		"good":                        {body, signedHeaders(signingSecret, "d1", now, body), 202},
		"good by the retiring secret": {body, signedHeaders(olderSigning, "d1", now, body), 202},
		"one good signature of several": {body, []string{"Webhook-Id", "d1", "Webhook-Timestamp", fmt.Sprint(now.Unix()), "Webhook-Signature",
			"v1a,AAAA " + sign("whsec_AAAA", "d1", now, body) + " " + sign(signingSecret, "d1", now, body)}, 202},
		"gzip, signed as sent":          {gz.Bytes(), append(signedHeaders(signingSecret, "d1", now, gz.Bytes()), "Content-Encoding", "gzip"), 202},
		"the secret shown as it stands": {body, []string{"Authorization", "Bearer " + signingSecret}, 202},
		"five minutes old":              {body, signedHeaders(signingSecret, "d1", now.Add(-5*time.Minute), body), 202},
		"five minutes ahead":            {body, signedHeaders(signingSecret, "d1", now.Add(5*time.Minute), body), 202},
		"older":                         {body, signedHeaders(signingSecret, "d1", now.Add(-5*time.Minute-time.Second), body), 401},
		"further ahead":                 {body, signedHeaders(signingSecret, "d1", now.Add(5*time.Minute+time.Second), body), 401},
		"encoded anew":                  {[]byte(`{"a":"Ж","b":1}`), signedHeaders(signingSecret, "d1", now, body), 401},
		"one byte more":                 {append([]byte(spacedBody), '\n'), signedHeaders(signingSecret, "d1", now, body), 401},
		"gzip, signed before":           {gz.Bytes(), append(signedHeaders(signingSecret, "d1", now, body), "Content-Encoding", "gzip"), 401},
		"another id":                    {body, append([]string{"Webhook-Id", "d2"}, signedHeaders(signingSecret, "d1", now, body)[2:]...), 401},
		"another time":                  {body, append(signedHeaders(signingSecret, "d1", now, body), "Webhook-Timestamp", fmt.Sprint(now.Unix()+1)), 401},
		"another key":                   {body, signedHeaders("whsec_c29tZWJvZHkgZWxzZQ==", "d1", now, body), 401},
		"an empty key":                  {body, signedHeaders("whsec_", "d1", now, body), 401},
		"a bearer secret does not sign": {body, signedHeaders(plainKey, "d1", now, body), 401},
		"another version":               {body, append(signedHeaders(signingSecret, "d1", now, body), "Webhook-Signature", "v2,"+sign(signingSecret, "d1", now, body)[3:]), 401},
		"no id":                         {body, signedHeaders(signingSecret, "", now, body), 401},
		"no time":                       {body, append(signedHeaders(signingSecret, "d1", now, body), "Webhook-Timestamp", ""), 401},
		"no signature":                  {body, append(signedHeaders(signingSecret, "d1", now, body), "Webhook-Signature", ""), 401},
		"signed, but no JSON":           {[]byte("nope"), signedHeaders(signingSecret, "d1", now, []byte("nope")), 400},
		"no JSON, badly signed":         {[]byte("nope"), signedHeaders(signingSecret, "d1", now, body), 401},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := signingHouse(t)
			got := h.do(h.browser(), http.MethodPost, hookPath, bytes.NewReader(tc.body), tc.headers...)
			if got.status != tc.want {
				t.Fatalf("status %d, want %d: %s", got.status, tc.want, got.body)
			}
			if stored := len(h.mem.arrivals); (stored == 1) != (tc.want == 202) {
				t.Errorf("%d manifests stored", stored)
			}
			if tc.want == 202 && string(h.mem.arrivals[0].Raw) != spacedBody {
				t.Errorf("stored other bytes: %q", h.mem.arrivals[0].Raw)
			}
		})
	}
}

// A stranger's body over the limit is not even read for its signature; a signer's is too large.
func TestSignedBodyOverTheLimit(t *testing.T) {
	t.Parallel()
	h := signingHouse(t)
	headers := signedHeaders(signingSecret, "d1", testNow, []byte("{}"))
	body := bytes.NewReader(bytes.Repeat([]byte("1"), manifestLimit+1<<20))
	if got := h.do(h.browser(), http.MethodPost, hookPath, &onlyReader{body}, headers...); got.status != http.StatusRequestEntityTooLarge {
		t.Errorf("status %d: %s", got.status, got.body)
	}
	if d := h.mem.last(); len(h.mem.arrivals) != 0 || d.Verdict != core.DeliveryTooLarge {
		t.Errorf("%d stored, recorded as %q", len(h.mem.arrivals), d.Verdict)
	}
}

// onlyReader hides a length, so that the body goes out in chunks.
type onlyReader struct{ r *bytes.Reader }

func (o *onlyReader) Read(p []byte) (int, error) { return o.r.Read(p) }

// While guessers fill the brake, a genuine sender is answered at once, by either way.
func TestGuessersDoNotSlowGenuineSenders(t *testing.T) {
	t.Parallel()
	h := signingHouse(t, func(c *Config) { c.FailedSignIn = rate.NewLimiter(rate.Every(time.Minute), 1) })
	body := []byte(spacedBody)
	codes := make(chan int, 60)
	for i := range 60 {
		headers := []string{"Authorization", "Bearer guess"}
		if i%2 == 0 {
			headers = signedHeaders("whsec_Z3Vlc3NlcidzIGtleQ==", "d1", testNow, body)
		}
		go func() {
			codes <- h.do(h.browser(), http.MethodPost, hookPath, bytes.NewReader(body), headers...).status
		}()
	}
	for i := range 10 {
		headers := []string{"Authorization", "Bearer " + hookSecret}
		if i%2 == 0 {
			headers = signedHeaders(signingSecret, fmt.Sprint("mine", i), testNow, body)
		}
		got := h.do(h.browser(), http.MethodPost, hookPath, bytes.NewReader(body), headers...)
		if got.status != http.StatusAccepted {
			t.Errorf("a genuine sender got %d", got.status)
		}
	}
	slowed := 0
	for range 60 {
		switch code := <-codes; code {
		case http.StatusTooManyRequests:
			slowed++
		case http.StatusUnauthorized:
		default:
			t.Errorf("a guesser got %d", code)
		}
	}
	if slowed < 55 {
		t.Errorf("only %d of 60 guesses were turned away", slowed)
	}
}
