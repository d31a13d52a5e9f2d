package handlers

import (
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"storozh/core"
	"storozh/views"
)

// missedJSON is a missed clash in the API, both ways.
type missedJSON struct {
	ID       int64         `json:"id"`
	Unit     string        `json:"unit"`
	Item     string        `json:"item"`
	Label    string        `json:"label"` // contra, dup or withdrawn
	Note     string        `json:"note"`
	By       core.Cosigner `json:"by"`
	Brought  bool          `json:"brought"` // the retrieval had brought the item
	Judged   core.Label    `json:"judged"`  // what the judge had said of it; empty: nothing
	At       time.Time     `json:"at"`
	Repeated bool          `json:"repeated,omitempty"` // it was kept before; nothing was added
}

// apiMissed answers POST /api/manifests/{id}/missed.
func (s *server) apiMissed(c echo.Context) error {
	id, err := idParam(c)
	if err != nil {
		return err
	}
	var in struct{ Unit, Item, Label, Note string }
	if err := readJSON(c, &in); err != nil {
		return err
	}
	m, added, err := s.name(c, views.MissedTyped{Manifest: id, Unit: in.Unit, Item: in.Item, Label: in.Label, Note: in.Note})
	if err != nil {
		return err
	}
	out := newMissedJSON(in.Unit, m)
	out.Repeated = !added
	status := http.StatusCreated
	if !added {
		status = http.StatusOK
	}
	return c.JSON(status, out)
}

// newMissedJSON is a missed clash on a unit, which may have been named of another unit with the same content.
func newMissedJSON(unit string, m core.Missed) missedJSON {
	out := missedJSON{
		ID: m.ID, Unit: unit, Item: m.Item, Label: string(m.Label), Note: m.Note, By: m.By, Brought: m.Rank > 0, Judged: m.Said, At: m.At.UTC(),
	}
	if m.Label == "" {
		out.Label = withdrawn
	}
	return out
}

// addMissedJSON adds to a manifest's units what cosigners name of them. The sender of a webhook, who reads the same answer, does not get it.
func (s *server) addMissedJSON(ctx context.Context, st standing, units []core.UnitResult, out *manifestJSON) error {
	if s.Recall == nil || !st.who.Valid() {
		return nil
	}
	byUnit, err := s.missedByUnit(ctx, units)
	if err != nil {
		return err
	}
	for i := range out.Units {
		u := &out.Units[i]
		for _, m := range byUnit[u.Unit] {
			u.Missed = append(u.Missed, newMissedJSON(u.Unit, m))
		}
	}
	return nil
}
