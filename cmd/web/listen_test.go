package main

import (
	"net"
	"net/http"
	"strings"
	"testing"
)

// On whatever address it listens, the link that it prints opens on this machine.
func TestThePrintedLinkOpens(t *testing.T) {
	for _, host := range []string{"127.0.0.2", "0.0.0.0", ""} { // the first stands for the one address of a bridge
		t.Run(host, func(t *testing.T) {
			r := newMachine(t, append(databaseFor(t), "STOROZH_ADDR="+host+":0")...).start()
			if code, body, _ := r.browser().do(http.MethodGet, r.link("owner")); code != http.StatusOK || !strings.Contains(body, "Sign in with this link") {
				t.Errorf("%s: %d %s", r.link("owner"), code, body)
			}
			r.interrupt()
		})
	}
}

// What is shown only once is not made by a start that fails: the next one shows it.
func TestAFailedFirstStartKeepsTheTokens(t *testing.T) {
	m := newMachine(t, databaseFor(t)...)
	ln, err := net.Listen("tcp", m.addr)
	if err != nil {
		t.Fatal(err)
	}
	if out, errs, err := m.web(); err == nil || out != "" || !strings.Contains(errs, "STOROZH_ADDR") {
		t.Fatalf("on a taken address: %v %q %s", err, out, errs)
	}
	_ = ln.Close()
	r := m.start()
	for _, want := range []string{"API token of owner", "API token of claude", "webhook secret: made"} {
		if !strings.Contains(strings.Join(r.lines, "\n"), want) {
			t.Errorf("the first start that works does not show %q: %q", want, r.lines)
		}
	}
	r.interrupt()
}
