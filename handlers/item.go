package handlers

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"storozh/core"
	"storozh/views"
)

// Items is what the page of an item needs of the database.
type Items interface {
	// Item returns an item of the corpus as it is now, with the commit it was read at, or core.ErrNotFound.
	Item(ctx context.Context, id string) (i core.Item, commit string, err error)
	// Meetings lists the units that were compared with an item, latest run first, of items that are gone too. Decisions are in it only
	// where both cosigners have decided.
	Meetings(ctx context.Context, item string) ([]core.ItemMeeting, error)
}

const (
	longestItemID = 4_000 // bytes; no corpus has a longer one
	meetingLimit  = 200   // meetings on a page
)

// itemID is the item that the path names, or the query for ids that no path can hold. The path is taken decoded: `%23` is `#`.
func itemID(c echo.Context) (string, error) {
	id := strings.TrimPrefix(c.Request().URL.Path, "/items/")
	if id == "" {
		id = c.QueryParam("id")
	}
	if id == "" || len(id) > longestItemID {
		return "", fmt.Errorf("item %w", core.ErrNotFound)
	}
	return id, nil
}

// item is the page of one item. An item that is gone from the corpus still has one, as long as something was judged against it.
func (s *server) item(c echo.Context) error {
	id, err := itemID(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	in := views.ItemInput{ID: id}
	i, commit, err := s.Store.Item(ctx, id)
	switch {
	case err == nil:
		in.Item, in.Commit = &i, commit
	case !errors.Is(err, core.ErrNotFound):
		return err
	}
	if in.Meetings, err = s.Store.Meetings(ctx, id); err != nil {
		return err
	}
	if in.Item == nil && len(in.Meetings) == 0 {
		return fmt.Errorf("item %w", core.ErrNotFound)
	}
	in.All = len(in.Meetings) < meetingLimit
	in.Meetings = in.Meetings[:min(len(in.Meetings), meetingLimit)]
	if in.Item == nil {
		if in.Judged, err = s.judgedText(ctx, in.Meetings[0], id); err != nil {
			return err
		}
	}
	return s.render(c, http.StatusOK, views.ItemPage(views.NewItem(s.page(c), in)))
}

// judgedText is an item's text as it was when it met a unit; empty if that is not known any more.
func (s *server) judgedText(ctx context.Context, m core.ItemMeeting, id string) (string, error) {
	u, err := s.Store.Unit(ctx, m.RunID, m.UnitID)
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		return "", err
	}
	for _, p := range u.Pairs {
		if p.Item == id {
			return p.ItemText, nil
		}
	}
	return "", nil
}
