package db

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/lib/pq"

	"storozh/core"
)

// Find lists units that a query selects, newest manifest first, and where the next page begins (empty: there is none). Each (session, unit,
// content) is found once, as the latest finished run found it.
func (d *DB) Find(ctx context.Context, q core.FoundQuery) ([]core.Found, string, error) {
	s, err := newFind(q)
	if err != nil {
		return nil, "", err
	}
	var rows []foundRow
	for _, within := range s.stages() {
		if err := d.x.SelectContext(ctx, &rows, s.sql(within), s.args...); err != nil {
			return nil, "", wrap(err, "Find")
		}
		if len(rows) > s.limit {
			break
		}
	}
	next := ""
	if len(rows) > s.limit {
		rows = rows[:s.limit]
		last := rows[s.limit-1]
		next = fmt.Sprintf("%d.%d.%d", last.Stamped.UnixMicro(), last.RunID, last.Ord)
	}
	out := make([]core.Found, len(rows))
	for i, r := range rows {
		out[i] = r.found(q.Reader)
	}
	return out, next, nil
}

type foundRow struct {
	ManifestID int64          `db:"manifest_id"`
	RunID      int64          `db:"run_id"`
	Ord        int            `db:"ord"`
	Unit       string         `db:"unit"`
	Title      string         `db:"title"`
	Repo       string         `db:"repo"`
	Type       string         `db:"type"`
	Stamped    time.Time      `db:"stamped"`
	Routing    string         `db:"routing"`
	Semantic   string         `db:"semantic"`
	Unjudged   bool           `db:"unjudged"`
	Demo       bool           `db:"demo"`
	Note       string         `db:"judge_note"`
	Owner      pq.StringArray `db:"owner_choices"`
	Claude     pq.StringArray `db:"claude_choices"`
}

func (r foundRow) found(reader core.Cosigner) core.Found {
	f := core.Found{
		ManifestID: r.ManifestID, UnitID: r.Unit, Title: r.Title, Repo: r.Repo, Type: core.UnitType(r.Type), At: r.Stamped.UTC(),
		Routing: core.Routing(r.Routing), Semantic: core.Label(r.Semantic), Unjudged: r.Unjudged, Demo: r.Demo, Note: r.Note,
	}
	mine := r.Owner
	if reader == core.Claude {
		mine = r.Claude
	}
	for _, c := range mine {
		f.Choices = append(f.Choices, core.Choice(c))
	}
	return f
}

// find is a search in the making.
type find struct {
	where []string
	args  []any
	words string // the condition on the text; empty: none
	limit int
}

// window is how many of the newest units are looked through for common words.
const window = 1000

// stages are the ways to look, each with the size of its window (0: everywhere). Postgres cannot tell how many units hold a word that
// begins so, and a word that nearly all hold would have the index list them all. So the newest units are looked through first, in order: if
// they fill the page it is the right one. If not, the word is rare, at least lately, and the index is quick.
func (f *find) stages() []int {
	if f.words == "" {
		return []int{0}
	}
	return []int{window, 0}
}

// and adds a condition; each ? in it stands for the next argument.
func (f *find) and(condition string, args ...any) {
	for _, a := range args {
		f.args = append(f.args, a)
		condition = strings.Replace(condition, "?", fmt.Sprintf("$%d", len(f.args)), 1)
	}
	f.where = append(f.where, condition)
}

// sql reads one row more than the page holds: whether there is a next page. What is shown of the units is looked up only for the page.
func (f *find) sql(within int) string {
	const order = "ORDER BY c.stamped DESC, c.run_id DESC, c.ord DESC"
	where := strings.Join(append([]string{"true"}, f.where...), " AND ")
	from := "counted_units c WHERE " + where
	switch {
	case within > 0:
		from = fmt.Sprintf("(SELECT c.* FROM counted_units c WHERE %s %s LIMIT %d) c WHERE %s", where, order, within, f.words)
	case f.words != "":
		from += " AND " + f.words
	}
	return fmt.Sprintf(`
		WITH page AS MATERIALIZED (
			SELECT c.manifest_id, c.run_id, c.ord, c.unit, c.repo, c.type, c.stamped, c.demo, c.owner_choices, c.claude_choices
			FROM %s %s LIMIT %d)
		SELECT page.*, left(u.title, 1000) AS title, u.routing, u.semantic, u.unjudged, left(u.judge_note, 1000) AS judge_note
		FROM page JOIN units u ON u.run_id = page.run_id AND u.ord = page.ord
		ORDER BY page.stamped DESC, page.run_id DESC, page.ord DESC`, from, order, f.limit+1)
}

// The conditions repeat those of the partial indexes word for word, else they would not be used.
var labelConditions = map[string]string{
	"misroute": "c.misroute", "contra": "c.contra", "dup": "c.dup", "unjudged": "c.unjudged", "ok": "c.ok",
	"flagged": "(c.misroute OR c.contra OR c.dup)",
}

func newFind(q core.FoundQuery) (*find, error) {
	f := &find{limit: q.Limit}
	if f.limit <= 0 || f.limit > 200 {
		f.limit = 50
	}
	if q.Repo != "" {
		f.and("c.repo = ?", clip(q.Repo))
	}
	if q.Type != "" {
		f.and("c.type = ?", text(string(q.Type)))
	}
	if q.Label != "" {
		condition, ok := labelConditions[q.Label]
		if !ok {
			return nil, fmt.Errorf("%w: label must be misroute, contra, dup, unjudged, ok or flagged, not %q", core.ErrInvalid, q.Label)
		}
		f.and(condition)
	}
	if err := f.review(q); err != nil {
		return nil, err
	}
	if err := f.when(q); err != nil {
		return nil, err
	}
	if q.Text != "" {
		asked := question(text(q.Text))
		if asked == "" {
			return nil, fmt.Errorf("%w: the text to look for holds no letter and no digit", core.ErrInvalid)
		}
		f.args = append(f.args, asked)
		f.words = fmt.Sprintf("c.search @@ $%d::tsquery", len(f.args))
	}
	return f, f.after(q.After)
}

// review narrows by what the reader decided. The other's decisions never matter here but for "disagree", which shows only once both have.
func (f *find) review(q core.FoundQuery) error {
	if q.Decision == "" && q.State == "" {
		return nil
	}
	if !q.Reader.Valid() {
		return fmt.Errorf("%w: whose decisions are meant is not known", core.ErrInvalid)
	}
	open, choices := "c.open_"+string(q.Reader), "c."+string(q.Reader)+"_choices"
	if q.Decision != "" {
		if !q.Decision.Valid() {
			return fmt.Errorf("%w: decision must be land, fix, accept or drop-as-dup, not %q", core.ErrInvalid, q.Decision)
		}
		f.and(choices + " @> '{" + string(q.Decision) + "}'") // one of four words, as the partial indexes have it
	}
	switch q.State {
	case "":
	case core.FoundOpen:
		f.and(open + " > 0")
	case core.FoundDecided:
		f.and(open + " = 0 AND " + choices + " <> '{}'")
	case core.FoundDisagree:
		f.and("c.differ")
	default:
		return fmt.Errorf("%w: state must be open, decided or disagree, not %q", core.ErrInvalid, q.State)
	}
	return nil
}

// when narrows by time.
func (f *find) when(q core.FoundQuery) error {
	switch q.Went {
	case "":
		if !q.From.IsZero() {
			f.and("c.stamped >= ?", q.From)
		}
		if !q.To.IsZero() {
			f.and("c.stamped < ?", q.To)
		}
		return nil
	case core.FoundRaised, core.FoundResolved:
		if q.From.IsZero() || q.To.IsZero() {
			return fmt.Errorf("%w: flags that were %s need from and to", core.ErrInvalid, q.Went)
		}
		when := "h." + string(q.Went) + " >= ? AND h." + string(q.Went) + " < ?"
		// The sessions come first, as an array: the planner would rather read all units than believe how few flags there are.
		f.and("NOT c.demo AND (c.misroute OR c.contra OR c.dup) AND c.session = ANY (ARRAY(SELECT DISTINCT h.session FROM flag_history h WHERE "+when+"))", q.From, q.To)
		f.and("EXISTS (SELECT 1 FROM flag_history h WHERE h.session = c.session AND h.unit = c.unit AND "+when+")", q.From, q.To)
		return nil
	}
	return fmt.Errorf("%w: went must be raised or resolved, not %q", core.ErrInvalid, q.Went)
}

// after goes on behind the last unit of a page.
func (f *find) after(mark string) error {
	if mark == "" {
		return nil
	}
	var micro, run int64
	var ord int
	var rest string
	if n, _ := fmt.Sscanf(mark+" |", "%d.%d.%d %s", &micro, &run, &ord, &rest); n != 4 || rest != "|" {
		return fmt.Errorf("%w: the page mark %q is not one of ours", core.ErrInvalid, mark)
	}
	f.and("(c.stamped, c.run_id, c.ord) < (?, ?, ?)", time.UnixMicro(micro).UTC(), run, ord)
	return nil
}
