package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/valyala/fasthttp"

	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/store"
)

// requestTester sends generated requests to a daemon with a few small datasets and compares the
// responses with the OpenAPI document.
type requestTester struct {
	*world
	sourceDir string // with source files
	words     map[string][]string
	coverage  *coverage
	trains    net.Conn
	count     atomic.Int64 // number of cases started and ended
	// check that every problem says what to do; in the rare cases too
	wantRemedies bool
}

// Two small sources: items with times, words and missing values; and numbers only.
const (
	itemsSource = `id,t,x,y,w,flag,s
1,2020-01-01,1,2,a,true,5
1,2020-01-02,2,,b,false,5
1,2020-01-03,3,6,a,true,5
1,2020-01-06,4,8,,true,5
1,2020-01-07,5,,c,false,5
1,2020-01-08,6,12,a,true,5
1,2020-01-09,7,1,a,true,5
1,2020-01-10,8,2,b,true,5
2,2020-01-01,1,2,a,true,6
2,2020-01-02,2,4,a,false,6
2,2020-01-03,3,5,a,false,6
2,2020-01-04,3,5,a,false,6
2,2020-01-05,3,5,a,false,6
2,2020-01-06,3,5,a,false,6
`
	numbersSource = "x,y\n1,2\n2,3\n3,4\n4,\n5,6\n6,7\n7,8\n8,9\n"
)

func newRequestTester(t testing.TB) *requestTester {
	a := &requestTester{world: newWorld(t), sourceDir: t.TempDir(), coverage: &coverage{
		requested: map[string]int{}, served: map[string]int{}, statuses: map[string]map[int]int{},
		problems: map[string]map[string]int{}, jobs: map[string]int{},
	}}
	matrix := "\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (8, 3), }"
	matrix += strings.Repeat(" ", 10+0x76-1-len(matrix)) + "\n" +
		strings.Repeat("\x00\x00\x80?", 24)
	for name, text := range map[string]string{"a.csv": itemsSource, "b.csv": numbersSource,
		"v.npy": matrix} {
		if err := os.WriteFile(filepath.Join(a.sourceDir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a.openTCP()
	a.server.StopWhenIdle = func() {}
	a.server.Roots = []string{a.sourceDir}
	at := func(name string) string { return filepath.Join(a.sourceDir, name) }
	a.words = map[string][]string{
		"":     {"x", "y", "id", "t", "w", "a", "b", "2020-01-03", "1h", "2d", "none"},
		"name": {"d", "d", "d", "p", "n", "v"},
		"sources": {at("a.csv"), at("a.csv"), at("a.csv"), at("b.csv"), at("v.npy"),
			at("none.csv"), at("*.csv"), a.sourceDir, "/nowhere/a.csv", "/dev/null", "a.csv"},
		"?columns": {"x", "y", "flag", "w", "value", "value[1]", "value[2]", "x,y",
			`["x","y"]`, "x,x"},
		"file":   {"app.js", "app.css", "index.html", "uplot.js", "../app.js"},
		"digest": {""},
		"item":   {"1", "2", `"1"`, "[1]", "3", "null"},
		"search": {"1", "2", "a", ""},
		"after":  {"a", "d", "1", "f1", "j1", "j2"},
		"time":   {"t", "t", "t", "x"}, "time[]": {"2020-01-02", "2020-01-04", "2020-01-07"},
		"!spec": {"prediction_length"}, "!": {"time", "item_id"},
		"dtype":    {"float32", "float64", "float16", "int8", "int64"},
		"fill":     {"mean", "forward", "backward", "linear", "none"},
		"scale":    {"standard", "minmax", "robust", "maxabs", "none"},
		"calendar": {"hour", "dayofweek", "month", "hour_of_day"},
		"regrid":   {"1d", "2d", "1h"}, "max_step": {"1d", "2d", "1h", "72h"},
		"item_bucket": {"0/2", "1/2", "3/16", "5/2"}, "time_format": {"%Y-%m-%d", "%d/%m/%Y"},
		"delimiter": {",", ";", "\t"}, "na": {"a", "n/a", ""},
		"at_times":   {"2020-01-04", "2020-01-07", "2020-01-03T00:00:00Z"},
		"fit_before": {"2020-01-04", "2020-01-07"},
		"key":        {"0", strings.Repeat("0", 64)}, "owner": {"j1.1"},
		"dataset": {"d", "e", "none"},
		"names":   {"train", "val", "test", "a"}, "items": {"1", "2", "a"},
	}
	for _, more := range []string{"column", "columns", "context_columns", "target_columns",
		"known_columns", "log1p", "diff"} {
		a.words[more] = []string{"x", "x", "x", "x", "y", "y", "value", "w", "flag", "s"}
	}
	for name, numbers := range map[string]string{
		"context_length": "123", "items": "123", "item": "12", "numbers": "0123", "row": "0123",
		"?item_code": "01", "item_code": "01", "num_replicas": "0123", "rank": "0001", "part": "001",
		"generation": "0001", "?generation": "0001", "gap": "012", "overlap": "012",
		"dilation": "112", "stride": "123", "min_context": "012", "per_item": "0123",
		"?after": "01", "batch_size": "123", "fit_rows": "0248", "purge": "012",
	} {
		a.words["#"+name] = strings.Split(numbers, "")
	}
	a.words["#max_missing"], a.words["#prediction_length"] = []string{"0", "1"}, []string{"1", "2"}
	a.words["static_columns"] = []string{"s"}
	a.words["item_id"], a.words["changed name"] = []string{"id", "id", "w"}, []string{"e", "e", "f"}
	a.reload()
	t.Cleanup(func() { a.trains.Close() })
	return a
}

// reload loads the datasets again, so that nothing derived from them is cached.
func (a *requestTester) reload() {
	a.Helper()
	for _, i := range a.store.Datasets() {
		if _, err := a.store.Remove(i.Dataset); err != nil && !errors.Is(err, store.ErrNotFound) {
			a.Fatal(err)
		}
	}
	for name, o := range map[string]map[string]any{
		"d": {"sources": []string{filepath.Join(a.sourceDir, "a.csv")}, "item_id": []string{"id"},
			"time": "t"},
		"p": {"sources": []string{filepath.Join(a.sourceDir, "a.csv")}, "item_id": []string{"id"},
			"time": "t", "columns": []string{"x", "y", "s"}, "layout": "packed"},
		"n": {"sources": []string{filepath.Join(a.sourceDir, "b.csv")}},
		"v": {"sources": []string{filepath.Join(a.sourceDir, "v.npy")}},
	} {
		if job := a.load(name, o); job.Error != nil {
			a.Fatalf("%s: %+v", name, job.Error)
		}
	}
	a.words["digest"] = nil
	for _, i := range a.store.Datasets() {
		a.words["digest"] = append(a.words["digest"], i.Manifest.Digest)
	}
	a.attachTrainer()
}

// attachTrainer attaches a new trainer.
func (a *requestTester) attachTrainer() {
	if a.trains != nil {
		a.trains.Close()
	}
	var id string
	id, a.trains = a.attachFeed("n", map[string]any{"context_length": 2, "prediction_length": 1,
		"max_missing": nil})
	a.words["feeds"] = []string{id, id, "f999999"}
}

// conn is a connection with an address and without data.
type conn struct {
	net.Conn
	local net.Addr
}

func (c conn) LocalAddr() net.Addr { return c.local }

func (c conn) RemoteAddr() net.Addr { return c.local }

var (
	overSocket = conn{local: &net.UnixAddr{Net: "unix", Name: "control.sock"}}
	overTCP    = conn{local: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7007}}
)

// send sends a request. It returns an error if the response is wrong.
func (a *requestTester) send(q randomRequest) error {
	var ctx fasthttp.RequestCtx
	local := overSocket
	if q.tcp {
		local = overTCP
	}
	ctx.Init2(local, nil, false)
	ctx.Request.Header.SetMethod(q.method)
	ctx.Request.SetRequestURI("http://localhost" + q.target)
	if q.tag != "" {
		ctx.Request.Header.Set("If-None-Match", q.tag)
	}
	ctx.Request.SetBody(q.body)
	a.coverage.cases++
	a.count.Add(1)
	defer a.count.Add(1)
	a.server.serve(&ctx)
	a.server.stopping.Store(false) // the request may have stopped the daemon
	got := response{status: ctx.Response.StatusCode(),
		header: map[string][]string{"Content-Type": {string(ctx.Response.Header.ContentType())}}}
	if tag := ctx.Response.Header.Peek("ETag"); len(tag) > 0 {
		a.words["tag"] = []string{string(tag), "*", `"0"`, `W/"0", ` + string(tag)}
	}
	var err error
	if got.body, err = a.readBody(&ctx, q); err != nil {
		return err
	}
	if at := bytes.Index(got.body, []byte("?key=")); at >= 0 && got.status == 200 &&
		q.route.path == "/v1/ui" {
		a.words["key"] = []string{string(bytes.TrimRight(got.body[at+5:], "\"}\n"))}
	}
	a.record(q, got)
	if err := a.check(q, got); err != nil {
		return fmt.Errorf("answered %d: %w", got.status, err)
	}
	return a.waitForJob(q, got)
}

// readBody reads the body of a response to its end; of an event stream, only the first events.
func (a *requestTester) readBody(ctx *fasthttp.RequestCtx,
	q randomRequest) (body []byte, err error) {
	if !ctx.Response.IsBodyStream() {
		return ctx.Response.Body(), nil
	}
	r := ctx.Response.BodyStream()
	if st, ok := r.(*eventStream); ok {
		if _, ends := st.source.(*jobEvents); !ends {
			body = make([]byte, 1<<16)
			n, err := r.Read(body)
			// the other events come with the first
			for a.coverage.cases%64 == 0 && err == nil &&
				!bytes.Contains(body[:n], []byte("event: machine")) {
				var more int
				more, err = r.Read(body[n:])
				n += more
			}
			return body[:n], ctx.Response.CloseBodyStream()
		}
	}
	body, err = io.ReadAll(r)
	if err == nil {
		err = ctx.Response.CloseBodyStream()
	}
	return body, err
}

// internalWords must not be in a message: they are about Go or the daemon's implementation.
var internalWords = []string{"%!", "runtime error", "goroutine ", "strconv.", "json: ",
	"interface conversion", "0xc0", "reflect", "<nil>", "tensorcache/internal"}

// remedyWords show that a message without a hint says what to do.
var remedyWords = []string{"want ", "near: ", "there are: ", "use ", "needs ", "more than once",
	"the longest item has "}

// checkRemedy checks that a problem says what to do. A problem with a body or a query must name the
// field, unless it is not valid JSON.
func checkRemedy(body []byte) error {
	var p wire.Problem
	if err := json.Unmarshal(body, &p); err != nil {
		return err
	}
	if p.Hint == "" &&
		!slices.ContainsFunc(remedyWords,
			func(r string) bool { return strings.Contains(p.Detail, r) }) {
		return fmt.Errorf("no remedy: %s", body)
	}
	named := p.Field != "" || slices.Contains([]string{hintBody, hintNoBody}, p.Hint)
	if !named &&
		!slices.Contains([]string{wire.NotFound, wire.MethodNotAllowed, wire.Forbidden,
			wire.Unauthorized, wire.Busy, wire.ShuttingDown, wire.NoWindows, wire.Memory,
			wire.TooLarge}, p.Type) {
		return fmt.Errorf("no field: %s", body)
	}
	return nil
}

func (a *requestTester) check(q randomRequest, got response) error {
	switch {
	case got.status >= 500:
		return fmt.Errorf("a failure of the daemon's: %s", got.body)
	case got.status >= 400 && q.method != "HEAD" && q.route.path != loginPath:
		if err := checkSchema("#/components/schemas/Problem", got.body); err != nil {
			return err
		}
		if err := checkRemedy(got.body); err != nil && a.wantRemedies {
			return err
		}
		for _, word := range internalWords {
			if bytes.Contains(got.body, []byte(word)) &&
				!strings.Contains(q.target+string(q.body), word) {
				return fmt.Errorf("%q in a message: %s", word, got.body)
			}
		}
	}
	if !slices.Contains([]string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE",
		"OPTIONS"}, q.method) {
		if got.status < 400 {
			return fmt.Errorf("%s was served", q.method)
		}
		return nil
	}
	if q.method == "HEAD" {
		got.body = nil // fasthttp leaves it out
	}
	if got.header.Get("Content-Type") == "text/event-stream" && got.status == 200 {
		return checkEvents(got.body)
	}
	return contractError(q.method, "http://localhost"+q.target, q.body, got)
}

// checkEvents checks the bodies of events against their schemas.
func checkEvents(body []byte) error {
	name := ""
	for line := range strings.Lines(string(body)) {
		line = strings.TrimSuffix(line, "\n")
		if event, ok := strings.CutPrefix(line, "event: "); ok {
			name = strings.ToUpper(event[:1]) + event[1:]
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			if err := checkSchema("#/components/schemas/"+name, []byte(data)); err != nil {
				return fmt.Errorf("event %s: %w", name, err)
			}
		}
	}
	return nil
}

// waitForJob waits for the job of a response; the job must not fail because of the daemon. If a
// feed was closed, it attaches a new trainer.
func (a *requestTester) waitForJob(q randomRequest, got response) error {
	if got.status == 200 && q.method == "DELETE" && q.route.path == "/v1/feeds/{id}" {
		a.attachTrainer()
	}
	if got.status != 202 || q.route.path == "/v1/stop" {
		return nil
	}
	var job wire.Job
	if err := json.Unmarshal(got.body, &job); err != nil {
		return err
	}
	for !job.Ended() {
		var err error
		if job, err = a.jobs.Wait(job.Job, maxWait); err != nil {
			return err
		}
	}
	a.words["jobs"] = []string{job.Job, job.Job, "j0", "hit"}
	a.words["owner"] = []string{job.Job + ".1", job.Job + ".2"}
	a.coverage.jobs[job.Kind+" "+job.State]++
	if p := job.Error; p != nil && p.Status >= 500 || p != nil && p.Type == wire.Corrupt {
		at, err := a.store.Dataset(job.Dataset)
		if err != nil {
			return fmt.Errorf("its job failed by the daemon's fault: %+v; %w", p, err)
		}
		return fmt.Errorf(
			"its job failed by the daemon's fault: %+v; the dataset was loaded with %s from %+v", p,
			at.Manifest.Recipe, at.Manifest.Sources)
	}
	return nil
}
