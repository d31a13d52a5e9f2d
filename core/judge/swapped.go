package judge

import (
	_ "embed" // the template
	"text/template"
)

//go:embed swapped.tmpl
var swappedText string

var swappedTmpl = template.Must(template.New("swapped").Parse(swappedText))

// SwappedVersion names the wording of [Swapped]. A verdict that stood both orders is kept under PromptVersion, so that has to change with either.
const SwappedVersion = PromptVersion + "-swapped"

// Swapped is the prompt of [Build] with the unit shown before the item. The roles keep their names, the code and all that is fixed
// stay the same to the byte, so a judge that understands the pair gives the same label; one that goes by the order does not.
func Swapped(secret []byte, item, unit Text) Prompt {
	return swapped(Build(secret, item, unit), secret, item, unit, textRunes)
}

// SwappedShorter is the prompt of [Shorter] in the order of [Swapped].
func SwappedShorter(secret []byte, item, unit Text) Prompt {
	return swapped(Shorter(secret, item, unit), secret, item, unit, shortRunes)
}

func swapped(p Prompt, secret []byte, item, unit Text, limit int) Prompt {
	p.User = render(swappedTmpl, pair{Code: code(secret, item, unit), Item: quote(item, limit), Unit: quote(unit, limit)}) + cue
	return p
}
