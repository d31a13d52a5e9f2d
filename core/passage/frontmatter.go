package passage

import (
	"strings"
	"unicode"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// maxFrontMatter is the size in bytes above which a leading block is taken for text.
const maxFrontMatter = 64 << 10

// FrontMatter cuts the leading YAML block off a Markdown text. fields holds its top-level scalars, keys in lower case; bodyLine is
// the 1-based line at which body begins. A block that is not closed, too big, or no mapping is no front matter: then there are no fields
// and everything is body. People write `summary: Reception: a note`, which is no YAML; such a block is read line by line. body is cleaned as [Split] does it.
func FrontMatter(text string) (fields map[string]string, bodyLine int, body string) {
	return frontMatter(clean(text))
}

func frontMatter(text string) (map[string]string, int, string) {
	block, lines, body, ok := cutFrontMatter(text)
	if !ok {
		return nil, 1, text
	}
	fields, ok := scalars(block)
	if !ok {
		return nil, 1, text
	}
	return fields, lines + 1, body
}

// cutFrontMatter finds the block between two marker lines; lines counts the block's lines with both markers.
func cutFrontMatter(text string) (block string, lines int, body string, ok bool) {
	first, rest, found := strings.Cut(text, "\n")
	if !found || strings.TrimRight(first, " \t") != "---" {
		return "", 0, "", false
	}
	at := 0
	for line := range strings.Lines(rest) {
		lines++
		mark := strings.TrimRight(line, " \t\n")
		if mark == "---" || mark == "..." {
			return rest[:at], lines + 1, rest[at+len(line):], true
		}
		if at += len(line); at > maxFrontMatter {
			break
		}
	}
	return "", 0, "", false
}

// scalars reads the top-level scalars off the syntax tree. Decoding would also expand aliases, which hostile YAML can make
// exponential. The parser is shielded because it reads untrusted text.
func scalars(block string) (fields map[string]string, ok bool) {
	defer func() {
		if recover() != nil {
			fields, ok = nil, false
		}
	}()
	fields = make(map[string]string)
	if strings.TrimSpace(block) == "" {
		return fields, true
	}
	file, err := parser.ParseBytes([]byte(block), 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return plainFields(block)
	}
	if len(file.Docs) != 1 {
		return nil, false
	}
	switch body := file.Docs[0].Body.(type) {
	case nil, *ast.CommentGroupNode, *ast.NullNode:
	case *ast.MappingNode:
		for _, v := range body.Values {
			addScalar(fields, v)
		}
	case *ast.MappingValueNode:
		addScalar(fields, body)
	default:
		return nil, false
	}
	return fields, true
}

func addScalar(fields map[string]string, v *ast.MappingValueNode) {
	key := strings.ToLower(strings.TrimSpace(v.Key.GetToken().Value))
	switch n := v.Value.(type) {
	case *ast.StringNode:
		fields[key] = n.Value
	case *ast.LiteralNode:
		fields[key] = strings.TrimSpace(n.Value.Value)
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		fields[key] = n.GetToken().Value
	}
}

// plainFields reads a block that is no YAML but looks as people write front matter: `key: value` on each line that is not indented and no item
// of a list. Anything else between the markers is text.
func plainFields(block string) (map[string]string, bool) {
	fields := make(map[string]string)
	for line := range strings.Lines(block) {
		line = strings.TrimRight(line, " \t\n")
		if line == "" || strings.IndexByte(" \t#-", line[0]) >= 0 {
			continue
		}
		key, value, ok := strings.Cut(line, ":")
		if !ok || !isKey(key) || value != "" && value[0] != ' ' && value[0] != '\t' {
			return nil, false
		}
		fields[strings.ToLower(key)] = plainValue(value)
	}
	return fields, len(fields) > 0
}

func isKey(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool { return r != '-' && r != '_' && !unicode.IsLetter(r) && !unicode.IsNumber(r) }) < 0
}

// plainValue strips white space, a remark and the quotes around a value.
func plainValue(s string) string {
	s = strings.TrimSpace(s)
	if s != "" && (s[0] == '"' || s[0] == '\'') {
		if end := strings.LastIndexByte(s, s[0]); end > 0 {
			return s[1:end]
		}
	}
	s, _, _ = strings.Cut(s, " #")
	return strings.TrimSpace(s)
}
