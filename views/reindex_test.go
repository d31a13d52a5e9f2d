package views

import (
	"testing"

	"storozh/core"
)

func TestReindexingIsShown(t *testing.T) {
	state := core.CorpusState{Commit: "c0ffee", Items: 100_000, Reindexing: core.Progress{Done: 3200, Of: 100_000}}
	const said = "3200 of 100000 texts have a vector of the new embedding model"
	has(t, html(t, StatusPage(NewStatus(testPage, core.System{Corpus: state}))), []string{said}, nil)
	has(t, html(t, CorpusPage(NewCorpus(testPage, CorpusInput{View: core.CorpusView{CorpusState: state}}))), []string{said}, nil)
	state.Reindexing = core.Progress{}
	has(t, html(t, StatusPage(NewStatus(testPage, core.System{Corpus: state}))), nil, []string{"Reindexing"})
	has(t, html(t, CorpusPage(NewCorpus(testPage, CorpusInput{View: core.CorpusView{CorpusState: state}}))), nil, []string{"Reindexing"})
}
