// Package handlers is the HTTP surface of Storozh: the webhook, the JSON API and the pages of design §7.
//
// A handler parses the request, calls one of the small interfaces declared here, prints a view or JSON, and returns an error.
// It logs nothing and maps no error itself: one mapper (errors.go) turns errors into problem details or a page, hides what
// is internal, and logs it in full under the request id.
//
// Who may do what is decided in one place, the route table (routes.go):
//
//   - the webhook takes its own secrets and nothing else;
//   - the API takes the bearer token of a cosigner, or the session of a browser;
//   - pages take a session; without one a reader is sent to the sign-in page and back;
//   - what one cosigner decided is shown to the other only as core/review allows (standing.go), in pages and API alike;
//   - health checks, static files and the sign-in page are open.
//
// What arrives is untrusted. Every body has a limit, every wait a deadline, and a request that rides on a session must prove
// that it comes from our own pages (csrf.go). Secrets, one-time links and tokens are never logged: the log names routes.
package handlers
