package core

import "time"

// Manifest is a changeset manifest (C1) as far as it could be read.
type Manifest struct {
	SessionID  string    // may be empty
	Timestamp  time.Time // UTC; zero if absent or unreadable
	Repos      []Repo    // in the manifest's order; never nil after a parse, but may be empty
	Transcript string    // user prompts and assistant text; may be megabytes
	Warnings   []string  // what could not be read, each naming its place, such as `repos[1].diff: …`
}

// Repo is one member of the manifest's `repos`.
type Repo struct {
	Name  string   // base name of its directory, as it stands; may be an alias such as SolitaryEquilibriumShield
	Dir   string   // absolute path on the machine that wrote the manifest; untrusted, shown but never opened
	Diff  string   // `git diff HEAD`, without a final newline; may be cut off anywhere
	Files []string // from `git status --porcelain`, raw: may be quoted, folders end in `/`
}

// Source says by which way a manifest came in.
type Source string

// The ways in.
const (
	SourceWebhook Source = "webhook"
	SourceFile    Source = "file"
	SourceCheck   Source = "check"
	SourceSample  Source = "sample"
)
