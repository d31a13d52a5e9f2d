package core

import "time"

// System is what the status page shows about the process and the parts around it.
type System struct {
	Version      string
	Database     string // "embedded Postgres" or "Postgres", with its version; never a URL with a password
	Demo         bool   // the demo model answers
	LLM          LLMState
	Corpus       CorpusState
	CorpusDir    string
	CorpusReadAt time.Time // zero: never
	PolicySource string    // a path with commit, or "built-in copy" with why
	ManifestPath string    // the watched file; empty: none
	Watching     bool      // the watched file exists and is readable
	Queued       int       // runs waiting
}

// LLMState is the local model as last seen.
type LLMState struct {
	URL        string // without credentials
	Reachable  bool
	EmbedModel string
	JudgeModel string
	Detail     string // why it is unreachable, or a warning about the choice of models
}
