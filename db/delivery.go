package db

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jmoiron/sqlx"

	"storozh/core"
)

const (
	deliveryDays   = 30   // how long a delivery is kept, and with it its id
	otherKept      = 2000 // the newest deliveries that were not accepted; older ones go, whatever their age
	pruneEvery     = 64   // rows between two clean-ups: cheap, and no timer needed
	pruneAtOnce    = 1000 // expired rows per clean-up: more than can come in between two
	deliveryFields = `id, delivery_id, received_at, remote, headers, size, body_hash, verdict, status, answer_by, duration_ms, manifest_id`
)

// errTaken ends the transaction of a delivery whose id belongs to an earlier one.
var errTaken = errors.New("the delivery's id is taken")

// Deliver is Submit for a delivery of the webhook: manifest, run and delivery become durable together, with the answer that is made of the
// receipt. If the delivery's id was taken before, nothing is stored and the first delivery under it is returned; of two at the same time
// the second waits until the first is durable, also in another process.
func (d *DB) Deliver(ctx context.Context, a core.Arrival, dl core.Delivery, answer func(core.Receipt) []byte) (r core.Receipt, id int64, first *core.Delivery, err error) {
	raw, err := pack(a.Raw)
	if err != nil {
		return r, 0, nil, wrap(err, "Deliver")
	}
	err = d.transact(ctx, func(tx *sqlx.Tx) error {
		r = core.Receipt{}
		if err := d.submit(ctx, tx, a, raw, &r); err != nil {
			return err
		}
		dl.ManifestID = r.ManifestID
		if dl.Status != 0 {
			dl.Answer = answer(r)
		}
		id, err = insertDelivery(ctx, tx, dl)
		return err
	})
	if errors.Is(err, errTaken) {
		f, err := d.firstDelivery(ctx, dl.DeliveryID)
		return core.Receipt{}, 0, &f, wrap(err, "Deliver")
	}
	return r, id, nil, wrap(err, "Deliver")
}

// KeepDelivery stores a delivery that was not accepted.
func (d *DB) KeepDelivery(ctx context.Context, dl core.Delivery) error {
	err := d.transact(ctx, func(tx *sqlx.Tx) error {
		_, err := insertDelivery(ctx, tx, dl)
		return err
	})
	return wrap(err, "KeepDelivery")
}

func insertDelivery(ctx context.Context, tx *sqlx.Tx, dl core.Delivery) (int64, error) {
	headers := map[string]string{}
	for k, v := range dl.Headers {
		headers[text(k)] = text(v) // json knows no NUL either
	}
	h, err := json.Marshal(headers)
	if err != nil {
		return 0, err
	}
	var id int64
	err = tx.GetContext(ctx, &id, `
		INSERT INTO deliveries (delivery_id, received_at, remote, headers, size, body_hash, verdict, status, answer, answer_by, duration_ms, manifest_id)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, nullif($12, 0))
		ON CONFLICT (delivery_id) WHERE verdict = 'accepted' AND delivery_id <> '' DO NOTHING RETURNING id`,
		text(dl.DeliveryID), dl.ReceivedAt.UTC(), text(dl.Remote), string(h), dl.Size, dl.BodyHash, dl.Verdict, dl.Status, dl.Answer,
		nullTime(dl.AnswerBy), dl.Duration.Milliseconds(), dl.ManifestID)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, errTaken
	}
	if err == nil && id%pruneEvery == 0 {
		err = pruneDeliveries(ctx, tx)
	}
	return id, err
}

// pruneDeliveries forgets what is older than 30 days, and of what was not accepted all but the newest. Old is what is so by every reading of
// the clock since the last clean-up: one that is wrong for a while forgets nothing.
func pruneDeliveries(ctx context.Context, tx *sqlx.Tx) error {
	for _, old := range []string{
		fmt.Sprintf(`SELECT id FROM deliveries WHERE received_at < (
			SELECT min(received_at) FROM (SELECT received_at FROM deliveries ORDER BY id DESC LIMIT %d) AS latest) - interval '%d days'
			ORDER BY received_at`, pruneEvery, deliveryDays),
		fmt.Sprintf(`SELECT id FROM deliveries WHERE verdict <> 'accepted' AND id <= (
			SELECT id FROM deliveries WHERE verdict <> 'accepted' ORDER BY id DESC OFFSET %d LIMIT 1)`, otherKept),
	} {
		// Rows that another process is deleting are left to it.
		q := fmt.Sprintf("DELETE FROM deliveries WHERE id IN (%s LIMIT %d FOR UPDATE SKIP LOCKED)", old, pruneAtOnce)
		if _, err := tx.ExecContext(ctx, q); err != nil {
			return err
		}
	}
	return nil
}

// FinishDelivery keeps the answer of an accepted delivery whose sender waited. Only the first answer is kept.
func (d *DB) FinishDelivery(ctx context.Context, id int64, status int, answer []byte, took time.Duration) error {
	_, err := d.x.ExecContext(ctx, "UPDATE deliveries SET status = $2, answer = $3, duration_ms = $4 WHERE id = $1 AND status = 0",
		id, status, answer, took.Milliseconds())
	return wrap(err, "FinishDelivery")
}

// Delivery gives one delivery with its answer, or core.ErrNotFound.
func (d *DB) Delivery(ctx context.Context, id int64) (core.Delivery, error) {
	return d.oneDelivery(ctx, "Delivery", "WHERE id = $1", id)
}

func (d *DB) firstDelivery(ctx context.Context, deliveryID string) (core.Delivery, error) {
	return d.oneDelivery(ctx, "firstDelivery", "WHERE delivery_id = $1 AND verdict = 'accepted'", text(deliveryID))
}

func (d *DB) oneDelivery(ctx context.Context, method, where string, arg any) (core.Delivery, error) {
	var row deliveryRow
	if err := d.x.GetContext(ctx, &row, "SELECT "+deliveryFields+", answer FROM deliveries "+where, arg); err != nil {
		return core.Delivery{}, wrap(err, method)
	}
	dl, err := row.delivery()
	return dl, wrap(err, method)
}

// ListDeliveries lists deliveries without their answers, newest first, and where the next page begins (empty: there is none). limit is
// 1 … 200.
func (d *DB) ListDeliveries(ctx context.Context, after string, limit int) ([]core.Delivery, string, error) {
	before := int64(1<<63 - 1)
	if after != "" {
		n, err := strconv.ParseInt(after, 10, 64)
		if err != nil {
			return nil, "", fmt.Errorf("%w: the page mark %q is not one of ours", core.ErrInvalid, after)
		}
		before = n
	}
	limit = min(max(limit, 1), 200)
	var rows []deliveryRow
	err := d.x.SelectContext(ctx, &rows, "SELECT "+deliveryFields+" FROM deliveries WHERE id < $1 ORDER BY id DESC LIMIT $2", before, limit+1)
	if err != nil {
		return nil, "", wrap(err, "ListDeliveries")
	}
	next := ""
	if len(rows) > limit {
		rows = rows[:limit]
		next = strconv.FormatInt(rows[limit-1].ID, 10)
	}
	out := make([]core.Delivery, 0, len(rows))
	for _, row := range rows {
		dl, err := row.delivery()
		if err != nil {
			return nil, "", wrap(err, "ListDeliveries")
		}
		out = append(out, dl)
	}
	return out, next, nil
}

type deliveryRow struct {
	ID         int64         `db:"id"`
	DeliveryID string        `db:"delivery_id"`
	ReceivedAt time.Time     `db:"received_at"`
	Remote     string        `db:"remote"`
	Headers    []byte        `db:"headers"`
	Size       int64         `db:"size"`
	BodyHash   []byte        `db:"body_hash"`
	Verdict    string        `db:"verdict"`
	Status     int           `db:"status"`
	Answer     []byte        `db:"answer"`
	AnswerBy   sql.NullTime  `db:"answer_by"`
	DurationMS int64         `db:"duration_ms"`
	ManifestID sql.NullInt64 `db:"manifest_id"`
}

func (r deliveryRow) delivery() (core.Delivery, error) {
	dl := core.Delivery{
		ID: r.ID, DeliveryID: r.DeliveryID, ReceivedAt: r.ReceivedAt.UTC(), Remote: r.Remote, Size: r.Size, BodyHash: r.BodyHash,
		Verdict: core.DeliveryVerdict(r.Verdict), Status: r.Status, Answer: r.Answer, AnswerBy: utc(r.AnswerBy),
		Duration: time.Duration(r.DurationMS) * time.Millisecond, ManifestID: r.ManifestID.Int64,
	}
	if err := json.Unmarshal(r.Headers, &dl.Headers); err != nil {
		return dl, fmt.Errorf("headers of delivery %d: %w", r.ID, err)
	}
	return dl, nil
}
