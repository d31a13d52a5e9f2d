package embedded

import (
	"errors"
	"fmt"
	"strings"
)

// What can be in the way of a start. Each comes wrapped with what was found and with the ways out.
var (
	ErrNoNode     = errors.New("embedded postgres: Node.js not found")
	ErrNodeTooOld = errors.New("embedded postgres: Node.js is too old")
	ErrInstall    = errors.New("embedded postgres: npm packages could not be installed")
	ErrLocked     = errors.New("embedded postgres: the data folder is in use")
	ErrStart      = errors.New("embedded postgres: the database did not start")
)

// The ways out.
const (
	waysOut   = "install Node.js 20 or newer (with npm), or " + useNative
	waysOn    = "give it another data folder, or " + useNative
	useNative = "set DATABASE_URL to a PostgreSQL 15 or newer with pgvector"
)

// failure words an error: what, the detail, and what to do about it.
func failure(what error, todo, format string, args ...any) error {
	return fmt.Errorf("%w: %w; %s", what, fmt.Errorf(format, args...), todo)
}

// tail keeps the end of a text, for errors.
type tail struct{ b []byte }

const tailSize = 4 << 10 // bytes

func (t *tail) Write(p []byte) (int, error) {
	t.b = append(t.b, p...)
	if over := len(t.b) - tailSize; over > 0 {
		t.b = append(t.b[:0], t.b[over:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	return strings.ToValidUTF8(strings.TrimSpace(string(t.b)), "\uFFFD")
}
