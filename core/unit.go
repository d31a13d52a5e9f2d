package core

// The canonical repo names of C3 and C4.
const (
	Shield      = "shield"
	NeuroMatrix = "neuro-matrix"
	Mirabilis   = "mirabilis"
	Darwin      = "darwin"
)

// UnitType is a word of the routing policy (C3). Empty means unclassified.
type UnitType string

// The unit types of C3.
const (
	Lesson           UnitType = "lesson"
	Invariant        UnitType = "invariant"
	Skill            UnitType = "skill"
	Agent            UnitType = "agent"
	Hook             UnitType = "hook"
	SandboxMechanism UnitType = "sandbox-mechanism"
	State            UnitType = "state"
	Genome           UnitType = "genome"
	Meta             UnitType = "meta"
)

// Action says what the changeset does to a unit.
type Action string

// The actions. Edited means that text of the same passage stood there before.
const (
	Added     Action = "added"
	Edited    Action = "edited"
	Removed   Action = "removed"
	Renamed   Action = "renamed" // moved without a change of text
	Copied    Action = "copied"
	ModeOnly  Action = "mode"
	Binary    Action = "binary"
	Submodule Action = "submodule"
	Symlink   Action = "symlink"
	Unmerged  Action = "unmerged"
)

// Unit is one changed protocol artifact, or one passage of it.
type Unit struct {
	ID       string   // `<canonical repo>/<path>[#anchor]`, unique within a manifest
	Observed string   // repos[].name as it stands
	Repo     string   // canonical name of Observed; an unknown repo's own name
	Path     string   // inside the repo, slashes, new path for a rename, old path for a deletion
	OldPath  string   // the path before a rename or copy, else empty
	Anchor   string   // see C4; empty for a whole file
	Type     UnitType // never empty: unclassified files are listed, they are no units
	Home     string   // canonical repo demanded by a path rule's `home`, else empty (C3 decides)
	Action   Action
	Title    string // heading, front-matter summary or claim subject; may be empty
	Text     string // the passage as written, for people to read; old text for a removal; may be empty
	// Normative is what a reader is bound by, and so what is embedded and judged. Empty: nothing to judge (code, removal,
	// pure rename, binary).
	Normative string
	Replaces  []string // ids of the passages of the old text that this unit edits or moves from
	StartLine int      // 1-based first line in the new text (old text for a removal); 0 if unknown
	EndLine   int      // inclusive
	Diff      string   // the section's hunks that touch the unit, as evidence; capped
}

// Span is a stretch of the old text that a manifest removes or rewrites: items in it are never compared.
type Span struct {
	Repo   string // canonical
	Path   string // old path
	Anchor string // that passage; empty: by lines
	Start  int    // 1-based first line; 0 with an empty Anchor: the whole file
	End    int    // inclusive
}

// Derivation is what the units of one manifest are: the result of core/units.
type Derivation struct {
	Units        []Unit
	Replaced     []Span   // everything this manifest removes or rewrites
	NotInDiff    []string // `<canonical repo>/<path>` in `files` but not in the diff, sorted
	AddCommands  []string // the commands that bring NotInDiff in, one per repo
	Unclassified []string // `<canonical repo>/<path>`, sorted
	Warnings     []string
}
