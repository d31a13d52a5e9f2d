package manifest

import (
	"bytes"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// unquote decodes a validated JSON string, quotes included, as encoding/json does: lone surrogates and each byte of invalid
// UTF-8 become U+FFFD; NUL stays. It allocates no more than the string's raw size.
func unquote(quoted []byte) string {
	in := quoted[1 : len(quoted)-1]
	i := bytes.IndexByte(in, '\\')
	if i < 0 && utf8.Valid(in) {
		return string(in)
	}
	var out strings.Builder
	out.Grow(len(in))
	for i >= 0 {
		appendUTF8(&out, in[:i])
		in = in[i:]
		in = in[appendEscape(&out, in):]
		i = bytes.IndexByte(in, '\\')
	}
	appendUTF8(&out, in)
	return out.String()
}

// appendUTF8 appends bytes that hold no escape.
func appendUTF8(out *strings.Builder, run []byte) {
	if utf8.Valid(run) {
		out.Write(run)
		return
	}
	for len(run) > 0 {
		r, size := utf8.DecodeRune(run)
		out.WriteRune(r)
		run = run[size:]
	}
}

// appendEscape appends what the escape at the beginning of in stands for and returns the escape's length.
func appendEscape(out *strings.Builder, in []byte) int {
	switch c := in[1]; c {
	case 'b':
		out.WriteByte('\b')
	case 'f':
		out.WriteByte('\f')
	case 'n':
		out.WriteByte('\n')
	case 'r':
		out.WriteByte('\r')
	case 't':
		out.WriteByte('\t')
	case 'u':
		return appendUnicode(out, in)
	default: // quote, backslash, slash
		out.WriteByte(c)
	}
	return 2
}

// appendUnicode appends a \u escape, or two that form a surrogate pair.
func appendUnicode(out *strings.Builder, in []byte) int {
	r := hex4(in[2:])
	if !utf16.IsSurrogate(r) {
		out.WriteRune(r)
		return 6
	}
	if len(in) >= 12 && in[6] == '\\' && in[7] == 'u' {
		if pair := utf16.DecodeRune(r, hex4(in[8:])); pair != utf8.RuneError {
			out.WriteRune(pair)
			return 12
		}
	}
	out.WriteRune(utf8.RuneError)
	return 6
}

// hex4 reads four hexadecimal digits that the scanner has checked.
func hex4(in []byte) rune {
	var r rune
	for _, c := range in[:4] {
		switch {
		case c <= '9':
			r = r<<4 + rune(c-'0')
		default:
			r = r<<4 + rune(c|0x20-'a'+10)
		}
	}
	return r
}
