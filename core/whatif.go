package core

import "time"

// Similarities are compared with a floor in whole percent, rounded down: 0.739 is 73, and a floor of 0.74 would have cut it off.

// WhatIfData is what a floor under the similarity could have cut off, for one embedding model: each (session, unit, content) once, as the
// latest finished run found it, without the demo model and the sample.
type WhatIfData struct {
	Model  string
	Models []string // all that anything was counted under, by name
	Pairs  []PairsAt
	Flags  []FlagsAt
}

// PairsAt counts the pairs that a judge was asked about, at one similarity.
type PairsAt struct {
	Percent int
	Pairs   int
}

// FlagsAt counts contra and dup flags by the similarity of the nearest item they are held against and by what both cosigners decided.
type FlagsAt struct {
	Percent       int
	Label         Label
	Owner, Claude Choice // empty until both have decided
	Flags         int
}

// WhatIfFlag is one flag with the similarity of the nearest item it is held against.
type WhatIfFlag struct {
	ManifestID    int64
	UnitID        string
	Label         Label
	Percent       int
	At            time.Time // the manifest's own time, UTC
	Owner, Claude Choice    // empty until both have decided
}

// WhatIfRow is what a floor would have done.
type WhatIfRow struct {
	Percent     int // the floor
	Contra, Dup int // flags that would have lost every item they are held against
	Choices     ChoiceCounts
	Undecided   int // of those flags, not decided by both
	Pairs       int // pairs that would not have been asked about
}

// ChoiceCounts counts decisions in the order of Choices, two per flag that both have decided.
type ChoiceCounts [4]int
