package handlers

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// plainly is a request whose answer comes as it was sent, not unzipped by the client.
func (h *house) plainly(b *http.Client, path string, header ...string) answer {
	h.t.Helper()
	raw := *b
	raw.Transport = &http.Transport{DisableCompression: true}
	return h.do(&raw, http.MethodGet, path, nil, header...)
}

func TestLongAnswersAreZipped(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.putUnits(big()...)
	b := h.signedIn(ownerToken)
	page := fmt.Sprintf("/manifests/%d", id)
	plain := h.plainly(b, page)
	if plain.header.Get("Content-Encoding") != "" || !strings.Contains(plain.body, "</html>") {
		t.Fatalf("asked for nothing, got %v", plain.header)
	}
	for _, path := range []string{page, "/api" + page, "/api" + page + "/manifest", "/login", "/keys"} {
		got := h.plainly(b, path, "Accept-Encoding", "gzip, deflate, br")
		z, err := gzip.NewReader(bytes.NewReader([]byte(got.body)))
		if len(got.body) < compressFrom && got.header.Get("Content-Encoding") == "" {
			continue
		}
		if err != nil {
			t.Errorf("%s: %v, %v", path, err, got.header)
			continue
		}
		body, err := io.ReadAll(z)
		if err != nil || got.status != 200 || len(body) < len(got.body) || !strings.Contains(strings.Join(got.header.Values("Vary"), ","), "Accept-Encoding") {
			t.Errorf("%s: status %d, %v, %d bytes of %d, %v", path, got.status, err, len(got.body), len(body), got.header)
		}
		if path == page && len(got.body) > len(plain.body)/4 {
			t.Errorf("the page shrank only from %d to %d bytes", len(plain.body), len(got.body))
		}
	}
	for path, why := range map[string]string{"/healthz": "short", page + "/progress": "short", page + "/events": "a stream"} {
		if got := h.plainly(b, path, "Accept-Encoding", "gzip"); got.header.Get("Content-Encoding") != "" {
			t.Errorf("%s is %s and was zipped", path, why)
		}
	}
	if got := h.plainly(b, "/manifests/99999", "Accept-Encoding", "gzip"); got.status != 404 {
		t.Errorf("an error page: status %d", got.status)
	}
}

// Over TLS, what another site may have asked for in the reader's name is not zipped: its length would tell of its secrets.
func TestAForeignRequestIsNotZippedOverTLS(t *testing.T) {
	t.Parallel()
	for _, public := range []string{"", "https://storozh.example"} {
		h := newHouse(t, func(c *Config) { c.PublicURL = public })
		id := h.putUnits(big()...)
		b := h.signedIn(ownerToken)
		for site, own := range map[string]bool{"same-origin": true, "none": true, "cross-site": false, "same-site": false, "": false} {
			got := h.plainly(b, fmt.Sprintf("/manifests/%d", id), "Accept-Encoding", "gzip", "Sec-Fetch-Site", site)
			if zipped := got.header.Get("Content-Encoding") == "gzip"; zipped != (own || public == "") || got.status != 200 {
				t.Errorf("public URL %q, Sec-Fetch-Site %q: status %d, zipped %v", public, site, got.status, zipped)
			}
		}
	}
}
