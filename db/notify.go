package db

import (
	"context"
	"strings"
	"time"

	"github.com/lib/pq"
)

const (
	noticeChannel = "storozh"
	listenRetry   = time.Second // first wait after a lost connection; it grows
	listenMost    = 30 * time.Second
)

// Tell tells the other processes on this database that something has happened: what is one word for it, from names the sender. On the embedded
// Postgres, which serves one process, it does nothing.
func (d *DB) Tell(ctx context.Context, from, what string) error {
	if d.single {
		return nil
	}
	_, err := d.x.ExecContext(ctx, "SELECT pg_notify($1, $2)", noticeChannel, from+" "+what)
	return wrap(err, "Tell")
}

// Hear calls heard for each word that others than from tell, until ctx ends. It calls it without a word whenever the connection stands, at first
// and after a loss: something may have been missed. Nobody may rely on being told, as there are poolers between that do not pass it on.
func (d *DB) Hear(ctx context.Context, from string, heard func(what string)) {
	if d.single {
		return
	}
	l := pq.NewListener(d.dsn, listenRetry, listenMost, nil)
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer func() {
		if stop() {
			_ = l.Close()
		}
	}()
	if err := l.Listen(noticeChannel); err != nil {
		return // closed; a lost connection is waited for inside
	}
	heard("")
	for n := range l.Notify {
		if n == nil { // it is there again
			heard("")
			continue
		}
		if sender, what, ok := strings.Cut(n.Extra, " "); ok && sender != from {
			heard(what)
		}
	}
}
