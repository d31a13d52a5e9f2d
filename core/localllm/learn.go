package localllm

import (
	"errors"
	"net/http"
)

// learn takes the outcome of a request that used these manners, and says whether to ask again, and how. Each step down is taken once.
func (c *Client) learn(model string, used manners, err error) (next manners, again bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.manners[model]
	next = used
	defer func() {
		if used.trying && !again {
			m.tried = true // whatever came of it
		}
	}()
	switch {
	case KindOf(err) == KindEmpty && used.format != formatNone && !used.tried:
		// Some servers put an answer that was bound to a form into the reasoning field. Whether this one does shows without the form; calls
		// that begin before it has shown find out for themselves.
		m.thinks(err)
		next.format, next.trying, next.quiet = formatNone, true, max(used.quiet, m.quiet)
		return next, true
	case err == nil || KindOf(err) == KindCutOff || KindOf(err) == KindEmpty:
		m.answered(used, err)
		m.thinks(err)
		return next, false
	}
	if !m.refused(used, err) {
		return next, false
	}
	next.quiet = max(used.quiet, m.quiet)
	if used.format != formatNone {
		next.format = max(used.format, m.format)
	}
	return next, true
}

// answered notes what a request that brought an answer has proved.
func (m *manners) answered(used manners, err error) {
	if used.format == m.format {
		m.formatOK = true
	}
	if used.quiet == m.quiet {
		m.quietOK = true
	}
	if used.trying && err == nil {
		m.format = formatNone
	}
}

// thinks notes that thinking has eaten an answer. A model that thinks and answers in time is let be.
func (m *manners) thinks(err error) {
	if m.quiet == quietUnasked && errors.Is(err, errThought) {
		m.quiet, m.quietOK = quietBoth, false
	}
}

// refused takes a step down from what a refused request used, and tells whether there was one to take. A refusal that names no member
// counts against one that was never answered yet.
func (m *manners) refused(used manners, err error) bool {
	quietSent := used.quiet == quietBoth || used.quiet == quietTemplate
	formatSent := used.format != formatNone
	vague := isVague(err)
	switch {
	case quietSent && (errors.Is(err, errQuietRefused) || vague && !(m.quietOK && m.quiet == used.quiet)):
		if m.quiet <= used.quiet {
			m.quiet, m.quietOK = used.quiet+1, false
		}
	case formatSent && (errors.Is(err, errFormatRefused) || vague && !(m.formatOK && m.format == used.format)):
		if m.format <= used.format {
			m.format, m.formatOK = used.format+1, false
		}
	default:
		return false
	}
	return true
}

// isVague tells whether a refusal may be about any member: a bad request, said by status or by an `error` member alone.
func isVague(err error) bool {
	var e *Error
	if !errors.As(err, &e) || e.Kind != KindServer || e.Err != nil {
		return false
	}
	switch e.Status {
	case http.StatusOK, http.StatusBadRequest, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity:
		return true
	}
	return false
}
