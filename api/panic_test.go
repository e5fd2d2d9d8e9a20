package api

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"
)

// TestPanicsDoNotLeaveThePackage also covers the goroutine of the events and that of the metrics
// registry. The server has no store, so that each access panics.
func TestPanicsDoNotLeaveThePackage(t *testing.T) {
	var log bytes.Buffer
	s := New(Config{Log: slog.New(slog.NewTextHandler(&log, nil))})
	if body := s.events.topicBody(topicDatasets); body != nil {
		t.Errorf("events tell %s", body)
	}
	if n := strings.Count(log.String(), "level=ERROR"); n != 1 {
		t.Errorf("it is written down %d times: %s", n, log.String())
	}
	var ctx fasthttp.RequestCtx
	if err := s.metricsPage(&ctx); err == nil ||
		!strings.Contains(err.Error(), "the daemon failed") || len(ctx.Response.Body()) > 0 {
		t.Errorf("a scrape gave %v: %s", err, ctx.Response.Body())
	}
	for _, says := range []string{"msg=panic task=events name=datasets", "msg=panic task=metrics",
		"metrics.go"} {
		if !strings.Contains(log.String(), says) {
			t.Errorf("the log does not say %q: %s", says, log.String())
		}
	}
}
