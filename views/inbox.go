package views

import (
	"fmt"
	"net/url"

	"storozh/core"
)

// Inbox is the list of manifests, newest first.
type Inbox struct {
	Page
	Entries    []Entry
	Waiting    Waiting // what Storozh listens to; shown when the inbox is empty
	Notices    []Notice
	Older      string // path of the next page; empty: this is the last
	FirstPage  bool
	SampleOpen bool // the sample can be run
	Tabs       []Tab
	Queue      core.Queue // the tab in use; empty: all
}

// Entry is one manifest of the inbox with the earlier ones of its session folded under it.
type Entry struct {
	URL     string
	Line    string
	Status  core.Status
	Badges  []Badge // flags of the run, or its status while it is not done
	Record  core.Record
	Repos   []string // where its units landed, if known
	Earlier []Entry
	Queue   Badge // whose turn it is; without a word: not judged yet
}

// Waiting names the ways by which a manifest can come in.
type Waiting struct {
	Webhook  string // full URL of the webhook
	File     string // the watched file; empty: none
	Watching bool   // it exists and is readable
}

// InboxInput is what [NewInbox] needs.
type InboxInput struct {
	Records    []core.Record
	Superseded map[int64][]core.Record // by the id of the manifest that superseded them
	Next       string                  // cursor of the next page; empty: none
	After      string                  // cursor of this page; empty: the first
	System     core.System
	Webhook    string
	Sample     bool
	Queue      core.Queue         // only manifests in this queue of the reader; empty: all
	Counts     map[core.Queue]int // manifests per queue of the reader
}

// NewInbox builds the inbox.
func NewInbox(p Page, in InboxInput) Inbox {
	p.Title, p.Here, p.Turn = "Inbox", "inbox", in.Counts[core.QueueYours]
	m := Inbox{
		Page: p, FirstPage: in.After == "", SampleOpen: in.Sample, Notices: systemNotices(in.System),
		Tabs: tabs(in), Queue: in.Queue,
		Waiting: Waiting{Webhook: in.Webhook, File: in.System.ManifestPath, Watching: in.System.Watching},
	}
	for _, r := range in.Records {
		e := entry(r)
		e.Queue = queueBadge(r.Queue(p.Signed))
		for _, old := range in.Superseded[r.ID] {
			e.Earlier = append(e.Earlier, entry(old))
		}
		m.Entries = append(m.Entries, e)
	}
	if in.Next != "" {
		m.Older = "/?after=" + url.QueryEscape(in.Next)
		if in.Queue != "" {
			m.Older = inboxURL(in.Queue) + "&after=" + url.QueryEscape(in.Next)
		}
	}
	return m
}

func entry(r core.Record) Entry {
	e := Entry{URL: manifestURL(r.ID), Line: Line(r), Status: r.Run.Status, Record: r}
	if r.Run.Status != core.Done {
		e.Badges = []Badge{statusBadge(r.Run.Status)}
	}
	if s := shown(r).Run; s.Status == core.Done && s.Block != nil {
		e.Badges, e.Repos = append(e.Badges, blockBadges(*s.Block)...), repos(*s.Block)
	}
	return e
}

// blockBadges counts a block's flags, each kind once.
func blockBadges(b core.Block) []Badge {
	var out []Badge
	for _, c := range []struct {
		n    int
		kind string
	}{{b.Summary.Contra, "contra"}, {b.Summary.Misroute, "misroute"}, {b.Summary.Dup, "dup"}, {b.Summary.Unjudged, "unjudged"}} {
		if c.n > 0 {
			out = append(out, Badge{Kind: c.kind, Word: fmt.Sprintf("%d %s", c.n, c.kind)})
		}
	}
	return out
}

// repos lists where a block's units landed, in the order of their first flag.
func repos(b core.Block) []string {
	var out []string
	seen := map[string]bool{}
	for _, f := range b.Flags {
		if !seen[f.ObservedRepo] && f.ObservedRepo != "" && len(out) < 6 {
			seen[f.ObservedRepo] = true
			out = append(out, f.ObservedRepo)
		}
	}
	return out
}

// tabs are the queues of the inbox with their counts.
func tabs(in InboxInput) []Tab {
	out := []Tab{{Name: "all", URL: inboxURL(""), Current: in.Queue == "", Count: -1}}
	for _, q := range Queues() {
		out = append(out, Tab{Name: string(q), URL: inboxURL(q), Current: q == in.Queue, Count: in.Counts[q]})
	}
	return out
}

func inboxURL(q core.Queue) string {
	if q == "" {
		return "/"
	}
	return "/?queue=" + QueueName(q)
}

func manifestURL(id int64) string { return fmt.Sprintf("/manifests/%d", id) }

// sessionName is a session id for people; a manifest may have none.
func sessionName(id string) string {
	if id == "" {
		return "no session id"
	}
	return short(id, 60)
}
