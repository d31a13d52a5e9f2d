package app

import "sync"

// signal wakes everyone who waits for something to change, without saying what: they look for themselves.
type signal struct {
	mu    sync.Mutex
	ch    chan struct{}
	fired chan struct{} // holds one token when it was fired here; for the relay
}

func newSignal() *signal { return &signal{ch: make(chan struct{}), fired: make(chan struct{}, 1)} }

// next gives a channel that is closed at the next change.
func (s *signal) next() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ch
}

// fire wakes for a change that was made by this process.
func (s *signal) fire() {
	s.hear()
	select {
	case s.fired <- struct{}{}:
	default: // others will be told once for both
	}
}

// hear wakes for a change that another process made.
func (s *signal) hear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.ch)
	s.ch = make(chan struct{})
}
