package passage

import (
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// maxFrontMatter is the size in bytes above which a leading block is taken for text.
const maxFrontMatter = 64 << 10

// FrontMatter cuts the leading YAML block off a Markdown text. fields holds its top-level scalars, keys in lower case; bodyLine is
// the 1-based line at which body begins. A block that is not closed, too big, not a mapping or not YAML is no front matter: then
// there are no fields and everything is body. body is cleaned as [Split] does it.
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
	if err != nil || len(file.Docs) != 1 {
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
