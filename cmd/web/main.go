// Command web is Storozh: the dashboard with its workers, and the commands around it.
//
//	web                      run everything; the embedded database is set up at first start
//	web check FILE           run one manifest and print what was found; --sample runs the sample instead
//	web login owner|claude   print a new one-time sign-in link
//	web sync                 read the corpus and embed what is new
//	web migrate              bring the database up to date
//	web eval                 measure the judge and the embedding model on the labelled sets
//	web export               write everything to standard output as JSON lines
//	web import FILE          fill an empty database with such an export; - is standard input
//	web version              print the version
//
// This package alone reads the environment.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"storozh/cmd/web/app"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" {
		app.TuneMemory()
	}
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	switch {
	case err == nil:
		return
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		fmt.Fprintln(os.Stderr, "storozh: stopped") // what was cut off is no fault of anything
	default:
		fmt.Fprintln(os.Stderr, "storozh:", err)
	}
	os.Exit(1)
}

var errUsage = errors.New(`usage: web [serve | check FILE | check --sample | login owner|claude | sync | migrate | eval | export | import FILE | version]`)

// run is the whole program but for the process around it.
func run(ctx context.Context, args []string, env func(string) string, stdout, stderr io.Writer) error {
	command := "serve"
	if len(args) > 0 {
		command, args = args[0], args[1:]
	}
	if command == "version" {
		_, err := fmt.Fprintln(stdout, version())
		return err
	}
	cfg, err := config(env)
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: logLevel(env)}))
	c := commands{cfg: cfg, log: log, out: stdout, err: stderr}
	switch {
	case command == "serve" && len(args) == 0:
		return c.serve(ctx)
	case command == "check" && len(args) == 1:
		return c.check(ctx, args[0])
	case command == "login" && len(args) == 1:
		return c.login(ctx, args[0])
	case command == "sync" && len(args) == 0:
		return c.sync(ctx)
	case command == "migrate" && len(args) == 0:
		return c.migrate(ctx)
	case command == "export" && len(args) == 0:
		return c.export(ctx)
	case command == "import" && len(args) == 1:
		return c.load(ctx, args[0])
	case command == "eval":
		return c.eval(ctx, args)
	default:
		return errUsage
	}
}

// commands are the subcommands with what they share.
type commands struct {
	cfg app.Config
	log *slog.Logger
	out io.Writer
	err io.Writer

	awayLimit time.Duration // how long `check` waits while nobody answers about its run; 0: see awayLimit
}

func (c commands) say(line string) { _, _ = fmt.Fprintln(c.err, line) }

func (c commands) serve(ctx context.Context) error {
	a, err := app.Open(ctx, c.cfg, c.log, c.say)
	if err != nil {
		return err
	}
	err = a.Listen()
	if err == nil {
		var lines []string
		if lines, err = a.Welcome(ctx); err == nil {
			err = a.Serve(ctx, func(string) { _, _ = fmt.Fprintln(c.out, strings.Join(lines, "\n")) })
		}
	}
	if ctx.Err() != nil {
		c.say("stopping")
	}
	return errors.Join(err, a.Close())
}

// desk finds the running process, or opens the database in this one with its workers.
func (c commands) desk(ctx context.Context, f func(app.Desk) error) error {
	if r, ok := app.Dial(ctx, c.cfg.DataDir); ok {
		return f(r)
	}
	a, err := app.Open(ctx, c.cfg, c.log, c.say)
	if err != nil {
		return err
	}
	workCtx, stop := context.WithCancel(ctx)
	wait := a.Work(workCtx)
	err = f(a)
	stop()
	wait()
	return errors.Join(err, a.Close())
}

func (c commands) migrate(ctx context.Context) error {
	if _, ok := app.Dial(ctx, c.cfg.DataDir); ok {
		_, err := fmt.Fprintln(c.out, "a running storozh has migrated the database at its start")
		return err
	}
	a, err := app.Open(ctx, c.cfg, c.log, c.say)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(c.out, "the database is up to date")
	return errors.Join(err, a.Close())
}
