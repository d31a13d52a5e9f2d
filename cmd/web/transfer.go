package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"storozh/cmd/web/app"
)

// export writes everything to standard output: by the running process, which alone may hold the embedded database open, or by this one.
func (c commands) export(ctx context.Context) error {
	out := bufio.NewWriterSize(c.out, 1<<16)
	if r, ok := app.Dial(ctx, c.cfg.DataDir); ok {
		_, err := r.Export(ctx, out)
		return errors.Join(err, out.Flush())
	}
	a, err := app.Open(ctx, c.cfg, c.log, c.say)
	if err != nil {
		return err
	}
	n, err := a.Export(ctx, out)
	if err = errors.Join(err, out.Flush(), a.Close()); err == nil {
		c.say(fmt.Sprintf("%d rows exported", n))
	}
	return err
}

// load imports an export from a file, or from standard input for "-".
func (c commands) load(ctx context.Context, name string) error {
	var in io.Reader = os.Stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return fmt.Errorf("the export cannot be read: %w", err)
		}
		defer func() { _ = f.Close() }()
		in = f
	}
	n, err := app.Import(ctx, c.cfg, c.log, c.say, in)
	if err == nil {
		_, err = fmt.Fprintf(c.out, "%d rows imported\n", n)
	}
	return err
}
