package api

import (
	"bufio"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/wire"
)

// etthSpec is the window of published benchmarks.
var etthSpec = map[string]any{"context_length": 336, "prediction_length": 96}

func TestEveryRouteAnswersItsMethodsAndNoOther(t *testing.T) {
	w := newWorld(t)
	w.loadETTh1()
	missing := map[string]any{"sources": []string{"/no/such.csv"}}
	requests := map[string]map[string]struct {
		body   any
		status int
	}{
		"/v1/health":                   {"GET": {nil, 200}},
		"/v1/datasets":                 {"GET": {nil, 200}},
		"/v1/datasets/etth1":           {"GET": {nil, 200}},
		"/v1/datasets/none":            {"GET": {nil, 404}, "DELETE": {nil, 404}},
		"/v1/datasets/none/load":       {"POST": {missing, 422}},
		"/v1/datasets/none/append":     {"POST": {missing, 422}},
		"/v1/datasets/etth1/plan":      {"POST": {map[string]any{"spec": etthSpec}, 200}},
		"/v1/datasets/etth1/verify":    {"POST": {nil, 202}},
		"/v1/datasets/none/verify":     {"POST": {nil, 404}},
		"/v1/datasets/none/plan":       {"POST": {map[string]any{"spec": etthSpec}, 404}},
		"/v1/datasets/etth1/runs":      {"POST": {map[string]any{"spec": etthSpec}, 200}},
		"/v1/datasets/none/runs":       {"POST": {map[string]any{"spec": etthSpec}, 404}},
		"/v1/openapi.json":             {"GET": {nil, 200}},
		"/v1/jobs":                     {"GET": {nil, 200}},
		"/v1/jobs/j1":                  {"GET": {nil, 200}, "DELETE": {nil, 200}},
		"/v1/jobs/j1/events":           {"GET": {nil, 200}},
		"/v1/jobs/none/events":         {"GET": {nil, 404}},
		"/v1/jobs/none":                {"GET": {nil, 404}, "DELETE": {nil, 404}},
		"/v1/feeds":                    {"GET": {nil, 200}},
		"/v1/feeds/f1":                 {"GET": {nil, 404}, "DELETE": {nil, 404}},
		"/v1/ready":                    {"GET": {nil, 200}},
		"/v1/stop":                     {"POST": {nil, 202}},
		"/":                            {"GET": {nil, 200}},
		"/assets/app.js":               {"GET": {nil, 200}},
		"/assets/none.js":              {"GET": {nil, 404}},
		"/assets":                      {},
		"/v1/datasets/etth1/items":     {"GET": {nil, 200}},
		"/v1/datasets/etth1/rows":      {"GET": {nil, 200}},
		"/v1/datasets/etth1/series":    {"GET": {nil, 200}},
		"/v1/datasets/none/items":      {"GET": {nil, 404}},
		"/v1/datasets/none/rows":       {"GET": {nil, 404}},
		"/v1/datasets/none/series":     {"GET": {nil, 404}},
		"/v1/datasets/etth1/stretches": {"POST": {map[string]any{"spec": etthSpec}, 200}},
		"/v1/datasets/none/stretches":  {"POST": {map[string]any{"spec": etthSpec}, 404}},
		"/v1/datasets/etth1/windows": {
			"POST": {map[string]any{"spec": etthSpec, "numbers": []int{0}},
				200},
		},
		"/v1/datasets/none/windows":  {"POST": {map[string]any{"spec": etthSpec, "row": 0}, 404}},
		"/v1":                        {},
		"/v1/":                       {},
		"/v2/health":                 {},
		"/v1/nothing":                {},
		"/v1/health/more":            {},
		"/v1/datasets/etth1/nothing": {},
		"/v1/datasets/a/b/c":         {},
		"/metrics":                   {"GET": {nil, 200}},
	}
	for _, path := range slices.Sorted(maps.Keys(requests)) { // so that stop comes last
		methods := requests[path]
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH",
			"DELETE", "OPTIONS"} {
			t.Run(method+path, func(t *testing.T) {
				w := *w
				w.TB = t
				want, ok := methods[method]
				if known := slices.Contains([]string{"/v1/datasets/none", "/v1/datasets/etth1"},
					path); known && method == "DELETE" && !ok {
					return // this would remove the dataset
				}
				a := w.do(method, path, want.body)
				switch {
				case ok && a.status != want.status:
					t.Errorf("answered %d, want %d: %s", a.status, want.status, a.body)
				case ok && a.status >= 400:
					w.decodeProblem(a)
				case method == "HEAD":
					if get, ok := methods["GET"]; len(a.body) > 0 || ok && a.status != get.status ||
						!ok && a.status != 404 && a.status != 405 {
						t.Errorf("answered %d with %q, GET %d", a.status, a.body, get.status)
					}
				case ok:
				case len(methods) == 0:
					w.wantProblem(a, wire.NotFound, "there is no route "+path)
				default:
					w.wantProblem(a, wire.MethodNotAllowed, method+" is not allowed for "+path)
					if allow := a.header.Get("Allow"); allow == "" ||
						strings.Contains(allow, method) {
						t.Errorf("Allow: %q", allow)
					}
				}
			})
		}
	}
}

func TestHealthDescribesTheDaemon(t *testing.T) {
	w := newWorld(t)
	var h wire.Health
	w.decode(w.do("GET", "/v1/health", nil), 200, &h)
	if h.Status != "ok" || h.Version != "test" || h.Protocols != wire.OwnProtocols ||
		h.PID != os.Getpid() || h.Dir != w.dir || h.UptimeS < 0 {
		t.Errorf("%+v", h)
	}
}

func TestADatasetIsListedShownAndRemoved(t *testing.T) {
	w := newWorld(t)
	w.loadETTh1()
	var list wire.Datasets
	w.decode(w.do("GET", "/v1/datasets", nil), 200, &list)
	if len(list.Datasets) != 1 {
		t.Fatalf("%+v", list)
	}
	d := list.Datasets[0]
	if d.Dataset != "etth1" || d.Generation != 1 || d.Rows != 17420 || d.Items != 1 ||
		strings.Join(d.Columns, " ") != "date HUFL HULL MUFL MULL LUFL LULL OT" ||
		d.Layout != "columns" || d.Bytes < 17420*8*8 || d.Readers != 0 || d.Manifest != nil {
		t.Errorf("%+v", d)
	}
	var one wire.Dataset
	w.decode(w.do("GET", "/v1/datasets/etth1", nil), 200, &one)
	if one.Manifest == nil || one.Manifest.Digest != d.Digest || len(d.Digest) != 32 ||
		!slices.Equal(one.Generations, []int64{1}) {
		t.Errorf("%+v", one)
	}
	w.wantProblem(w.do("GET", "/v1/datasets/eth1", nil), wire.DatasetNotFound,
		`no dataset is named "eth1"; near: etth1`)
	var removed wire.Removed
	w.decode(w.do("DELETE", "/v1/datasets/etth1", nil), 200, &removed)
	if removed.Dataset != "etth1" || !slices.Equal(removed.Removed, []int64{1}) {
		t.Errorf("%+v", removed)
	}
	w.wantProblem(w.do("DELETE", "/v1/datasets/etth1", nil), wire.DatasetNotFound,
		`no dataset is named "etth1"; there are none yet`)
}

func TestUndocumentedBodiesAreRefused(t *testing.T) {
	w := newWorld(t)
	for name, test := range map[string]struct{ path, body, typ, says string }{
		"unknown option": {"x/load", `{"source": ["/a"]}`, wire.InvalidRequest,
			`unknown field "source"`},
		"unknown in plan": {"x/plan", `{"specs": {}}`, wire.InvalidRequest,
			`unknown field "specs"`},
		"wrong type": {"x/load", `{"sources": "/a"}`, wire.InvalidRequest, "sources"},
		"no JSON":    {"x/load", `sources: /a`, wire.InvalidRequest, "invalid character"},
		"nothing":    {"x/load", ``, wire.InvalidRequest, "ends too early"},
		"split of runs": {"etth1/runs", `{"spec": {}, "split": {"lengths": [1, 2]}}`,
			wire.InvalidRequest, `unknown field "split"`},
		"options of runs": {"etth1/runs", `{"spec": {}, "options": {"batch_size": 2}}`,
			wire.InvalidRequest, `unknown field "options"`},
		"items of runs": {"etth1/runs", `{"spec": {}, "per_item": [0, 1]}`, wire.InvalidRequest,
			`unknown field "per_item"`},
		"mask of windows": {"etth1/windows", `{"spec": {}, "numbers": [0], "mask": true}`,
			wire.InvalidRequest, `unknown field "mask"`},
		"options of why": {"etth1/stretches", `{"spec": {}, "options": {"batch_size": 2}}`,
			wire.InvalidRequest, `unknown field "options"`},
		"two values": {"x/load", `{"sources": ["/a"]} {}`, wire.InvalidRequest,
			"more than one JSON value"},
		"an end too many": {"x/load", `{"sources": ["/a"]}}`, wire.InvalidRequest,
			"more than one JSON value"},
		"no sources": {"x/load", `{}`, wire.InvalidRequest,
			"sources: want at least one file"},
		"a relative path": {"x/load", `{"sources": ["a.csv"]}`, wire.InvalidRequest,
			`sources: "a.csv": want an absolute path`},
		"a bad name": {"-x/load", `{"sources": ["/a"]}`, wire.InvalidName,
			`"-x": use 1 to 100 of letters`},
		"a way out": {"..%2F..%2Fx/load", `{"sources": ["/a"]}`, wire.InvalidName,
			`"../../x": use 1 to 100 of letters`},
		"an unknown scale": {"x/load", `{"sources": ["/a"], "scale": "quantile"}`,
			wire.InvalidRequest,
			`scale: "quantile": want standard, minmax, robust, maxabs or none`},
		"a missing file": {"x/load", `{"sources": ["/no/such.csv"]}`, wire.SourceError,
			"/no/such.csv: no such file"},
		"a directory": {"x/load", `{"sources": ["/"]}`, wire.SourceError,
			"/: is a directory without " + files.FormatNames() + " files"},
		"a device": {"x/load", `{"sources": ["/dev/null"]}`, wire.SourceError,
			"/dev/null: is a device, want a file"},
	} {
		t.Run(name, func(t *testing.T) {
			w := *w
			w.TB = t
			w.wantProblem(w.do("POST", "/v1/datasets/"+test.path, test.body), test.typ, test.says)
		})
	}
	for _, ms := range []string{"-1", "30001", "soon", "1.5"} {
		w.wantProblem(w.do("GET", "/v1/jobs/j1?wait_ms="+ms, nil), wire.InvalidRequest,
			"wait_ms: got")
	}
}

func TestRequestsThatAreTooLargeAreRefused(t *testing.T) {
	w := newWorld(t)
	// The connection may be closed before a client has sent the whole body.
	w.wantProblem(w.sendRaw(
		"POST /v1/datasets/x/load HTTP/1.1\r\nHost: localhost\r\nContent-Length: 16777217\r\n\r\n"),
		wire.TooLarge, "the body is over 16777216 bytes")
	// In one write: the server may answer and close the connection before a second one.
	w.wantProblem(w.sendRaw(
		"GET /v1/health?"+strings.Repeat("x", maxHeaderBytes)+" HTTP/1.1\r\nHost: localhost\r\n\r\n"),
		wire.TooLarge, "the headers are over 8192 bytes")
}

func TestARequestThatIsNotHTTPGetsAProblem(t *testing.T) {
	w := newWorld(t)
	w.wantProblem(w.sendRaw("what is this\r\n\r\n"), wire.InvalidRequest, "")
}

// sendRaw sends bytes and reads a response.
func (w *world) sendRaw(request string) response {
	w.Helper()
	conn, err := w.client.Transport.(*http.Transport).DialContext(w.Context(), "", "")
	if err != nil {
		w.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte(request)); err != nil {
		w.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		w.Fatal(err)
	}
	return readResponse(w, res)
}

func TestAPanicOfAHandlerIsAProblem(t *testing.T) {
	w := newWorld(t)
	w.stopped = func() { panic("as asked") }
	w.wantProblem(w.do("POST", "/v1/stop", nil), wire.Internal, "the daemon failed: as asked")
	w.stopped = func() {}
	var s wire.Stopping
	w.decode(w.do("POST", "/v1/stop", nil), 202, &s)
	if s.PID != os.Getpid() {
		t.Errorf("%+v", s)
	}
}
