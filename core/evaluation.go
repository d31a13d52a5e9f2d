package core

import "time"

// Evaluation is one measurement on the labelled sets of core/eval, as `web eval` stores it and the page /eval shows it. Two of them can be
// compared where model or prompt differ and the hash of the set does not.
type Evaluation struct {
	ID        int64         `json:"id,omitempty"` // 0: not stored
	At        time.Time     `json:"at"`
	Demo      bool          `json:"demo"` // the demo model answered: the figures say nothing about a real one
	Judge     *JudgeScore   `json:"judge,omitempty"`
	Retrieval *RecallScore  `json:"retrieval,omitempty"`
	Left      []string      `json:"left,omitempty"` // what was not measured, and why
	Took      time.Duration `json:"tookNs"`
}

// Rate is a share with its Wilson 95 % interval, all from 0 to 1. Of 0 means that there was nothing to measure; then the interval is 0 to 1.
type Rate struct {
	N     int     `json:"n"`
	Of    int     `json:"of"`
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Tally counts answers by label.
type Tally struct {
	Contra   int `json:"contra"`
	Dup      int `json:"dup"`
	OK       int `json:"ok"`
	Unjudged int `json:"unjudged"`
}

// LabelScore is how well one label is found. An unjudged pair was not found (it lowers the recall), but nothing false was said of it.
type LabelScore struct {
	Label     Label `json:"label"`
	Answers   Tally `json:"answers"` // what was answered where this label is right: a row of the confusion matrix
	Precision Rate  `json:"precision"`
	Recall    Rate  `json:"recall"`
	F1        Rate  `json:"f1"` // interval: Wilson's of n/of = hits over hits and errors, carried over by F1 = 2J/(1+J)
}

// GroupScore is the share of right answers within one group of pairs, such as a kind or a language.
type GroupScore struct {
	Name     string `json:"name"`
	Right    Rate   `json:"right"`
	Unjudged int    `json:"unjudged"`
}

// SwapScore says how often a judge keeps its label when the unit is shown before the item.
type SwapScore struct {
	Same     Rate `json:"same"`     // of the pairs that got a label in both orders
	Unjudged int  `json:"unjudged"` // pairs without a label in one order or both
}

// JudgeScore is what a judge did with a labelled set.
type JudgeScore struct {
	Model        string         `json:"model"`
	Prompt       string         `json:"prompt"` // version of the wording
	Set          string         `json:"set"`    // dev, test or all
	SetHash      string         `json:"setHash"`
	Pairs        int            `json:"pairs"`
	Labels       []LabelScore   `json:"labels"` // contra, dup, ok
	Right        Rate           `json:"right"`
	Unjudged     Rate           `json:"unjudged"`
	Reasons      map[string]int `json:"reasons,omitempty"` // why pairs are unjudged
	Kinds        []GroupScore   `json:"kinds"`
	Languages    []GroupScore   `json:"languages"`
	Swap         *SwapScore     `json:"swap,omitempty"`
	Calls        int            `json:"calls"`        // retries for readability included
	PromptTokens int            `json:"promptTokens"` // estimated from the texts' length, as are AnswerTokens
	AnswerTokens int            `json:"answerTokens"`
	Median       time.Duration  `json:"medianNs"` // of one call; 0: not measured
	P95          time.Duration  `json:"p95Ns"`
	Slowest      time.Duration  `json:"slowestNs"`
}

// RecallAt is the share of statements whose clash is among their k nearest items.
type RecallAt struct {
	K    int  `json:"k"`
	Rate Rate `json:"rate"`
}

// RecallScore is how well an embedding model brings the item that a statement clashes with.
type RecallScore struct {
	Model      string           `json:"model"`
	SetHash    string           `json:"setHash"`
	Statements int              `json:"statements"`
	Items      int              `json:"items"` // searched for each statement
	Dimensions int              `json:"dimensions"`
	At         []RecallAt       `json:"at"`               // ascending by k
	Words      []RecallAt       `json:"words,omitempty"`  // of a search by words on the same set
	Beside     []RecallAt       `json:"beside,omitempty"` // of the k nearest and one more by words, as a run takes them
	Extra      []RecallAt       `json:"extra,omitempty"`  // the share of statements that got one more by words
	Languages  []LanguageRecall `json:"languages,omitempty"`
	MeanRank   float64          `json:"mrr"`    // mean reciprocal rank, 0 to 1
	Missed     []string         `json:"missed"` // ids of statements whose clash is not among the nearest 10
	Took       time.Duration    `json:"tookNs"` // embedding all texts; 0: not measured
}

// LanguageRecall is the recall within the statements of one language; mixed: statement and item are in two.
type LanguageRecall struct {
	Name   string `json:"name"`
	K      int    `json:"k"`
	Near   Rate   `json:"near"`   // among the k nearest
	Beside Rate   `json:"beside"` // with one more by words
}
