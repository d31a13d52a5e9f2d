package handlers

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"storozh/core"
)

// readWire reads a body as it comes, at most manifestLimit bytes. Room for the announced length is made only for a sender who is known.
func readWire(c echo.Context, known bool) ([]byte, error) {
	r := c.Request()
	if r.ContentLength > manifestLimit {
		c.Response().Header().Set(echo.HeaderConnection, "close") // the rest is not read
		return nil, tooLarge()
	}
	size := r.ContentLength
	if !known {
		size = 0
	}
	wire, err := readAll(http.MaxBytesReader(c.Response(), r.Body, manifestLimit), size)
	if err != nil {
		return nil, bodyFault(err)
	}
	return wire, nil
}

// decodeBody undoes the body's encoding. The size counts on the wire and decoded, so that neither a chunked body nor a small archive
// of a huge text gets past; it is judged before the encoding (design §7).
func decodeBody(c echo.Context, wire []byte) ([]byte, error) {
	switch encoding := strings.ToLower(strings.TrimSpace(strings.Join(c.Request().Header.Values(echo.HeaderContentEncoding), ","))); encoding {
	case "", "identity":
		return wire, nil
	case "gzip", "x-gzip":
		return gunzip(wire)
	default:
		c.Response().Header().Set(echo.HeaderAcceptEncoding, "gzip, identity")
		return nil, echo.NewHTTPError(http.StatusUnsupportedMediaType, "send the manifest as it is or with Content-Encoding: gzip")
	}
}

// readAll reads to the end; size, if known, saves growing the buffer.
func readAll(r io.Reader, size int64) ([]byte, error) {
	var b bytes.Buffer
	if size > 0 {
		b.Grow(int(min(size, manifestLimit)) + bytes.MinRead)
	}
	_, err := b.ReadFrom(r)
	return b.Bytes(), err
}

// gunzip decodes at most manifestLimit bytes; the reader is stopped one byte later, whatever the archive promises.
func gunzip(wire []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(wire))
	if err != nil {
		return nil, badGzip(err)
	}
	raw, err := readAll(io.LimitReader(z, manifestLimit+1), 0)
	if len(raw) > manifestLimit {
		return nil, tooLarge()
	}
	if err != nil {
		return nil, badGzip(err)
	}
	return raw, nil
}

var errBadGzip = fmt.Errorf("%w: the body is not the gzip its header promises", core.ErrInvalid)

func badGzip(err error) error { return fmt.Errorf("%w: %s", errBadGzip, err) }

func tooLarge() error {
	return echo.NewHTTPError(http.StatusRequestEntityTooLarge, fmt.Sprintf("a manifest may have %d MiB, decoded", manifestLimit>>20))
}

// bodyFault tells a body over the limit from one that broke off.
func bodyFault(err error) error {
	var tooBig *http.MaxBytesError
	if errors.As(err, &tooBig) {
		return tooLarge()
	}
	return fmt.Errorf("%w: the body broke off: %s", core.ErrInvalid, err)
}
