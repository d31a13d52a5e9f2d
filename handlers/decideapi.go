package handlers

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"storozh/core"
)

// decisionJSON is a decision as the API shows it. Its id is what `seen` refers to.
type decisionJSON struct {
	ID        int64         `json:"id"`
	By        core.Cosigner `json:"by"`
	Flag      core.FlagKind `json:"flag"`
	Decision  core.Choice   `json:"decision"`
	Rationale string        `json:"rationale"`
	At        time.Time     `json:"at"`
}

func newDecisions(all []core.Decision) []decisionJSON {
	out := make([]decisionJSON, 0, len(all))
	for _, d := range all {
		out = append(out, decisionJSON{ID: d.ID, By: d.By, Flag: d.Basis.Flag, Decision: d.Choice, Rationale: d.Rationale, At: d.At.UTC()})
	}
	return out
}

// flagJSON names a flag.
type flagJSON struct {
	Unit string        `json:"unit"`
	Flag core.FlagKind `json:"flag"`
}

// decideJSON is the body of POST /api/manifests/{id}/decisions. Without run and seen the decision is about the flag as it is now.
type decideJSON struct {
	flagJSON
	Decision  core.Choice `json:"decision"`
	Rationale string      `json:"rationale"`
	Run       int64       `json:"run"`
	Seen      *int64      `json:"seen"`
	Same      bool        `json:"same"`
	Carried   int64       `json:"carried"`
}

// decidedJSON answers it.
type decidedJSON struct {
	Unit string `json:"unit"`
	decisionJSON
	Also    []flagJSON    `json:"also,omitempty"`    // the identical flags that it served too
	LeftOut []leftOutJSON `json:"leftOut,omitempty"` // and those that it did not
}

type leftOutJSON struct {
	flagJSON
	Why string `json:"why"`
}

// apiDecide answers POST /api/manifests/{id}/decisions.
func (s *server) apiDecide(c echo.Context) error {
	id, err := idParam(c)
	if err != nil {
		return err
	}
	var in decideJSON
	if err := readJSON(c, &in); err != nil {
		return err
	}
	st, out, err := s.decideOn(c, id, ask{
		key: core.FlagKey{UnitID: in.Unit, Kind: in.Flag}, choice: in.Decision, rationale: tidy(in.Rationale), run: in.Run, seen: in.Seen,
		same: in.Same, carried: in.Carried,
	})
	if err != nil {
		return err
	}
	if st, err = s.standing(c.Request().Context(), st.record, st.who); err != nil {
		return err
	}
	d, _ := st.mine(core.FlagKey{UnitID: in.Unit, Kind: in.Flag})
	answer := decidedJSON{Unit: in.Unit, decisionJSON: newDecisions([]core.Decision{d})[0]}
	for _, f := range out.decided[min(1, len(out.decided)):] {
		answer.Also = append(answer.Also, flagJSON{f.UnitID, f.Basis.Flag})
	}
	for _, l := range out.leftOut {
		answer.LeftOut = append(answer.LeftOut, leftOutJSON{flagJSON{l.flag.UnitID, l.flag.Basis.Flag}, l.why})
	}
	return c.JSON(http.StatusCreated, answer)
}

// readJSON reads the body of an API request.
func readJSON(c echo.Context, into any) error {
	err := json.NewDecoder(c.Request().Body).Decode(into)
	var tooBig *http.MaxBytesError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &tooBig):
		return err
	}
	return fmt.Errorf("%w: the body is not the JSON that this address takes: %s", core.ErrInvalid, err)
}
