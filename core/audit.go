package core

import "time"

// AuditKind is what was done.
type AuditKind string

// What the audit keeps.
const (
	AuditSignIn       AuditKind = "sign-in"
	AuditSignInFailed AuditKind = "sign-in failed"
	AuditSignOut      AuditKind = "sign-out"
	AuditDecision     AuditKind = "decision"
	AuditReveal       AuditKind = "reveal"
	AuditRun          AuditKind = "run again"
	AuditCancel       AuditKind = "cancel"
	AuditWriteBack    AuditKind = "write-back"
	AuditConfig       AuditKind = "configuration"
)

// AuditEntry is one thing that was done. It holds no secret and no text of a manifest.
type AuditEntry struct {
	At     time.Time // UTC; set by the database
	Who    string    // a cosigner, "storozh" for what the process did itself, or empty for a stranger
	What   AuditKind
	Detail string // one line, for people
}

// AuditProcess is the Who of what the process did itself.
const AuditProcess = "storozh"
