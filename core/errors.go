package core

import (
	"errors"
	"strings"
)

// Sentinel errors that cross package borders. Handlers map them to status codes; storage returns them instead of driver errors.
var (
	ErrNotFound = errors.New("not found")
	ErrConflict = errors.New("conflict")
	ErrInvalid  = errors.New("invalid input")
	ErrCanceled = errors.New("cancelled")

	// ErrUnavailable: a part that is not ours, such as the local model, cannot be had now; the text says which and why.
	ErrUnavailable = errors.New("unavailable")

	// ErrNoDatabase: the database does not answer or has cut the connection off. Nothing is known to be wrong with what was asked: it may
	// be asked again later. What was being committed at that moment may be stored or not.
	ErrNoDatabase = errors.New("the database does not answer")
)

// Detail is the text of an error for whoever asked, without the sentinel's own words before it: the status says them.
func Detail(err error) string {
	text := err.Error()
	for _, sentinel := range []error{ErrInvalid, ErrConflict} {
		if rest, ok := strings.CutPrefix(text, sentinel.Error()+": "); ok && errors.Is(err, sentinel) {
			return rest
		}
	}
	return text
}
