package handlers

import (
	"context"

	"storozh/core"
	"storozh/core/review"
	"storozh/views"
)

// Recall is what measuring the recall in use needs: clashes that cosigners name, and what a floor would have cut off.
type Recall interface {
	// AddMissed keeps a clash that a cosigner names, or takes one back; added is false where it was kept before. An ItemHash that is nil
	// is filled in from the corpus; core.ErrNotFound: that does not hold the item. core.ErrConflict: the manifest was judged again.
	AddMissed(ctx context.Context, m core.Missed) (kept core.Missed, added bool, err error)
	// MissedOf lists the clashes that are named of units with these contents (review.UnitHash), oldest first.
	MissedOf(ctx context.Context, unitHashes []string) ([]core.Missed, error)
	// InUse counts the clashes that reviewers know of.
	InUse(ctx context.Context) (core.InUse, error)
	// ByWords gives the items of the corpus that share the rarest words with a text, best first, at most n; of the sample's corpus for a
	// manifest of the sample.
	ByWords(ctx context.Context, source core.Source, text string, n int) ([]core.Item, error)
	// WhatIf and WhatIfFlags: see their like in db.
	WhatIf(ctx context.Context, model string) (core.WhatIfData, error)
	WhatIfFlags(ctx context.Context, model string, floor, limit int) ([]core.WhatIfFlag, error)
}

// addMissed adds to the review page what cosigners name of its units.
func (s *server) addMissed(ctx context.Context, in *views.ReviewInput) (err error) {
	if s.Recall == nil {
		return nil
	}
	in.CanName = true
	in.Missed, err = s.missedByUnit(ctx, in.Units)
	return err
}

// missedByUnit is what cosigners name of units, by their ids.
func (s *server) missedByUnit(ctx context.Context, units []core.UnitResult) (map[string][]core.Missed, error) {
	byHash := map[string][]string{}
	var hashes []string
	for _, u := range units {
		if u.Unit.Normative != "" {
			h := review.UnitHash(u.Unit)
			byHash[h] = append(byHash[h], u.Unit.ID)
			hashes = append(hashes, h)
		}
	}
	all, err := s.Recall.MissedOf(ctx, hashes)
	out := map[string][]core.Missed{}
	for _, m := range all {
		for _, id := range byHash[m.Unit] {
			out[id] = append(out[id], m)
		}
	}
	return out, err
}
