package views

import (
	"context"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/a-h/templ"

	"storozh/core"
)

// Typed is a decision form as it was handed in, untrusted.
type Typed struct {
	Manifest  int64
	Unit      string
	Flag      string
	Decision  string
	Rationale string
	Show      string // the filter that the page was under
	One       bool   // the page showed the unit alone
	Same      bool
	Run       int64
	Seen      int64
	Carried   int64
}

// fields are what a sign-in form carries along besides the rationale, as names and values.
func (t Typed) fields() [][2]string {
	out := [][2]string{
		{"manifest", idText(t.Manifest)}, {"unit", t.Unit}, {"flag", t.Flag}, {"decision", t.Decision}, {"show", t.Show},
		{"run", idText(t.Run)}, {"seen", idText(t.Seen)}, {"carried", idText(t.Carried)},
	}
	if t.One {
		out = append(out, [2]string{"one", "1"})
	}
	if t.Same {
		out = append(out, [2]string{"same", "1"})
	}
	return out
}

// DecisionForm is the page of a decision that was not stored.
type DecisionForm struct {
	Page
	Why   string
	URL   string // the flag on its page
	Typed Typed
	Flag  *FlagView // as it is now; nil: there is no such flag
}

// DecisionInput is what [NewDecisionForm] needs.
type DecisionInput struct {
	Manifest int64
	Why      string
	Typed    Typed
	Flag     *FlagInput // nil: the manifest has no such flag
}

// NewDecisionForm builds the page.
func NewDecisionForm(p Page, in DecisionInput) DecisionForm {
	p.Title = "Your decision was not stored"
	m := DecisionForm{Page: p, Why: sentence(in.Why), URL: manifestURL(in.Manifest), Typed: in.Typed}
	if in.Flag != nil {
		v := newFlag(p, manifestURL(in.Manifest), in.Typed.Show, in.Typed.One, *in.Flag)
		m.Flag = &v
		m.URL = FlagURL(in.Manifest, core.FlagKey{UnitID: in.Typed.Unit, Kind: core.FlagKind(in.Typed.Flag)}, in.Typed.One, in.Typed.Show)
	}
	return m
}

// sentence is a reason as the API words it, for a page.
func sentence(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return ""
	}
	return string(unicode.ToUpper(r)) + strings.TrimSuffix(s[n:], ".") + "."
}

// textarea is the field of a rationale. It is written by hand: a browser drops the first line break behind the tag, so one is put there,
// and every blank counts.
func textarea(id, text string) templ.Component { return field(id, "rationale", text, "") }

// keptText is the same for a text that is only carried along or copied.
func keptText(id, name, text string) templ.Component { return field(id, name, text, " readonly") }

func field(id, name, text, attrs string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		_, err := io.WriteString(w, `<textarea id="`+templ.EscapeString(id)+`" name="`+templ.EscapeString(name)+`" rows="2"`+attrs+">\n"+templ.EscapeString(text)+"</textarea>")
		return err
	})
}
