package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

	"storozh/core"
)

// fault is the place where text stops being JSON.
type fault struct {
	at       int // byte offset
	expected string
}

func (f *fault) Error() string { return fmt.Sprintf("byte %d: expected %s", f.at, f.expected) }

// expected is the fault at the scanner's position.
func (s *scanner) expected(what string) error { return &fault{at: s.pos, expected: what} }

// explain turns a fault into an error for people: line, column and what stands there. It wraps core.ErrInvalid.
func explain(raw []byte, err error) error {
	var f *fault
	if !errors.As(err, &f) {
		return err
	}
	at := min(f.at, len(raw))
	before := raw[:at]
	line := bytes.Count(before, []byte{'\n'}) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Errorf("%w: the manifest is not one JSON object: line %d, column %d (byte %d): expected %s, found %s",
		core.ErrInvalid, line, column, at, f.expected, found(raw[at:]))
}

// found names what stands at the beginning of rest.
func found(rest []byte) string {
	if len(rest) == 0 {
		return "the end of the text"
	}
	r, size := utf8.DecodeRune(rest)
	if r == utf8.RuneError && size == 1 {
		return fmt.Sprintf("the byte 0x%02x", rest[0])
	}
	return fmt.Sprintf("%q", r)
}
