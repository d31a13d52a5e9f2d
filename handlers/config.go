package handlers

import (
	"context"
	"log/slog"
	"time"

	"github.com/alexedwards/scs/v2"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"

	"storozh/core"
)

// Store is what the HTTP surface needs of the database. Errors wrap the sentinels of core.
type Store interface {
	// Submit makes an arrival durable and queues a run if its content is new.
	Submit(ctx context.Context, a core.Arrival) (core.Receipt, error)
	// Records lists manifests with their latest run, newest first, and the cursor of the next page (empty: none). Each
	// record of a finished run carries at least the block's Summary, ContraCheck and Flags' ObservedRepo if it is to be
	// shown with badges; Run.Block may be nil.
	Records(ctx context.Context, q core.RecordQuery) (records []core.Record, next string, err error)
	// Record returns one manifest with its latest run, and the latest judged one with its whole block, or core.ErrNotFound.
	Record(ctx context.Context, id int64) (core.Record, error)
	// Superseded returns, by id, the earlier manifests of the same session folded under each, newest first.
	Superseded(ctx context.Context, ids ...int64) (map[int64][]core.Record, error)
	// Units returns what a run found about its units, in the block's order; none before it is done.
	Units(ctx context.Context, runID int64) ([]core.UnitResult, error)
	// UnitPage returns one page of them, the most urgent first, with the counts of all.
	UnitPage(ctx context.Context, q core.UnitQuery) (core.UnitPage, error)
	// Unit returns one of them, or core.ErrNotFound.
	Unit(ctx context.Context, runID int64, unitID string) (core.UnitResult, error)
	// AddCommands returns the commands that bring the files into the diff that it lacks (core.Result.AddCommands).
	AddCommands(ctx context.Context, runID int64) ([]string, error)
	// RawManifest returns a manifest's bytes as they came, or core.ErrNotFound.
	RawManifest(ctx context.Context, id int64) ([]byte, error)
	// Rerun queues a new run; fresh bypasses the verdict cache. A run that has not ended is core.ErrConflict.
	Rerun(ctx context.Context, id int64, fresh bool) (core.Receipt, error)
	Decisions
	Items
}

// Decisions is what the review by two cosigners needs of the database.
type Decisions interface {
	// Reviewing reads all that a reader's page needs of a manifest's review at once; runID is its judged run.
	Reviewing(ctx context.Context, manifestID, runID int64, reader core.Cosigner) (core.Reviewing, error)
	// Decide adds decisions, all or none; core.ErrConflict if seen or the run is out of date (see db.Decide).
	Decide(ctx context.Context, decisions []core.Decision, seen map[core.FlagKey]int64) error
	// Reveal keeps that a cosigner asked to see the other's decision on a flag.
	Reveal(ctx context.Context, manifestID int64, c core.Cosigner, k core.FlagKey) error
	// QueueCounts counts the manifests per queue of a cosigner, without superseded ones.
	QueueCounts(ctx context.Context, c core.Cosigner) (map[core.Queue]int, error)
	// Cancel asks for the unfinished run of a manifest to end; core.ErrConflict if none is under way.
	Cancel(ctx context.Context, manifestID int64) error
}

// Identity knows the cosigners by the SHA-256 of what they hold; the secrets themselves are stored nowhere.
type Identity interface {
	// ByToken finds the cosigner of a long-lived token, or core.ErrNotFound.
	ByToken(ctx context.Context, hash [32]byte) (core.Cosigner, error)
	// RedeemLink uses up a one-time link, or returns core.ErrNotFound if there is none, or none any more.
	RedeemLink(ctx context.Context, hash [32]byte) (core.Cosigner, error)
	// DropLinks makes the unused one-time links of a cosigner worthless.
	DropLinks(ctx context.Context, c core.Cosigner) error
}

// Config is everything the HTTP surface is wired with. All fields up to Log are required.
type Config struct {
	Store          Store
	Identity       Identity
	Deliveries     Deliveries
	History        History             // nil: no trends and no search
	Corpus         Corpus              // nil: no corpus page
	Recall         Recall              // nil: missed clashes cannot be named, and there is no what-if page
	Sessions       *scs.SessionManager // its Store is set by New
	SessionStore   SessionStore
	WebhookSecrets func() []string                                         // accepted secrets; those that begin with whsec_ sign, too
	Wait           func(ctx context.Context, manifestID int64) error       // returns nil when the latest run has ended, else ctx's error
	RunSample      func(ctx context.Context) (manifestID int64, err error) // nil: no sample is offered
	System         func(ctx context.Context) (core.System, error)
	Ready          func(ctx context.Context) error // nil error: requests can be served
	Now            func() time.Time                // its location is the one pages show times in
	Log            *slog.Logger

	AllowedHosts []string                                                        // beside localhost, 127.0.0.1 and [::1]; host names without port; "*" allows any
	PublicURL    string                                                          // such as https://storozh.example, without a final slash; empty: taken from the request
	Version      string                                                          // shown at the foot of pages
	Demo         bool                                                            // the demo model answers: every page says so
	Audit        func(ctx context.Context, e core.AuditEntry)                    // keeps what was done; nil: nothing is kept
	AuditTrail   func(ctx context.Context, limit int) ([]core.AuditEntry, error) // the last ones, newest first; nil: not shown
	Evaluations  func(ctx context.Context, limit int) ([]core.Evaluation, error) // the last ones, newest first; nil: none
	Metrics      *prometheus.Registry                                            // nil: an own one
	Stats        func(ctx context.Context) (core.Stats, error)                   // what /metrics counts in the database; nil: left out
	Markers      func() []core.Marker                                            // the co-sign markers as seen now; nil: not shown
	Changed      func() <-chan struct{}                                          // closed when some run ends; nil: live pages look once a second
	Closing      <-chan struct{}                                                 // closed when the server shuts down, which ends live streams; nil: never
	FailedSignIn *rate.Limiter                                                   // how fast failed sign-ins are answered; nil: five at once, then one a second
}
