package views

// Login is the sign-in page, and the page that asks to confirm a one-time link.
type Login struct {
	Page
	Next    string // where to go afterwards: a path of this site
	Problem string // why the last try failed; empty: none
	Link    string // path of the one-time link to confirm; empty: the token form
	Kept    Kept   // a form to carry through
}

// Kept is a form that was handed in without a session, at most one of them.
type Kept struct {
	Decision *Typed
	Missed   *MissedTyped
	Ask      *AskForm
}

// NewLogin builds the sign-in page.
func NewLogin(p Page, next, problem, link string) Login {
	p.Title = "Sign in"
	return Login{Page: p, Next: next, Problem: problem, Link: link}
}

// Problem is the page for an error.
type Problem struct {
	Page
	Code      int
	Heading   string
	Detail    string // what to do; may be empty
	RequestID string // empty: not worth reporting
}

// NewProblem builds an error page.
func NewProblem(p Page, code int, heading, detail, requestID string) Problem {
	p.Title = heading
	return Problem{Page: p, Code: code, Heading: heading, Detail: sentence(detail), RequestID: requestID}
}
