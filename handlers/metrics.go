package handlers

import (
	"context"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"storozh/core"
)

// statsTime bounds what one look at the metrics may ask of the database.
const statsTime = 5 * time.Second

// meter counts what this process answered, and tells at each look what the database counts.
type meter struct {
	serve      http.Handler
	requests   *prometheus.CounterVec
	deliveries *prometheus.CounterVec
}

func newMeter(cfg *Config) *meter {
	reg := cfg.Metrics
	if reg == nil {
		reg = prometheus.NewRegistry()
	}
	m := &meter{
		serve: promhttp.HandlerFor(reg, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: 2}),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "storozh_http_requests_total", Help: "Requests answered, by route and status.",
		}, []string{"method", "route", "status"}),
		deliveries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "storozh_deliveries_total", Help: "Requests to the webhook, by what became of them.",
		}, []string{"verdict"}),
	}
	for _, v := range core.DeliveryVerdicts() {
		m.deliveries.WithLabelValues(string(v)) // so that a rate has a zero to start from
	}
	reg.MustRegister(m.requests, m.deliveries)
	if cfg.Stats != nil {
		reg.MustRegister(statsCollector{cfg.Stats})
	}
	return m
}

func (m *meter) delivery(v core.DeliveryVerdict) { m.deliveries.WithLabelValues(string(v)).Inc() }

// measure counts requests by the route's pattern, never by the path: a path can be a one-time link, and there are endlessly many.
func (s *server) measure(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		err := next(c)
		s.meter.requests.WithLabelValues(knownMethod(c.Request().Method), routeOf(c), strconv.Itoa(c.Response().Status)).Inc()
		return err
	}
}

// knownMethod keeps made-up methods from becoming endless labels.
func knownMethod(m string) string {
	switch m {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return m
	}
	return "other"
}

// metrics answers this machine without more ado, and others by a cosigner's token. It holds numbers only. A request that a proxy passed
// on comes from elsewhere, whatever its peer is; one under a foreign host name may come from a hostile page in a browser here.
func (s *server) metrics(c echo.Context) error {
	if !fromHere(c.Request()) || c.Get(ctxForeign) == true {
		if _, err := s.byBearer(c); err != nil {
			return err
		}
	}
	s.meter.serve.ServeHTTP(c.Response(), c.Request())
	return nil
}

func fromHere(r *http.Request) bool {
	for _, h := range []string{"Forwarded", echo.HeaderXForwardedFor, echo.HeaderXRealIP, "Via"} {
		if r.Header.Get(h) != "" {
			return false
		}
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	ip := net.ParseIP(host)
	return err == nil && ip != nil && ip.IsLoopback()
}

// statsCollector asks the database at each look.
type statsCollector struct {
	stats func(context.Context) (core.Stats, error)
}

var (
	descUp     = prometheus.NewDesc("storozh_database_up", "1 if the database answered this look.", nil, nil)
	descRuns   = prometheus.NewDesc("storozh_runs", "Runs by status.", []string{"status"}, nil)
	descWrites = prometheus.NewDesc("storozh_write_backs", "Done runs by what became of their block.", []string{"state"}, nil)
	descAge    = prometheus.NewDesc("storozh_queue_age_seconds", "How long the oldest waiting run has waited; 0 if none waits.", nil, nil)
)

// Describe names what Collect sends.
func (statsCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{descUp, descRuns, descWrites, descAge} {
		ch <- d
	}
}

// Collect sends the numbers of now; without a database only that there is none.
func (s statsCollector) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), statsTime)
	defer cancel()
	st, err := s.stats(ctx)
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	if err != nil {
		gauge(descUp, 0)
		return
	}
	gauge(descUp, 1)
	for _, status := range []core.Status{core.Queued, core.Running, core.Done, core.Failed, core.Cancelled} {
		gauge(descRuns, float64(st.Runs[status]), string(status))
	}
	for _, state := range []core.WriteState{core.Written, core.WritePend, core.MovedOn, core.WriteOff, core.WriteFailed} {
		gauge(descWrites, float64(st.WriteBacks[state]), string(state))
	}
	gauge(descAge, st.QueueAge.Seconds())
}
