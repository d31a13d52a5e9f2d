package views

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"storozh/core"
)

// Deliveries is the list of what came to the webhook, newest first.
type Deliveries struct {
	Page
	Entries   []DeliveryEntry
	Webhook   string // full URL of the webhook
	Older     string // path of the next page; empty: this is the last
	FirstPage bool
}

// DeliveryEntry is one delivery.
type DeliveryEntry struct {
	core.Delivery
	Badge   Badge
	Said    string // the answer in words, such as `202 Accepted after 12 ms`
	Outcome string // path of the manifest's page; empty: none
	Again   string // where "Deliver again" posts to; empty: there is nothing to deliver
	Headers []Fact // by name
}

// NewDeliveries builds the page. after is the cursor of this page (empty: the first), next that of the following one.
func NewDeliveries(p Page, list []core.Delivery, after, next, webhook string) Deliveries {
	p.Title, p.Here = "Deliveries", "deliveries"
	m := Deliveries{Page: p, FirstPage: after == "", Webhook: webhook}
	for _, d := range list {
		m.Entries = append(m.Entries, deliveryEntry(d))
	}
	if next != "" {
		m.Older = "/deliveries?after=" + url.QueryEscape(next)
	}
	return m
}

func deliveryEntry(d core.Delivery) DeliveryEntry {
	e := DeliveryEntry{Delivery: d, Badge: deliveryBadge(d), Said: said(d)}
	if d.ManifestID != 0 {
		e.Outcome = manifestURL(d.ManifestID)
		e.Again = fmt.Sprintf("/deliveries/%d/again", d.ID)
	}
	for name, value := range d.Headers {
		e.Headers = append(e.Headers, Fact{Name: short(Plain(name), 60), Value: value})
	}
	slices.SortFunc(e.Headers, func(a, b Fact) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return e
}

func deliveryBadge(d core.Delivery) Badge {
	b := Badge{Kind: "warn", Word: string(d.Verdict)}
	switch d.Verdict {
	case core.DeliveryAccepted:
		b.Kind = "ok"
	case core.DeliveryReplay:
		b.Kind, b.Hint = "none", "an id that came before: it got the first answer again"
	case core.DeliveryUnauthorized, core.DeliveryFailed:
		b.Kind = "failed"
	case core.DeliveryConflict:
		b.Hint = "an id that came before, with another body"
	}
	return b
}

// said words the answer and how long it took.
func said(d core.Delivery) string {
	if d.Status == 0 {
		return "the sender waits for the run"
	}
	word := http.StatusText(d.Status)
	if word == "" {
		word = "the sender went away"
	}
	return fmt.Sprintf("%d %s after %s", d.Status, word, lasted(d.Duration))
}

// lasted says a duration to people: `12 ms`, `3.4 s`.
func lasted(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

func idText(id int64) string { return fmt.Sprint(id) }
