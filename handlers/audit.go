package handlers

import (
	"context"
	"net"

	"github.com/labstack/echo/v4"

	"storozh/core"
)

// auditLimit is how many entries the status page shows.
const auditLimit = 50

// audit keeps that the signed-in cosigner did something. detail is one line without secrets and without text of a manifest. What was
// done stays done when it cannot be kept; the log says so.
func (s *server) audit(c echo.Context, what core.AuditKind, detail string) {
	s.auditAs(c, string(s.signedIn(c)), what, detail)
}

// auditAs is audit for those who are not, or no longer, signed in.
func (s *server) auditAs(c echo.Context, who string, what core.AuditKind, detail string) {
	if s.Audit == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request().Context()), keepTime)
	defer cancel()
	s.Audit(ctx, core.AuditEntry{Who: who, What: what, Detail: detail})
}

// from names the peer of a sign-in; behind a proxy that is the proxy.
func from(c echo.Context) string {
	host, _, err := net.SplitHostPort(c.Request().RemoteAddr)
	if err != nil {
		return ""
	}
	return ", from " + host
}

// auditTrail is what the status page shows.
func (s *server) auditTrail(ctx context.Context) ([]core.AuditEntry, error) {
	if s.AuditTrail == nil {
		return nil, nil
	}
	return s.AuditTrail(ctx, auditLimit)
}
