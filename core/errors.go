package core

import "errors"

// Sentinel errors that cross package borders. Handlers map them to status codes; storage returns them instead of driver errors.
var (
	ErrNotFound = errors.New("not found")
	ErrConflict = errors.New("conflict")
	ErrInvalid  = errors.New("invalid input")
	ErrCanceled = errors.New("cancelled")

	// ErrUnavailable: a part that is not ours, such as the local model, cannot be had now; the text says which and why.
	ErrUnavailable = errors.New("unavailable")
)
