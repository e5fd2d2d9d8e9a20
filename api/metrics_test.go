package api

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
)

// scrape returns the values of a scrape by name and labels.
func (w *world) scrape() map[string]float64 {
	w.Helper()
	a := w.do("GET", "/metrics", nil)
	if a.status != 200 ||
		!strings.HasPrefix(a.header.Get("Content-Type"), "text/plain; version=0.0.4") {
		w.Fatalf("%d %v", a.status, a.header)
	}
	values := map[string]float64{}
	for line := range strings.Lines(string(a.body)) {
		if m := regexp.MustCompile(`^([a-z_]+(?:\{.*\})?) (\S+)\n$`).FindStringSubmatch(
			line); m != nil {
			v, err := strconv.ParseFloat(m[2], 64)
			if err != nil {
				w.Fatal(line)
			}
			values[m[1]] = v
		} else if line[0] != '#' {
			w.Fatalf("no sample: %s", line)
		}
	}
	return values
}

func TestMetricsSayWhatTheRoutesSay(t *testing.T) {
	w := newWorld(t)
	w.loadETTh1()
	id, conn := w.attachTrainer("etth1")
	defer conn.Close()
	w.do("GET", "/v1/datasets/none", nil)
	w.do("GET", "/v1/nothing", nil)
	got := w.scrape()
	of := fmt.Sprintf(`{dataset="etth1",delivery="slot",feed="%s",pid="`, id)
	for name, want := range map[string]float64{
		`tensorcache_dataset_rows{dataset="etth1"}`:                                                            17420,
		`tensorcache_dataset_readers{dataset="etth1"}`:                                                         1,
		`tensorcache_jobs_ended_total{kind="load",state="done"}`:                                               1,
		`tensorcache_job_rows_total{kind="load"}`:                                                              17420,
		`tensorcache_http_requests_total{method="GET",route="/v1/datasets/{name}",status="404"}`:               1,
		`tensorcache_http_requests_total{method="other",route="none",status="404"}`:                            1,
		`tensorcache_http_request_duration_seconds_count{method="POST",route="/v1/datasets/{name}/load"}`:      1,
		`tensorcache_http_request_duration_seconds_bucket{method="GET",route="/v1/datasets/{name}",le="+Inf"}`: 1,
		`tensorcache_build_info{version="test"}`:                                                               1,
	} {
		if v, ok := got[name]; !ok || v != want {
			t.Errorf("%s is %v, want %v", name, v, want)
		}
	}
	feeds := 0
	for name, v := range got {
		if strings.HasPrefix(name, "tensorcache_feed_") && strings.Contains(name, of) {
			feeds++
		}
		if strings.HasPrefix(name, "tensorcache_feed_windows_total") &&
			v != 8*got[strings.Replace(name, "windows", "batches", 1)] {
			t.Errorf("%s is %v", name, v)
		}
	}
	if feeds != 6 || got["go_goroutines"] < 1 {
		t.Errorf("%d samples of the feed, %v goroutines", feeds, got["go_goroutines"])
	}
	problems, err := testutil.GatherAndLint(w.server.metrics.registry)
	for _, p := range problems {
		if strings.HasPrefix(p.Metric, "tensorcache_") {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
	if err != nil {
		t.Error(err)
	}
}
