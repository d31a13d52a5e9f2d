package core

import "time"

// MarkerState is what can be seen of a co-sign marker (contract C2).
type MarkerState string

// The states of a marker. Fresh: younger than 300 s. Unseen: the home folder cannot be seen from here.
const (
	MarkerFresh  MarkerState = "fresh"
	MarkerStale  MarkerState = "stale"
	MarkerAbsent MarkerState = "absent"
	MarkerUnseen MarkerState = "not visible from here"
)

// Marker is one cosigner's marker as last seen. Storozh never writes, refreshes or deletes one.
type Marker struct {
	Cosigner Cosigner
	State    MarkerState
	Age      time.Duration // since it was written; 0 unless fresh or stale
}

// CosignCommand is the command with which a cosigner writes their own marker, as the gate's help gives it (C2).
func CosignCommand(c Cosigner) string {
	if c == Owner {
		return `! printf 'cosign: owner\n' > ~/.claude-cosign-owner`
	}
	return `printf 'cosign: claude\n' > ~/.claude-cosign-claude`
}
