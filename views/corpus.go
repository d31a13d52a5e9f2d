package views

import (
	"fmt"
	"net/url"

	"storozh/core"
)

// CorpusModel is the page about the corpus: its items, and what Storozh would say of a statement.
type CorpusModel struct {
	Page
	Form    CorpusForm
	View    core.CorpusView
	Kinds   []KindCount
	Items   []core.ItemTally
	First   bool
	Next    string // path of the next page of items; empty: this is the last
	Faults  []core.Fault
	More    int // faults left out
	Asked   AskForm
	Answer  []AnswerView
	Heard   bool   // the answer is that of a question
	Problem string // why there is no answer
}

// CorpusForm is what narrows the items.
type CorpusForm struct {
	Kind, Q string
	Never   bool
}

// AskForm is the pasted statement.
type AskForm struct {
	Title, Text string
	Judge       bool
}

// fields are what a sign-in form carries along besides the text, as names and values.
func (f AskForm) fields() [][2]string {
	out := [][2]string{{"form", "ask"}, {"title", f.Title}}
	if f.Judge {
		out = append(out, [2]string{"judge", "1"})
	}
	return out
}

// AnswerView is one near item beside the pasted statement.
type AnswerView struct {
	core.Pair
	Judged bool
	Badge  Badge
	URL    string
	Text   Excerpt
}

func (a AnswerView) meter() string { return fmt.Sprintf("%.3f", max(0, min(1, a.Similarity))) }

func (a AnswerView) similarity() string { return fmt.Sprintf("%.3f", a.Similarity) }

// KindCount is a kind of items with how many there are.
type KindCount struct {
	Kind    core.Kind
	N       int
	URL     string
	Current bool
}

// CorpusInput is what [NewCorpus] needs.
type CorpusInput struct {
	Form    CorpusForm
	View    core.CorpusView
	Items   []core.ItemTally
	First   bool
	Next    string // id after which the next page begins
	Asked   AskForm
	Pairs   []core.Pair
	Heard   bool
	Problem error
}

const excerptOfItem = 300 // bytes of an item's text in a list

// NewCorpus builds the page.
func NewCorpus(p Page, in CorpusInput) CorpusModel {
	p.Title, p.Here = "Corpus", "corpus"
	m := CorpusModel{
		Page: p, Form: in.Form, View: in.View, Items: in.Items, First: in.First, Asked: in.Asked, Heard: in.Heard, Faults: in.View.Faults,
	}
	if len(m.Faults) > listLimit {
		m.Faults, m.More = m.Faults[:listLimit], len(m.Faults)-listLimit
	}
	for _, k := range []core.Kind{core.KindClaim, core.KindInvariant, core.KindLesson, core.KindMemory} {
		f := in.Form
		f.Kind = string(k)
		m.Kinds = append(m.Kinds, KindCount{Kind: k, N: in.View.Kinds[k], URL: f.url(""), Current: in.Form.Kind == string(k)})
	}
	if in.Next != "" {
		m.Next = in.Form.url(in.Next)
	}
	if in.Problem != nil {
		m.Problem = core.Detail(in.Problem)
	}
	for _, p := range in.Pairs {
		a := AnswerView{Pair: p, Judged: in.Asked.Judge, Badge: labelBadge(p.Label), URL: ItemURL(p.Item), Text: excerpt(p.ItemText, 2000, ItemURL(p.Item))}
		if p.Label == "" {
			a.Note = p.Unjudged
		}
		m.Answer = append(m.Answer, a)
	}
	return m
}

func (f CorpusForm) url(after string) string {
	v := url.Values{}
	for k, s := range map[string]string{"kind": f.Kind, "q": f.Q, "after": after} {
		if s != "" {
			v.Set(k, s)
		}
	}
	if f.Never {
		v.Set("never", "1")
	}
	if len(v) == 0 {
		return "/corpus"
	}
	return "/corpus?" + v.Encode()
}
