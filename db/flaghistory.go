package db

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"storozh/core"
)

// historyRow is one flag of a session: when it came, what both decided, when it went.
type historyRow struct {
	Key      []byte       `db:"key"`
	Session  []byte       `db:"session"`
	Unit     string       `db:"unit"`
	Kind     string       `db:"kind"`
	Label    string       `db:"label"`
	Repo     string       `db:"repo"`
	Raised   time.Time    `db:"raised"`
	SeenAt   time.Time    `db:"seen_at"`
	Resolved sql.NullTime `db:"resolved"`
	How      string       `db:"how"`
	Owner    string       `db:"owner"`
	Claude   string       `db:"claude"`
	Decided  sql.NullTime `db:"decided"`
	Waited   int          `db:"waited"`

	changed bool
}

// The ways in which a flag goes.
const (
	howGone    = "gone"
	howDecided = "decided"
)

// syncFlags brings the history of a manifest's flags, and what the search knows of them, up to date after a run or a decision. The caller
// holds the manifest's lock and applies sums.
func (d *DB) syncFlags(ctx context.Context, tx *sqlx.Tx, manifestID int64, sums changes) error {
	var run countedRun
	err := tx.GetContext(ctx, &run, countedRunQuery+"WHERE r.manifest_id = $1 AND r.status = 'done' ORDER BY r.id DESC LIMIT 1", manifestID)
	if err != nil {
		return err
	}
	flags, err := shownFlags(ctx, tx, run)
	if err != nil {
		return err
	}
	if err := markFound(ctx, tx, run.ID, flags); err != nil {
		return err
	}
	if run.Demo {
		return nil
	}
	latest, err := latestOf(ctx, tx, run)
	if err != nil {
		return err
	}
	h := history{run: run, latest: latest, sums: sums, rows: map[string]*historyRow{}}
	h.session = digest(sessionKey(run.Session, manifestID))
	if err := h.load(ctx, tx); err != nil {
		return err
	}
	for _, f := range flags {
		h.show(f)
	}
	if err := h.settle(ctx, tx, flags); err != nil {
		return err
	}
	return h.save(ctx, tx)
}

// latestOf is the latest judged run of the session's latest manifest: what is not in it is gone. Its ID is 0 while there is none.
func latestOf(ctx context.Context, tx *sqlx.Tx, run countedRun) (countedRun, error) {
	where, arg := "m.id = $1", any(run.ManifestID)
	if run.Session != "" {
		where, arg = "m.session_id = $1 AND m.superseded_by IS NULL", run.Session
	}
	var latest countedRun
	err := tx.GetContext(ctx, &latest, countedRunQuery+"WHERE "+where+" AND r.status = 'done' AND NOT r.demo ORDER BY r.id DESC LIMIT 1", arg)
	if errors.Is(err, sql.ErrNoRows) {
		return latest, nil
	}
	return latest, err
}

// history is what one transaction does to the flags of a session.
type history struct {
	run, latest countedRun
	session     []byte
	sums        changes
	rows        map[string]*historyRow
}

func (h *history) load(ctx context.Context, tx *sqlx.Tx) error {
	var rows []historyRow
	if err := tx.SelectContext(ctx, &rows, "SELECT * FROM flag_history WHERE session = $1 ORDER BY key FOR UPDATE", h.session); err != nil {
		return err
	}
	for i := range rows {
		h.rows[string(rows[i].Key)] = &rows[i]
	}
	return nil
}

func (h *history) key(unit, kind, label string) []byte {
	return digest(string(h.session), unit, kind, label)
}

// show takes in one flag of the run: a new one is raised; what both decided is counted, once per flag, as it stands last.
func (h *history) show(f shownFlag) {
	key := h.key(f.Unit, f.Kind, f.Label)
	r := h.rows[string(key)]
	if r == nil {
		r = &historyRow{
			Key: key, Session: h.session, Unit: f.Unit, Kind: f.Kind, Label: f.Label, Repo: clip(f.Repo), Raised: h.run.quarter(),
			SeenAt: h.run.FinishedAt,
		}
		h.rows[string(key)] = r
		h.sums.add(r.Repo, r.Raised, 1, atRaised)
		r.changed = true
	}
	if !f.both() || r.Owner == f.Owner.String && r.Claude == f.Claude.String {
		return
	}
	h.countReview(r, -1)
	at := f.decidedAt()
	r.Owner, r.Claude, r.Decided = f.Owner.String, f.Claude.String, sql.NullTime{Time: quarter(at, at), Valid: true}
	r.Waited = waitClass(at.Sub(r.SeenAt))
	h.countReview(r, 1)
	r.changed = true
}

func waitClass(d time.Duration) int {
	classes := core.WaitClasses()
	for i, c := range classes {
		if d <= c {
			return i
		}
	}
	return len(classes)
}

// countReview adds what both decided on a flag to the sums, or takes it out.
func (h *history) countReview(r *historyRow, sign int) {
	if !r.Decided.Valid {
		return
	}
	columns := []int{atWaited + r.Waited}
	if r.Owner == r.Claude {
		columns = append(columns, atAgreed)
	}
	label := slices.Index(tallyLabels, r.Label)
	for at, choice := range map[int]string{atOwner: r.Owner, atClaude: r.Claude} {
		columns = append(columns, at+slices.Index(core.Choices(), core.Choice(choice)))
		if goes(choice) {
			columns = append(columns, atConfirmed+label)
		} else {
			columns = append(columns, atRefuted+label)
		}
	}
	h.sums.add(r.Repo, r.Decided.Time, sign, columns...)
}

// settle finds out which flags of the session stand: those that the latest run shows and that not both want changed.
func (h *history) settle(ctx context.Context, tx *sqlx.Tx, flags []shownFlag) error {
	if h.latest.ID == 0 {
		return nil
	}
	here := h.latest.ID == h.run.ID
	if !here {
		var err error
		if flags, err = shownFlags(ctx, tx, h.latest); err != nil {
			return err
		}
	}
	shown := map[string]shownFlag{}
	for _, f := range flags {
		shown[string(h.key(f.Unit, f.Kind, f.Label))] = f
	}
	for key, r := range h.rows {
		f, stands := shown[key]
		switch {
		case !stands:
			h.resolve(r, howGone, h.latest.quarter())
		case f.gone():
			at := f.decidedAt()
			h.resolve(r, howDecided, quarter(at, at))
		default:
			h.resolve(r, "", time.Time{})
		}
	}
	return nil
}

// resolve sets how a flag went (empty: it stands). One that is already gone in whichever way keeps its time.
func (h *history) resolve(r *historyRow, how string, at time.Time) {
	if (how == "") == !r.Resolved.Valid {
		return
	}
	if how == "" {
		h.sums.add(r.Repo, r.Resolved.Time, -1, atResolved)
		r.Resolved, r.How = sql.NullTime{}, ""
	} else {
		if at.Before(r.Raised) { // an earlier manifest that was judged after a later one
			at = r.Raised
		}
		r.Resolved, r.How = sql.NullTime{Time: at, Valid: true}, how
		h.sums.add(r.Repo, at, 1, atResolved)
	}
	r.changed = true
}

func (h *history) save(ctx context.Context, tx *sqlx.Tx) error {
	var rows []historyRow
	for _, key := range slices.Sorted(maps.Keys(h.rows)) {
		if r := h.rows[key]; r.changed {
			rows = append(rows, *r)
		}
	}
	return insertAll(ctx, tx, `
		INSERT INTO flag_history (key, session, unit, kind, label, repo, raised, seen_at, resolved, how, owner, claude, decided, waited)
		VALUES (:key, :session, :unit, :kind, :label, :repo, :raised, :seen_at, :resolved, :how, :owner, :claude, :decided, :waited)
		ON CONFLICT (key) DO UPDATE SET resolved = excluded.resolved, how = excluded.how, owner = excluded.owner, claude = excluded.claude,
			decided = excluded.decided, waited = excluded.waited`, rows)
}
