package handlers

import (
	"context"
	"sync"
)

// memorySessions is a SessionStore for these tests; the real one is tested against Postgres in db.
type memorySessions struct {
	mu    sync.Mutex
	data  map[string][]byte
	fault error // of whatever writes
}

func newMemorySessions() *memorySessions { return &memorySessions{data: map[string][]byte{}} }

func (m *memorySessions) Find(_ context.Context, token string) ([]byte, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	data, ok := m.data[token]
	return data, ok, nil
}

func (m *memorySessions) Add(_ context.Context, token string, data []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fault == nil {
		m.data[token] = data
	}
	return m.fault
}

func (m *memorySessions) Update(_ context.Context, token string, data []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.data[token]; ok && m.fault == nil {
		m.data[token] = data
	}
	return m.fault
}

func (m *memorySessions) End(_ context.Context, token string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fault == nil {
		delete(m.data, token)
	}
	return m.fault
}

func (m *memorySessions) EndAll(_ context.Context, ended func([]byte) bool) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fault != nil {
		return 0, m.fault
	}
	n := 0
	for token, data := range m.data {
		if ended(data) {
			delete(m.data, token)
			n++
		}
	}
	return n, nil
}

func (m *memorySessions) failWith(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fault = err
}
