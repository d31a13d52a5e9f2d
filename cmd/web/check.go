package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"storozh/cmd/web/app"
	"storozh/core"
)

const askAgain = 300 * time.Millisecond

// check runs one manifest, or the sample, and prints what was found. Flags are no error: it fails only if it could not run.
func (c commands) check(ctx context.Context, file string) error {
	submit := app.Desk.RunSample
	if file != "--sample" {
		raw, target, err := readManifest(file)
		if err != nil {
			return fmt.Errorf("the manifest cannot be read: %w", err)
		}
		submit = func(d app.Desk, ctx context.Context) (int64, error) {
			id, err := d.Check(ctx, raw, target)
			if errors.Is(err, core.ErrInvalid) {
				err = fmt.Errorf("%s: %w", file, err)
			}
			return id, err
		}
	}
	return c.desk(ctx, func(d app.Desk) error {
		id, err := submit(d, ctx)
		if err != nil {
			return err
		}
		o, err := c.follow(ctx, d, id)
		if err != nil {
			return err
		}
		switch o.Status {
		case core.Failed:
			return fmt.Errorf("the run failed: %s", printable(o.Error))
		case core.Cancelled:
			return errors.New("the run was cancelled")
		}
		return printOutcome(c.out, o)
	})
}

// readManifest reads whatever has a name. target is the file that the block belongs in, absolute; empty for a pipe that the shell has made,
// which takes none (and whose name is another thing to the running process).
func readManifest(name string) (raw []byte, target string, err error) {
	if target, err = filepath.Abs(name); err != nil {
		return nil, "", err
	}
	f, err := os.Open(target)
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = f.Close() }()
	raw, err = app.ReadCapped(f)
	if st, statErr := f.Stat(); err == nil && (statErr != nil || !st.Mode().IsRegular()) {
		target = ""
	}
	return raw, target, err
}

// awayLimit is how long the end of a run is waited for while nobody answers about it: a restart takes less.
const awayLimit = 2 * time.Minute

// follow waits for the end of a run, telling how far it is. What was accepted is durable, so a database or a process that goes away
// meanwhile is waited for, within bounds.
func (c commands) follow(ctx context.Context, d app.Desk, id int64) (app.Outcome, error) {
	said := ""
	say := func(line string) {
		if line != said {
			said = line
			c.say(line)
		}
	}
	var away time.Time // since when nobody answers
	for {
		o, err := d.Outcome(ctx, id)
		switch {
		case err == nil && o.Ended() || err != nil && (ctx.Err() != nil || !isAway(err)):
			return o, err
		case err == nil:
			away = time.Time{}
			say(progressLine(o))
		case away.IsZero():
			away = time.Now()
			say(awayLine(err))
		case time.Since(away) > cmp.Or(c.awayLimit, awayLimit):
			return o, fmt.Errorf("%w; the manifest is kept and its run goes on by itself: the same command shows later what was found", err)
		}
		select {
		case <-ctx.Done():
			return o, fmt.Errorf("stopped before the run ended: %w", ctx.Err())
		case <-time.After(askAgain):
		}
	}
}

// isAway tells whether an error means that an answer may come later.
func isAway(err error) bool { return errors.Is(err, core.ErrNoDatabase) || errors.Is(err, app.ErrGone) }

func awayLine(err error) string {
	if errors.Is(err, app.ErrGone) {
		return "the running storozh has gone away; the manifest is kept, and its run goes on when it is started again: waiting for that"
	}
	return "the database does not answer; the manifest is kept, and its run goes on when it is there again: waiting for that"
}

func progressLine(o app.Outcome) string {
	switch {
	case o.Status == core.Running && o.Progress.Of > 0:
		return fmt.Sprintf("%d of %d pairs judged", o.Progress.Done, o.Progress.Of)
	case o.Status == core.Done:
		return "writing the block"
	default:
		return string(o.Status)
	}
}

func printOutcome(w io.Writer, o app.Outcome) error {
	var b strings.Builder
	fmt.Fprintln(&b, o.BLUF)
	if o.Block == nil {
		return errors.New("the run is done but has no block")
	}
	for _, f := range o.Block.Flags {
		printFlag(&b, f)
	}
	list(&b, "not in the diff, not checked", o.Block.NotInDiff)
	list(&b, "unclassified", o.Block.Unclassified)
	list(&b, "warning", o.Block.Warnings)
	block, err := json.MarshalIndent(map[string]any{"storozh": o.Block}, "", "  ")
	if err != nil {
		return err
	}
	fmt.Fprintf(&b, "\n%s\n\n", escaped(block))
	fmt.Fprintf(&b, "file: %s", o.WriteBack.State)
	for _, s := range []string{o.WriteBack.Path, o.WriteBack.Detail} {
		if s != "" {
			fmt.Fprintf(&b, " · %s", printable(s))
		}
	}
	fmt.Fprintf(&b, "\npage: %s\n", o.URL)
	_, err = io.WriteString(w, b.String())
	return err
}

func printFlag(b *strings.Builder, f core.Flag) {
	fmt.Fprintf(b, "  %s\n    routing: %s", printable(f.Unit), f.Routing)
	if f.Routing == core.Misroute {
		fmt.Fprintf(b, ", is in %s, belongs in %s", printable(f.ObservedRepo), f.ExpectedRepo)
	}
	if f.Severity != "" {
		fmt.Fprintf(b, " (%s)", f.Severity)
	}
	b.WriteByte('\n')
	if f.Semantic != "" {
		fmt.Fprintf(b, "    label: %s\n", f.Semantic)
	}
	if len(f.Against) > 0 {
		fmt.Fprintf(b, "    against: %s\n    note: %s\n", printable(strings.Join(f.Against, ", ")), printable(f.JudgeNote))
	}
}

func list(b *strings.Builder, what string, lines []string) {
	for _, l := range lines {
		fmt.Fprintf(b, "  %s: %s\n", what, printable(l))
	}
}

// hidden tells whether a character acts on a terminal, or on the order of the text in it, instead of standing there.
func hidden(r rune) bool {
	return r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// printable keeps control characters of untrusted text (a path can hold an escape sequence) from reaching the terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if hidden(r) {
			return '\uFFFD'
		}
		return r
	}, s)
}

// escaped is printable for JSON, which stays the same document: only a text in it can hold such a character, and line ends are its layout.
func escaped(doc []byte) string {
	var b strings.Builder
	for _, r := range string(doc) {
		if hidden(r) && r != '\n' {
			fmt.Fprintf(&b, "\\u%04x", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func (c commands) login(ctx context.Context, who string) error {
	return c.desk(ctx, func(d app.Desk) error {
		link, err := d.Link(ctx, core.Cosigner(who))
		if err == nil {
			_, err = fmt.Fprintln(c.out, link)
		}
		return err
	})
}

func (c commands) sync(ctx context.Context) error {
	return c.desk(ctx, func(d app.Desk) error {
		s, err := d.Sync(ctx)
		if err != nil {
			return err
		}
		if s.Stale {
			return fmt.Errorf("the shield corpus could not be read: %s", s.Reason)
		}
		_, err = fmt.Fprintf(c.out, "%d items at %.12s, %d faults\n", s.Items, s.Commit, len(s.Faults))
		return err
	})
}
