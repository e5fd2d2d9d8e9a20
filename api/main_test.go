package api

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/tensorcache/tensorcache/internal/feed"
	"github.com/tensorcache/tensorcache/internal/ingest"
	"github.com/tensorcache/tensorcache/internal/jobs"
	"github.com/tensorcache/tensorcache/internal/testlog"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/store"
)

// blockedVariable makes the child of loads stop in the phase that it names, after half of the rows.
// With blockedReportsCores it reports as rows how many cores it may use.
const (
	blockedVariable     = "TENSORCACHE_API_TEST_STUCK"
	blockedReportsCores = "orders"
)

// TestMain also runs the child of loads: the test binary starts itself with the verb.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == ingest.Verb {
		if os.Getenv(blockedVariable) != "" {
			blockedChild()
		}
		os.Exit(ingest.Main(os.Stdin, os.Stdout))
	}
	// By default a child waits for a second when it exits. With halt_on_error, a data race in a
	// child fails its load.
	os.Setenv("GORACE", "atexit_sleep_ms=0 halt_on_error=1")
	// The cleanup goroutines of fasthttp sleep for up to ten seconds after the server has closed.
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"))
}

func blockedChild() {
	r := bufio.NewReader(os.Stdin)
	_, _ = r.ReadString('\n')
	phase, rows := os.Getenv(blockedVariable), 5
	if phase == blockedReportsCores {
		phase, rows = "read", 0
	}
	for {
		fmt.Printf(`{"progress":{"phase":%q,"rows":%d,"rows_total":10,"bytes":50,"bytes_total":100,"share":0.5}}`+"\n", phase, rows)
		line, err := r.ReadString('\n')
		if err != nil {
			os.Exit(3)
		}
		if os.Getenv(blockedVariable) == blockedReportsCores {
			if _, err := fmt.Sscanf(line, `{"cores":%d}`, &rows); err != nil {
				os.Exit(3)
			}
		}
	}
}

// world is a control API on a socket in a new cache directory. When the test ends, it checks that
// nothing is left.
type world struct {
	testing.TB
	dir     string
	store   *store.Store
	jobs    *jobs.Manager
	client  *http.Client
	server  *Server
	socket  string
	stopped func()

	feedPath string // of the feed server
}

func newWorld(t testing.TB) *world {
	t.Helper()
	return newWorldOfCores(t, 0)
}

// newWorldOfCores sets the number of cores that jobs share; 0 means all.
func newWorldOfCores(t testing.TB, cores int) *world {
	t.Helper()
	return newWorldWith(t, cores, func(*Server) {})
}

// newWorldWith calls change before the server serves.
func newWorldWith(t testing.TB, cores int, change func(*Server)) *world {
	t.Helper()
	w := &world{TB: t, dir: t.TempDir(), stopped: func() {}}
	log := slog.New(slog.NewTextHandler(testlog.Writer(t), nil))
	st, err := store.Open(w.dir, log)
	if err != nil {
		t.Fatal(err)
	}
	w.store = st
	w.jobs = jobs.New(jobs.Config{Store: st, Exe: os.Args[0], Log: log, Cores: cores})
	feeds := feed.NewServer(feed.Config{Store: st, Log: log, Version: "test"})
	server := New(Config{Store: st, Feeds: feeds, Jobs: w.jobs, Log: log, Version: "test",
		Stop: func() { w.stopped() }})
	w.server = server
	change(server)
	short, err := os.MkdirTemp("", "api") // the path of t.TempDir may be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(short, "control.sock")
	w.socket = path
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	w.feedPath = filepath.Join(short, "feed.sock")
	feedListener, err := net.ListenUnix("unix", &net.UnixAddr{Name: w.feedPath, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	served, fed := make(chan error, 1), make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	go func() { fed <- feeds.Serve(feedListener) }()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn,
		error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}}
	w.client = &http.Client{Transport: transport}
	t.Cleanup(func() {
		w.jobs.Close()
		transport.CloseIdleConnections()
		feedListener.Close()
		feeds.Close()
		for name, err := range map[string]error{"server": server.Close(), "serve": <-served,
			"feeds": <-fed, "store": st.Close()} {
			if err != nil {
				t.Error(name, err)
			}
		}
		w.checkNoTempFiles()
		os.RemoveAll(short)
	})
	return w
}

func (w *world) checkNoTempFiles() {
	w.Helper()
	left, err := os.ReadDir(filepath.Join(w.dir, "tmp"))
	if err != nil || len(left) > 0 {
		w.Errorf("%v is left in tmp, %v", left, err)
	}
}

// response is an HTTP response with its body.
type response struct {
	status int
	header http.Header
	body   []byte
}

// do sends a request and compares request and response with the OpenAPI document.
func (w *world) do(method, path string, body any) response {
	w.Helper()
	var payload []byte
	switch b := body.(type) {
	case nil:
	case string:
		payload = []byte(b)
	default:
		payload = asJSON(b)
	}
	a := w.doUnchecked(method, path, payload)
	if err := contractError(method, path, payload, a); err != nil {
		w.Errorf("%s %s answered %d: %v", method, path, a.status, err)
	}
	return a
}

func (w *world) doUnchecked(method, path string, payload []byte) response {
	w.Helper()
	req, err := http.NewRequestWithContext(w.Context(), method, "http://localhost"+path,
		bytes.NewReader(payload))
	if err != nil {
		w.Fatal(err)
	}
	res, err := w.client.Do(req)
	if err != nil {
		w.Fatal(err)
	}
	return readResponse(w, res)
}

// readResponse reads a response with its body.
func readResponse(t testing.TB, res *http.Response) response {
	t.Helper()
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response{res.StatusCode, res.Header, b}
}

func asJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// decode decodes the body of a successful response.
func (w *world) decode(a response, status int, into any) {
	w.Helper()
	if a.status != status || a.header.Get("Content-Type") != "application/json" {
		w.Fatalf("%d of %s, want %d of JSON: %s", a.status, a.header.Get("Content-Type"),
			status, a.body)
	}
	if err := wire.Strict(a.body, into); err != nil {
		w.Fatal(err)
	}
}

// decodeProblem decodes a problem, which must have a known type.
func (w *world) decodeProblem(a response) *wire.Problem {
	w.Helper()
	var p wire.Problem
	if a.status < 400 || a.header.Get("Content-Type") != "application/problem+json" {
		w.Fatalf("%d of %s, want a problem: %s", a.status, a.header.Get("Content-Type"), a.body)
	}
	if err := wire.Strict(a.body, &p); err != nil {
		w.Fatal(err)
	}
	if known := wire.NewProblem(p.Type, ""); known.Type != p.Type || known.Title != p.Title ||
		known.Status != p.Status || p.Status != a.status || p.Detail == "" {
		w.Fatalf("no problem of a known type: %d %+v", a.status, p)
	}
	return &p
}

// wantProblem wants a problem of a type whose detail contains a text.
func (w *world) wantProblem(a response, typ, says string) {
	w.Helper()
	if p := w.decodeProblem(a); p.Type != typ || !strings.Contains(p.Detail, says) {
		w.Errorf("got %+v\nwant %s with %q", p, typ, says)
	}
}

// source writes a source file.
func (w *world) source(name, text string) string {
	w.Helper()
	path := filepath.Join(w.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
	return path
}

// load starts a load and waits for its end.
func (w *world) load(name string, options map[string]any) wire.Job {
	w.Helper()
	var job wire.Job
	w.decode(w.do("POST", "/v1/datasets/"+name+"/load", options), 202, &job)
	for !job.Ended() {
		w.decode(w.do("GET", "/v1/jobs/"+job.Job+"?wait_ms=20000", nil), 200, &job)
	}
	return job
}

// loadETTh1 loads ETTh1 and returns its name.
func (w *world) loadETTh1() string {
	w.Helper()
	path, err := filepath.Abs("../examples/data/ETTh1.csv")
	if err != nil {
		w.Fatal(err)
	}
	if job := w.load("etth1",
		map[string]any{"sources": []string{path}, "time": "date"}); job.State != wire.JobDone {
		w.Fatalf("%+v", job.Error)
	}
	return "etth1"
}
