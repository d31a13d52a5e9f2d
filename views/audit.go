package views

import "storozh/core"

// AuditLine is one entry of the audit as the reader may see it.
type AuditLine struct {
	core.AuditEntry
	Name string // of who did it, for people
}

// NewAudit words the audit for a reader. What the other cosigner decided stays with them: both decide alone, and the flag's own page
// opens it when it may be seen.
func NewAudit(reader core.Cosigner, trail []core.AuditEntry) []AuditLine {
	out := make([]AuditLine, 0, len(trail))
	for _, e := range trail {
		if e.What == core.AuditDecision && e.Who != string(reader) {
			e.Detail = ""
		}
		line := AuditLine{AuditEntry: e, Name: e.Who}
		if e.Who == "" {
			line.Name = "a stranger"
		}
		out = append(out, line)
	}
	return out
}
