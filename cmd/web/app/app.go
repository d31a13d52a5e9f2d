package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"storozh/core"
	"storozh/core/guard"
	"storozh/core/localllm"
	"storozh/core/manifest"
	"storozh/db"
	"storozh/db/embedded"
)

// App is one process's parts. Made by Open, ended by Close.
type App struct {
	cfg     Config
	log     *slog.Logger
	say     func(string) // progress for the person at the terminal
	db      *db.DB
	server  *embedded.Server // nil on a native Postgres
	version string           // of the database, for people
	model   localllm.Model
	guard   *guard.Guard
	sample  *guard.Guard // the sample's own ecosystem, always with the demo model
	writer  manifest.Writer
	wake    *signal      // a run was queued
	ended   *signal      // a run or a write-back came to its end
	writes  atomic.Int64 // how often the writer put a block into a file
	seen    lastModel
	me      string // this process among those on its database
	meter   *instruments
	drain   chan struct{} // closed when the process is about to end
	poll    time.Duration // between two looks for work that nobody told of
	ln, ctl net.Listener  // of the dashboard and the control socket, once Listen has taken them
}

// Open brings up the database (setting the embedded one up at first use), migrates it and wires the guard. say gets one line per step
// that takes time.
func Open(ctx context.Context, cfg Config, log *slog.Logger, say func(string)) (*App, error) {
	a := &App{cfg: cfg, log: log, say: say, wake: newSignal(), ended: newSignal()}
	if err := os.MkdirAll(cfg.DataDir, 0o700); err != nil {
		return nil, fmt.Errorf("the data folder cannot be made: %w (set STOROZH_DATA_DIR to a folder that you can write)", err)
	}
	if err := a.openDatabase(ctx); err != nil {
		return nil, err
	}
	if err := a.wire(ctx); err != nil {
		_ = a.Close()
		return nil, err
	}
	return a, nil
}

func (a *App) openDatabase(ctx context.Context) error {
	dsn, single := a.cfg.DatabaseURL, false
	if dsn == "" {
		s, err := embedded.Start(ctx, embedded.Options{DataDir: a.cfg.DataDir, CacheDir: a.cfg.CacheDir, Progress: a.say, Log: a.log})
		if err != nil {
			return err
		}
		a.server, dsn, single = s, s.DSN(), true
	}
	var err error
	if a.db, err = db.Open(ctx, dsn, single); err != nil {
		_ = a.Close()
		if single {
			return fmt.Errorf("embedded Postgres: %w", err)
		}
		return fmt.Errorf("%w\nCheck DATABASE_URL, or unset it to use the embedded Postgres", err)
	}
	n, err := a.db.Migrate(ctx, slog.New(slog.DiscardHandler))
	if err != nil {
		_ = a.Close()
		return err
	}
	if n > 0 {
		a.say(fmt.Sprintf("database: %d migrations applied", n))
	}
	v, err := a.db.Version(ctx)
	if err != nil {
		_ = a.Close()
		return err
	}
	a.version = "Postgres " + v
	if single {
		a.version = "embedded Postgres " + v
	}
	return nil
}

func (a *App) wire(ctx context.Context) error {
	secret, err := a.db.Secret(ctx, "judge-fence", func() []byte { return []byte(rand.Text()) })
	if err != nil {
		return err
	}
	a.me = rand.Text()
	a.model = localllm.NewFake()
	if !a.cfg.Demo {
		if a.model, err = localllm.New(a.cfg.LLM); err != nil {
			return err
		}
	}
	a.meter, a.drain = newInstruments(), make(chan struct{})
	if a.poll == 0 {
		a.poll = pollQueue
	}
	a.model = observed{a.model, a.meter.model}
	opt := guard.Options{
		K: a.cfg.K, Concurrency: a.cfg.Concurrency, NoSwap: a.cfg.NoSwap, NoWords: a.cfg.NoWords, Secret: secret, Ecosystem: a.cfg.Ecosystem, ShieldDir: a.cfg.ShieldDir,
		PolicyPath: a.cfg.PolicyPath, Rules: a.cfg.Rules, Aliases: a.cfg.Aliases,
	}
	a.guard = guard.New(a.db, a.model, opt)
	eco := a.sampleEcosystem()
	opt.Ecosystem, opt.ShieldDir = eco, filepath.Join(eco, core.Shield)
	opt.PolicyPath = filepath.Join(eco, core.Darwin, "genome", "registry-new.md")
	a.sample = guard.New(a.db, localllm.NewFake(), opt)
	return nil
}

// closeLimit bounds how long the database may take to shut down.
const closeLimit = 10 * time.Second

// Close ends the database connections and the embedded server.
func (a *App) Close() error {
	var errs []error
	if a.db != nil {
		errs = append(errs, a.db.Close())
	}
	if a.server != nil {
		ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
		defer cancel()
		errs = append(errs, a.server.Close(ctx))
	}
	return errors.Join(errs...)
}
