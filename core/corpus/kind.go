package corpus

import (
	"path"
	"strings"

	"storozh/core"
	"storozh/core/passage"
)

// KindOf tells which kind of items a file of the shield repo holds, by its path; ok is false if it is no part of the corpus.
func KindOf(file string) (kind core.Kind, ok bool) {
	top, rest, nested := strings.Cut(file, "/")
	ext := strings.ToLower(path.Ext(file))
	switch {
	case nested && top == "claims" && rest != "":
		return core.KindClaim, ext == ".ttl"
	case nested && top == "invariants", file == "invariants":
		return core.KindInvariant, true
	case !nested && strings.HasPrefix(file, "invariants") && (ext == ".txt" || ext == ".md"):
		return core.KindInvariant, true
	case nested && top == "lessons":
		return core.KindLesson, formatOf(core.KindLesson, file) != passage.Code
	case nested && top == "memory":
		return core.KindMemory, formatOf(core.KindMemory, file) != passage.Code
	}
	return "", false
}

// formatOf picks the format that the same file would have as a unit.
func formatOf(kind core.Kind, file string) passage.Format {
	if kind == core.KindLesson || kind == core.KindMemory {
		return passage.FormatOf(file, core.Lesson)
	}
	return passage.FormatOf(file, core.Invariant)
}
