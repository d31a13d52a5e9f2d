package judge

import "unicode/utf8"

// Head names, for people, what a prompt holds of a statement that is longer than it may be.
const Head = "only the first 8,000 characters and each Counter:"

// Cut tells whether a text is longer than a prompt holds, so that no verdict speaks of the whole of it.
func Cut(t Text) bool { return longer(t, textRunes) }

func longer(t Text, limit int) bool {
	return len(t.Statement) > limit && utf8.RuneCountInString(t.Statement) > limit
}
