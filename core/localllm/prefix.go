package localllm

import (
	"regexp"
	"strings"
)

// prefixes are the words that models were trained to see before a text, for a comparison of equals: units and items are both
// statements, so both sides get the same (design §5). The first match counts; most models want none.
var prefixes = []struct {
	name   *regexp.Regexp // against lower case
	prefix string
}{
	{regexp.MustCompile(`nomic-embed-code`), ""},
	{regexp.MustCompile(`nomic`), "clustering: "},
	{regexp.MustCompile(`(^|[^a-z0-9])e5([^a-z0-9]).*instruct`), "Instruct: Retrieve semantically similar text\nQuery: "},
	{regexp.MustCompile(`(^|[^a-z0-9])e5([^a-z0-9]|$)`), "query: "},
	{regexp.MustCompile(`embedding-?gemma`), "task: sentence similarity | query: "},
}

// Prefix is what stands before every text that is embedded with model; "" for most models. It is part of an embedding's cache key.
func Prefix(model string) string {
	low := strings.ToLower(model)
	for _, p := range prefixes {
		if p.name.MatchString(low) {
			return p.prefix
		}
	}
	return ""
}

// EmbedText is what is embedded of a unit or an item: its title and its statement, behind the model's prefix. A title that the
// statement already begins with is not said twice.
func EmbedText(model, title, statement string) string {
	title, statement = strings.TrimSpace(title), strings.TrimSpace(statement)
	switch {
	case statement == "":
		statement = title
	case title != "" && !strings.HasPrefix(strings.TrimLeft(statement, "#*- "), title):
		statement = title + "\n" + statement
	}
	return Prefix(model) + statement
}
