package api

import (
	"errors"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/valyala/fasthttp"
	"github.com/valyala/fasthttp/fasthttpadaptor"
)

var metricRoutes = []route{
	{"GET", "/metrics", noArg((*Server).metricsPage)},
}

// metrics are those for Prometheus. Only requests are counted as they come; other values are
// collected at each scrape.
type metrics struct {
	requestCount   *prometheus.CounterVec
	requestSeconds *prometheus.HistogramVec
	handler        fasthttp.RequestHandler
	registry       *prometheus.Registry
}

func newMetrics(s *Server) *metrics {
	m := &metrics{
		requestCount: prometheus.NewCounterVec(
			prometheus.CounterOpts{Name: "tensorcache_http_requests_total",
				Help: "Requests of the control API, by route, method and status."},
			[]string{"route", "method", "status"}),
		requestSeconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "tensorcache_http_request_duration_seconds",
			Help:    "How long requests took until their answer began, by route and method.",
			Buckets: prometheus.ExponentialBuckets(0.0001, 4, 9),
		}, []string{"route", "method"}),
		registry: prometheus.NewPedanticRegistry(),
	}
	m.registry.MustRegister(
		m.requestCount,
		m.requestSeconds,
		collector{s},
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	m.handler = fasthttpadaptor.NewFastHTTPHandler(
		promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{DisableCompression: true}))
	return m
}

// metricsPage answers in the text format of Prometheus.
func (s *Server) metricsPage(ctx *fasthttp.RequestCtx) error {
	// always the text format, whatever the client accepts
	ctx.Request.Header.Del(fasthttp.HeaderAccept)
	s.metrics.handler(ctx)
	if ctx.Response.StatusCode() != fasthttp.StatusOK {
		text := string(ctx.Response.Body())
		ctx.Response.Reset()
		return errors.New(text)
	}
	return nil
}

// routeKey is the key of the user value of a request that holds its route.
const routeKey = "route"

// countRequest counts a request. Requests without a route are counted as "none", so that clients
// cannot create label values.
func (m *metrics) countRequest(ctx *fasthttp.RequestCtx, start time.Time) {
	path, method := "none", "other"
	if r, ok := ctx.UserValue(routeKey).(*route); ok {
		path, method = r.path, string(ctx.Method())
	}
	m.requestCount.WithLabelValues(path, method, strconv.Itoa(ctx.Response.StatusCode())).Inc()
	m.requestSeconds.WithLabelValues(path, method).Observe(time.Since(start).Seconds())
}

// collector collects the daemon's state at each scrape.
type collector struct{ server *Server }

// metric is one kind of value that is collected.
type metric struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
}

func gauge(name, help string, labels ...string) metric {
	return metric{prometheus.NewDesc("tensorcache_"+name, help, labels, nil), prometheus.GaugeValue}
}

func counter(name, help string, labels ...string) metric {
	return metric{prometheus.NewDesc("tensorcache_"+name, help, labels, nil),
		prometheus.CounterValue}
}

func (s metric) send(ch chan<- prometheus.Metric, value float64, labels ...string) {
	ch <- prometheus.MustNewConstMetric(s.desc, s.kind, value, labels...)
}

var (
	buildInfo       = gauge("build_info", "1, with the version of the daemon.", "version")
	datasetRows     = gauge("dataset_rows", "Rows of the newest generation.", "dataset")
	datasetBytes    = gauge("dataset_bytes", "Bytes of its files.", "dataset")
	datasetResident = gauge("dataset_resident_bytes", "Bytes of it that are in memory.", "dataset")
	datasetReaders  = gauge("dataset_readers", "Handles on any of its generations.", "dataset")
	memoryBudget    = gauge("memory_budget_bytes", "What datasets and rings together may take.")
	memoryResident  = gauge("memory_resident_bytes", "What of all generations is in memory.")
	memoryRings     = gauge("memory_rings_bytes", "What the rings of feeds take.")
	memoryPinned    = gauge("memory_pinned_bytes", "What is locked in memory.")
	activeJobs      = gauge("jobs", "Jobs that wait or run, by kind and state.", "kind", "state")
	jobsEnded       = counter("jobs_ended_total", "Jobs that have ended, by kind and state.",
		"kind", "state")
	jobRows  = counter("job_rows_total", "Rows of jobs that are done, without hits, by kind.", "kind")
	jobBytes = counter("job_source_bytes_total",
		"Bytes of the sources of jobs that are done, without hits, by kind.", "kind")
	feedLabels  = []string{"feed", "dataset", "delivery", "pid"}
	feedBatches = counter("feed_batches_total", "Batches that the feed was sent.",
		feedLabels...)
	feedWindows     = counter("feed_windows_total", "Windows in these batches.", feedLabels...)
	feedRingBytes   = gauge("feed_ring_bytes", "Bytes of the feed's ring.", feedLabels...)
	feedTrainerWait = counter("feed_wait_trainer_seconds_total",
		"How long the daemon waited for the trainer.", feedLabels...)
	feedPassTime = counter("feed_pass_seconds_total",
		"How long the trainer was inside passes, by its own clock.", feedLabels...)
	feedDataWait = counter("feed_wait_data_seconds_total",
		"How long of that it waited for data.", feedLabels...)
)

// Describe sends nothing, because the label values change.
func (collector) Describe(chan<- *prometheus.Desc) {}

// Collect sends all values. It runs in a goroutine of the registry, where a panic would end the
// daemon; it becomes an error of the scrape.
func (c collector) Collect(ch chan<- prometheus.Metric) {
	s := c.server
	defer func() {
		if p := recover(); p != nil {
			err := s.panicError("metrics", "a scrape", p)
			ch <- prometheus.NewInvalidMetric(buildInfo.desc, err)
		}
	}()
	buildInfo.send(ch, 1, s.Version)
	for _, i := range s.Store.Datasets() {
		d := describeDataset(i)
		datasetRows.send(ch, float64(d.Rows), d.Dataset)
		datasetBytes.send(ch, float64(d.Bytes), d.Dataset)
		datasetReaders.send(ch, float64(d.Readers), d.Dataset)
		if d.ResidentBytes != nil {
			datasetResident.send(ch, float64(*d.ResidentBytes), d.Dataset)
		}
	}
	m := s.Store.Budget.Usage()
	memoryBudget.send(ch, float64(m.Budget))
	memoryResident.send(ch, float64(m.Resident))
	memoryRings.send(ch, float64(m.Rings))
	memoryPinned.send(ch, float64(m.Pinned))
	c.jobs(ch)
	for _, f := range s.Feeds.Feeds() {
		labels := []string{f.Feed, f.Dataset, f.Delivery, strconv.Itoa(f.PID)}
		feedBatches.send(ch, float64(f.Batches), labels...)
		feedWindows.send(ch, float64(f.ServedWindows), labels...)
		feedRingBytes.send(ch, float64(f.SlotBytes)*float64(f.Slots), labels...)
		feedTrainerWait.send(ch, f.WaitTrainerS, labels...)
		feedPassTime.send(ch, f.PassS, labels...)
		feedDataWait.send(ch, f.WaitDataS, labels...)
	}
}

func (c collector) jobs(ch chan<- prometheus.Metric) {
	counts := map[[2]string]int{}
	for _, j := range c.server.Jobs.List() {
		if !j.Ended() {
			counts[[2]string{j.Kind, j.State}]++
		}
	}
	for of, n := range counts {
		activeJobs.send(ch, float64(n), of[0], of[1])
	}
	totals := c.server.Jobs.Totals()
	for of, n := range totals.Ended {
		jobsEnded.send(ch, float64(n), of.Kind, of.State)
	}
	for kind, n := range totals.Rows {
		jobRows.send(ch, float64(n), kind)
		jobBytes.send(ch, float64(totals.Bytes[kind]), kind)
	}
}
