package db

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/lib/pq"
)

// lost tells whether an error means that the database is not there: it does not answer, is starting or shutting down, takes no more
// connections, or has cut this one off.
func lost(err error) bool {
	var pe *pq.Error
	if errors.As(err, &pe) {
		// 08: connection exception; 57P: operator intervention, but for a cancelled statement (57014); 53300: too many connections.
		return pe.Code.Class() == "08" || strings.HasPrefix(string(pe.Code), "57P") || pe.Code == "53300"
	}
	var op *net.OpError
	return errors.As(err, &op) || errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}
