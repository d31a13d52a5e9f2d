package judge

import (
	"fmt"
	"strings"

	"storozh/core"
)

// ReadCutOff reads an answer that ended at its token limit. What would have followed is unknown, and so is whether its beginning was
// thinking whose end did not come. So only the form that is asked for counts, and only where the answer begins with it, whole: what a
// model rambles after that is no part of it. All of [Read]'s conditions hold, too.
func ReadCutOff(answer string) (core.Verdict, error) {
	v, err := Read(answer)
	if err != nil {
		return v, err
	}
	rest, _ := withoutThinking(withoutTagsInObjects(strings.ToValidUTF8(answer, "\uFFFD")))
	rest = strings.TrimSpace(rest)
	rest = strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(rest, "```"), "json"))
	if strings.HasPrefix(rest, "{") {
		if all, _, ok := object(rest); ok && len(all) > 0 {
			return v, nil
		}
	}
	return core.Verdict{}, fmt.Errorf("judge: %w: it was cut off", ErrUnreadable)
}
