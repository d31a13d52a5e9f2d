package handlers

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"storozh/core"
	"storozh/core/manifest"
)

// apiList answers GET /api/manifests?after=&limit=&superseded=true&queue=.
func (s *server) apiList(c echo.Context) error {
	limit, err := limitParam(c.QueryParam("limit"))
	if err != nil {
		return err
	}
	all, _ := strconv.ParseBool(c.QueryParam("superseded")) // anything unreadable means no
	queue, err := queueParam(c.QueryParam("queue"))
	if err != nil {
		return err
	}
	who := s.signedIn(c)
	records, next, err := s.Store.Records(c.Request().Context(), core.RecordQuery{
		After: c.QueryParam("after"), Limit: limit, IncludeSuperseded: all, Queue: queue, For: who,
	})
	if err != nil {
		return err
	}
	out := listJSON{Manifests: make([]headJSON, 0, len(records)), Next: next}
	for _, r := range records {
		out.Manifests = append(out.Manifests, newHead(r, who))
	}
	return c.JSON(http.StatusOK, out)
}

func limitParam(s string) (int, error) {
	if s == "" {
		return apiPageSize, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%w: limit must be a number from 1 to %d", core.ErrInvalid, apiPageMax)
	}
	return min(n, apiPageMax), nil
}

func (s *server) apiGet(c echo.Context) error {
	id, err := idParam(c)
	if err != nil {
		return err
	}
	return s.answerManifest(c, id)
}

// answerManifest writes GET /api/manifests/{id}, which the waiting webhook answers too.
func (s *server) answerManifest(c echo.Context, id int64) error {
	ctx := c.Request().Context()
	r, err := s.Store.Record(ctx, id)
	if err != nil {
		return err
	}
	var units []core.UnitResult
	if r.Judged != nil {
		if units, err = s.Store.Units(ctx, r.Judged.ID); err != nil {
			return err
		}
	}
	st, err := s.standing(ctx, r, s.signedIn(c))
	if err != nil {
		return err
	}
	out := newManifest(st, units)
	if err := s.addMissedJSON(ctx, st, units, &out); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, out)
}

// apiRaw answers with the manifest's bytes, the block spliced in once there is one, as it belongs in the file.
func (s *server) apiRaw(c echo.Context) error {
	id, err := idParam(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	r, err := s.Store.Record(ctx, id)
	if err != nil {
		return err
	}
	raw, err := s.Store.RawManifest(ctx, id)
	if err != nil {
		return err
	}
	st, err := s.standing(ctx, r, s.signedIn(c))
	if err != nil {
		return err
	}
	if b := st.block(); b != nil {
		if raw, err = manifest.Splice(raw, *b); err != nil {
			return fmt.Errorf("manifest %d: adding the block: %w", id, err)
		}
	}
	return c.Blob(http.StatusOK, echo.MIMEApplicationJSON, raw)
}

// apiRerun answers POST /api/manifests/{id}/runs; the body, if any, is {"fresh": true|false}.
func (s *server) apiRerun(c echo.Context) error {
	id, err := idParam(c)
	if err != nil {
		return err
	}
	var body struct {
		Fresh bool `json:"fresh"`
	}
	if err := json.NewDecoder(c.Request().Body).Decode(&body); err != nil && !errors.Is(err, io.EOF) {
		var tooBig *http.MaxBytesError
		if errors.As(err, &tooBig) {
			return err
		}
		return fmt.Errorf("%w: the body is not {\"fresh\": true|false}: %s", core.ErrInvalid, err)
	}
	receipt, err := s.Store.Rerun(c.Request().Context(), id, body.Fresh)
	if err != nil {
		return err
	}
	s.audit(c, core.AuditRun, fmt.Sprintf("manifest %d, by the API", id))
	return s.accepted(c, receipt)
}
