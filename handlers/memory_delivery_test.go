package handlers

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"storozh/core"
)

var _ Deliveries = (*memory)(nil)

func (m *memory) Deliver(ctx context.Context, a core.Arrival, d core.Delivery, answer func(core.Receipt) []byte) (core.Receipt, int64, *core.Delivery, error) {
	m.mu.Lock()
	for _, k := range m.kept {
		if k.DeliveryID == d.DeliveryID && d.DeliveryID != "" && k.Verdict == core.DeliveryAccepted {
			m.mu.Unlock()
			return core.Receipt{}, 0, &k, nil
		}
	}
	err := m.err
	m.mu.Unlock()
	if err != nil {
		return core.Receipt{}, 0, nil, err
	}
	r, err := m.Submit(ctx, a)
	d.ManifestID = r.ManifestID
	if d.Status != 0 {
		d.Answer = answer(r)
	}
	return r, m.keep(d), nil, err
}

func (m *memory) keep(d core.Delivery) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	d.ID = int64(len(m.kept) + 1)
	m.kept = append(m.kept, d)
	return d.ID
}

func (m *memory) KeepDelivery(_ context.Context, d core.Delivery) error {
	m.keep(d)
	return nil
}

func (m *memory) FinishDelivery(_ context.Context, id int64, status int, answer []byte, took time.Duration) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if d := &m.kept[id-1]; d.Status == 0 {
		d.Status, d.Answer, d.Duration = status, answer, took
	}
	return nil
}

func (m *memory) Delivery(_ context.Context, id int64) (core.Delivery, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if id > int64(len(m.kept)) {
		return core.Delivery{}, fmt.Errorf("delivery %d: %w", id, core.ErrNotFound)
	}
	return m.kept[id-1], nil
}

func (m *memory) ListDeliveries(_ context.Context, after string, limit int) ([]core.Delivery, string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []core.Delivery
	for _, d := range slices.Backward(m.kept) {
		if n, err := strconv.ParseInt(after, 10, 64); err == nil && d.ID >= n {
			continue
		}
		if len(out) == limit {
			return out, fmt.Sprint(out[len(out)-1].ID), nil
		}
		out = append(out, d)
	}
	return out, "", nil
}

// last is the record of the latest delivery.
func (m *memory) last() core.Delivery {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.kept) == 0 {
		return core.Delivery{}
	}
	return m.kept[len(m.kept)-1]
}
