package handlers

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
	"golang.org/x/time/rate"

	"storozh/core"
	"storozh/views"
)

// server holds the configuration for the handlers; it has no state of its own but the brake on failed sign-ins and its counters.
type server struct {
	Config
	brake     *brake
	strangers *rate.Limiter // deliveries without a known sender that are kept
	meter     *meter
}

// New builds the handler of all routes. Read and write deadlines of the HTTP server are moved per request where a route
// needs longer (the webhook), so the server itself can keep them short.
func New(cfg Config) *echo.Echo {
	if cfg.FailedSignIn == nil {
		cfg.FailedSignIn = rate.NewLimiter(1, 5)
	}
	cfg.PublicURL = strings.TrimSuffix(cfg.PublicURL, "/")
	cfg.Sessions.Store = finalStore{cfg.SessionStore}
	s := &server{Config: cfg, brake: newBrake(cfg.FailedSignIn), strangers: rate.NewLimiter(keptRefusals/60.0, keptRefusals), meter: newMeter(&cfg)}
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.HTTPErrorHandler = s.fail
	e.Use(s.requestID, s.measure, s.logRequest, s.recoverPanic, s.headers, s.allowedHost, s.compress())
	s.open(e)
	s.webhookRoutes(e)
	s.apiRoutes(e)
	s.pageRoutes(e)
	return e
}

// open are the routes that anyone may call.
func (s *server) open(e *echo.Echo) {
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		e.Add(method, "/healthz", func(c echo.Context) error { return c.String(http.StatusOK, "ok\n") })
		e.Add(method, "/readyz", s.ready)
		e.Add(method, "/metrics", s.metrics)
		e.Add(method, views.AssetPrefix+"*", echo.WrapHandler(views.Assets()))
	}
	login := []echo.MiddlewareFunc{s.session, decisionLimit, s.ownPages} // a sign-in form can carry another along
	e.GET("/login", s.loginPage, login...)
	e.POST("/login", s.login, login...)
	e.GET("/login/:link", s.linkPage, login...)
	e.POST("/login/:link", s.redeem, login...)
	e.POST("/logout", s.logout, login...)
}

func (s *server) webhookRoutes(e *echo.Echo) {
	e.POST("/webhooks/mirabilis", s.webhook)
}

// apiRoutes take a cosigner's bearer token or a session. (Groups of echo are not used: each adds a route of its own that
// swallows "method not allowed".)
func (s *server) apiRoutes(e *echo.Echo) {
	api := []echo.MiddlewareFunc{s.session, s.apiCosigner, s.ownPages, formLimit}
	e.GET("/api/evaluations", s.apiEval, api...)
	e.GET("/api/manifests", s.apiList, api...)
	e.GET("/api/trends", s.apiTrends, api...)
	e.GET("/api/manifests/:id", s.apiGet, api...)
	e.GET("/api/manifests/:id/manifest", s.apiRaw, api...)
	e.POST("/api/manifests/:id/runs", s.apiRerun, api...)
	e.POST("/api/manifests/:id/decisions", s.apiDecide, s.session, s.apiCosigner, decisionLimit, s.ownPages)
	e.POST("/api/manifests/:id/reveal", s.apiReveal, api...)
	e.POST("/api/manifests/:id/missed", s.apiMissed, api...)
}

// pageRoutes take a session.
func (s *server) pageRoutes(e *echo.Echo) {
	page := []echo.MiddlewareFunc{s.session, s.pageCosigner, s.ownPages, formLimit}
	e.GET("/", s.inbox, page...)
	e.GET("/status", s.status, page...)
	e.GET("/search", s.search, page...)
	e.GET("/trends", s.trends, page...)
	e.GET("/trends.csv", s.trendsCSV, page...)
	e.GET("/corpus", s.corpus, page...)
	e.POST("/corpus", s.askCorpus, s.session, formLimit, s.ownPages, s.keepTyping(keepAsk))
	e.GET("/deliveries", s.deliveries, page...)
	e.POST("/deliveries/:id/again", s.deliverAgain, page...)
	e.GET("/manifests/:id", s.review, page...)
	e.GET("/manifests/:id/progress", s.progress, page...)
	e.GET("/manifests/:id/text", s.text, page...)
	e.GET("/manifests/:id/transcript", s.transcript, page...)
	e.GET("/items/*", s.item, page...)
	e.POST("/manifests/:id/runs", s.rerun, page...)
	e.GET("/manifests/:id/events", s.events, page...)
	e.POST("/manifests/:id/cancel", s.cancel, page...)
	e.POST("/manifests/:id/decisions", s.decideForm, s.session, decisionLimit, s.ownPages, s.keepTyping(keepDecision))
	e.POST("/manifests/:id/reveal", s.revealForm, page...)
	e.GET("/manifests/:id/missed", s.missedPage, page...)
	e.POST("/manifests/:id/missed", s.nameMissed, s.session, formLimit, s.ownPages, s.keepTyping(keepMissed))
	e.GET("/account", s.account, page...)
	e.GET("/keys", s.keys, page...)
	e.GET("/eval", s.evalPage, page...)
	e.GET("/whatif", s.whatIf, page...)
	e.POST("/logout/everywhere", s.logoutEverywhere, page...)
	e.POST("/sample", s.sample, page...)
}

func (s *server) ready(c echo.Context) error {
	ctx, cancel := context.WithTimeout(c.Request().Context(), readyTimeout)
	defer cancel()
	if err := s.Ready(ctx); err != nil {
		s.Log.WarnContext(ctx, "not ready", "error", err)
		why := "the log says why"
		switch {
		case errors.Is(err, ErrDraining):
			why = ErrDraining.Error()
		case errors.Is(err, core.ErrNoDatabase), errors.Is(err, context.DeadlineExceeded):
			why = core.ErrNoDatabase.Error()
		}
		return c.String(http.StatusServiceUnavailable, "not ready: "+why+"\n")
	}
	return c.String(http.StatusOK, "ready\n")
}
