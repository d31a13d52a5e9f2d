package handlers

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"storozh/core"
	"storozh/views"
)

// Corpus is what the corpus page needs: the corpus as last read, and what would be said of a statement.
type Corpus interface {
	// CorpusView describes the corpus.
	CorpusView(ctx context.Context) (core.CorpusView, error)
	// ListItems lists items by id, and the id that the next page begins after (empty: none).
	ListItems(ctx context.Context, q core.ItemQuery) (items []core.ItemTally, next string, err error)
	// Ask gives the items nearest to a statement, with judged the judge's labels too. core.ErrInvalid: no statement, or too long a one;
	// core.ErrUnavailable: the model cannot be had.
	Ask(ctx context.Context, title, text string, judged bool) ([]core.Pair, error)
}

const askTime = 3 * time.Minute // a cold model, and a judge for each near item

// corpus is the page of the corpus.
func (s *server) corpus(c echo.Context) error {
	return s.corpusPage(c, http.StatusOK, views.CorpusInput{})
}

// askCorpus is the same page with the answer about a pasted statement.
func (s *server) askCorpus(c echo.Context) error {
	if s.Corpus == nil {
		return fmt.Errorf("corpus %w", core.ErrNotFound)
	}
	if err := parseForm(c); err != nil {
		return err
	}
	in := views.CorpusInput{Asked: askForm(c)}
	s.extend(c, askTime, askTime+answerTime)
	ctx, cancel := context.WithTimeout(c.Request().Context(), askTime)
	defer cancel()
	status := http.StatusOK
	var err error
	in.Pairs, err = s.Corpus.Ask(ctx, in.Asked.Title, in.Asked.Text, in.Asked.Judge)
	switch {
	case err == nil:
		in.Heard = true
	case errors.Is(err, core.ErrInvalid):
		in.Problem, status = err, http.StatusUnprocessableEntity
	case errors.Is(err, core.ErrUnavailable), errors.Is(err, context.DeadlineExceeded):
		s.Log.WarnContext(ctx, "a statement was not answered", "error", err)
		in.Problem, status = errors.New("the local model does not answer now; the status page says what was tried"), http.StatusServiceUnavailable
	default:
		return err
	}
	return s.corpusPage(c, status, in)
}

// askForm reads the form of a pasted statement.
func askForm(c echo.Context) views.AskForm {
	v := c.Request().PostFormValue
	return views.AskForm{Title: v("title"), Text: v("text"), Judge: v("judge") != ""}
}

func (s *server) corpusPage(c echo.Context, status int, in views.CorpusInput) error {
	if s.Corpus == nil {
		return fmt.Errorf("corpus %w", core.ErrNotFound)
	}
	ctx := c.Request().Context()
	in.Form = views.CorpusForm{Kind: c.QueryParam("kind"), Q: c.QueryParam("q"), Never: c.QueryParam("never") != ""}
	after := c.QueryParam("after")
	if len(in.Form.Q) > longestSearch || len(after) > longestItemID {
		return fmt.Errorf("%w: what to look for may have %d bytes", core.ErrInvalid, longestSearch)
	}
	in.First = after == ""
	var err error
	if in.View, err = s.Corpus.CorpusView(ctx); err != nil {
		return err
	}
	in.Items, in.Next, err = s.Corpus.ListItems(ctx, core.ItemQuery{
		Kind: core.Kind(in.Form.Kind), Text: in.Form.Q, Never: in.Form.Never, After: after, Limit: pageSize,
	})
	if err != nil {
		return err
	}
	return s.render(c, status, views.CorpusPage(views.NewCorpus(s.page(c), in)))
}
