package core

// CorpusHead is what is stored of a corpus, without its items.
type CorpusHead struct {
	CorpusState
	Splitter int   // version of the rules that made items of files; 0: never read
	Revision int64 // rises whenever an item changes
	Embedded int   // model by whose vectors all items can be found; 0: none
	Reindex  int   // model that is on its way there while an older one serves; 0: none
}

// CorpusReading is what one look at the shield repo changes in the stored corpus. Files that are not named stay as they are.
type CorpusReading struct {
	Revision int64 // of the stored corpus that it goes by; another one by now: core.ErrConflict
	Commit   string
	Splitter int
	Files    []string // paths read anew: their items are Items, and no others
	Gone     []string // paths that are no longer there
	Items    []Item
	Faults   []Fault // of all files
}

// EmbedModel is a model that has vectors of a corpus.
type EmbedModel struct {
	ID     int
	Name   string
	Prefix string
	Dim    int
	Texts  int // texts of the corpus that have a vector of it
}
