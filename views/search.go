package views

import (
	"net/url"

	"storozh/core"
)

// Search is the page that finds units.
type Search struct {
	Page
	Form    SearchForm
	Problem string // what is wrong with the question; nothing else is shown then
	Asked   bool   // something narrows the search
	Found   []FoundView
	First   bool   // this is the first page
	Older   string // path of the next page; empty: this is the last
}

// SearchForm is the question as it stands in the form. All of it is untrusted.
type SearchForm struct {
	Q, Repo, Label, Type, Decision, State, From, To, Went string
}

// FoundView is one unit that was found.
type FoundView struct {
	core.Found
	URL    string
	Badges []Badge
}

// SearchInput is what [NewSearch] needs.
type SearchInput struct {
	Form    SearchForm
	Found   []core.Found
	Next    string
	First   bool
	Problem error
}

// Choice lists for the form, each with what stands on the page.
var (
	searchLabels    = [][2]string{{"", "any"}, {"flagged", "any flag"}, {"misroute", "misroute"}, {"contra", "contra"}, {"dup", "dup"}, {"unjudged", "unjudged"}, {"ok", "ok"}}
	searchStates    = [][2]string{{"", "any"}, {"open", "open for me"}, {"decided", "decided by me"}, {"disagree", "we disagree"}}
	searchTypes     = options(core.Lesson, core.Invariant, core.Skill, core.Agent, core.Hook, core.SandboxMechanism, core.State, core.Genome, core.Meta)
	searchDecisions = choiceOptions()
	searchWent      = [][2]string{{"", "manifest was written"}, {"raised", "flag was raised"}, {"resolved", "flag was resolved"}}
)

func options[T ~string](values ...T) [][2]string {
	out := [][2]string{{"", "any"}}
	for _, v := range values {
		out = append(out, [2]string{string(v), string(v)})
	}
	return out
}

// choiceOptions are the choices as options, in the words for people.
func choiceOptions() [][2]string {
	out := options(core.Choices()...)
	for i := range out[1:] {
		out[i+1][1] = ChoiceWord(core.Choice(out[i+1][0]))
	}
	return out
}

// NewSearch builds the page.
func NewSearch(p Page, in SearchInput) Search {
	p.Title, p.Here = "Search", "search"
	m := Search{Page: p, Form: in.Form, Asked: in.Form != SearchForm{}, First: in.First}
	if in.Problem != nil {
		m.Problem = core.Detail(in.Problem)
		return m
	}
	for _, f := range in.Found {
		m.Found = append(m.Found, FoundView{
			Found: f, URL: manifestURL(f.ManifestID) + "?unit=" + url.QueryEscape(f.UnitID),
			Badges: unitBadges(core.UnitResult{Flag: core.Flag{Routing: f.Routing, Semantic: f.Semantic}, Unjudged: f.Unjudged}),
		})
	}
	if in.Next != "" {
		m.Older = in.Form.url(in.Next)
	}
	return m
}

// url is the address of a page of this search.
func (f SearchForm) url(after string) string {
	v := url.Values{}
	for k, s := range map[string]string{
		"q": f.Q, "repo": f.Repo, "label": f.Label, "type": f.Type, "decision": f.Decision, "state": f.State, "from": f.From, "to": f.To,
		"went": f.Went, "after": after,
	} {
		if s != "" {
			v.Set(k, s)
		}
	}
	if len(v) == 0 {
		return "/search"
	}
	return "/search?" + v.Encode()
}
