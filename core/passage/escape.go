package passage

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

func digit(c byte) bool  { return c >= '0' && c <= '9' }
func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isHex(s string) bool {
	_, err := strconv.ParseUint(s, 16, 32)
	return err == nil && s[0] != '+'
}

func isRange(err error) bool { return errors.Is(err, strconv.ErrRange) }

// exponent tells whether s goes on like `e5` or `E-5`, as in `5.e3`.
func exponent(s string) bool {
	if s[0]|0x20 != 'e' || len(s) < 2 {
		return false
	}
	if (s[1] == '+' || s[1] == '-') && len(s) > 2 {
		return digit(s[2])
	}
	return digit(s[1])
}

// unescape resolves Turtle's escapes: \u and \U everywhere, the short ones in strings only. A NUL or a half surrogate comes back
// as U+FFFD.
func unescape(s string, short bool) (string, error) {
	i := strings.IndexByte(s, '\\')
	if i < 0 {
		return s, nil
	}
	var b strings.Builder
	b.Grow(len(s))
	for ; i >= 0; i = strings.IndexByte(s, '\\') {
		b.WriteString(s[:i])
		s = s[i+1:]
		if s == "" {
			return "", errors.New("a lone backslash")
		}
		c, n := s[0], 0
		switch c {
		case 'u':
			n = 4
		case 'U':
			n = 8
		}
		if n > 0 {
			if len(s) <= n || !isHex(s[1:n+1]) {
				return "", fmt.Errorf(`\%c wants %d hexadecimal digits`, c, n)
			}
			v, _ := strconv.ParseUint(s[1:n+1], 16, 32)
			b.WriteRune(safeRune(v))
			s = s[n+1:]
			continue
		}
		at := strings.IndexByte(`tbnrf"'\`, c)
		if !short || at < 0 {
			return "", fmt.Errorf("`\\%c` is no escape", c)
		}
		b.WriteByte("\t\b\n\r\f\"'\\"[at])
		s = s[1:]
	}
	b.WriteString(s)
	return b.String(), nil
}

func safeRune(v uint64) rune {
	if v == 0 || v > utf8.MaxRune || !utf8.ValidRune(rune(v)) {
		return utf8.RuneError
	}
	return rune(v)
}
