package api

import (
	"strings"
	"testing"
	"time"

	"github.com/valyala/fasthttp"
)

// longest is how long the slowest answer to a made-up request may take before it counts as hung, on a busy machine.
const longest = 20 * time.Second

// FuzzTheControlAPI asks any route by any method with any query and body, as over TCP, and holds what is answered to the OpenAPI
// document. No answer is a failure of the daemon's.
func FuzzTheControlAPI(f *testing.F) {
	plan := `{"generation": 0, "spec": {"context_length": 3, "prediction_length": 2, "stride": 1, "rows": [0, -1], "max_missing": null}, "cuts": [{"where": {"rows": [0, 50]}}], "split": {"fractions": [0.8, 0.2]}, "options": {"order": "shuffle", "batch_size": 4}, "per_item": [0, 1]`
	for i, r := range routes {
		for _, query := range []string{"", "limit=2&after=a", "code=0&from=-3&to=9&points=5", "wait_ms=0", "state=done&dataset=d", "item=null&format=arrow"} {
			f.Add(uint8(i), r.method, "d", query, "")
		}
		if r.method == "POST" {
			for _, body := range []string{
				"null", "[null]", "{}", `{"sources": [null]}`, `{"sources": ["/nowhere/a.csv"], "dtype": "float32"}`, plan + "}", plan + `, "code": 0, "numbers": [0]}`, plan + `, "code": 0, "row": 7}`,
				`{"spec": {"context_length": 9223372036854775807}}`, `{"generation": -1}`, `{"when_idle": false}`,
			} {
				f.Add(uint8(i), r.method, "d", "", body)
			}
		}
	}
	w := newWorld(f)
	w.openTCP()
	if job := w.load("d", map[string]any{"sources": []string{w.source("d.csv", "id,x,y\n1,1,2\n1,2,4\n1,3,6\n1,4,8\n1,5,\n1,6,12\n2,1,2\n2,2,4\n")}, "item_id": []string{"id"}}); job.Error != nil {
		f.Fatal(job.Error)
	}
	f.Fuzz(func(t *testing.T, at uint8, method, arg, query, body string) {
		r := routes[int(at)%len(routes)]
		if method == "DELETE" && r.path == "/v1/datasets/{name}" {
			return // the others need it
		}
		var ctx fasthttp.RequestCtx
		var req fasthttp.Request
		path := fill(r.path, arg)
		req.Header.SetMethod(method)
		req.SetRequestURI("http://localhost" + path + "?" + query)
		req.SetBodyString(body)
		ctx.Init(&req, nil, nil)
		done := make(chan struct{})
		go func() {
			defer close(done)
			w.server.answer(&ctx)
		}()
		select {
		case <-done:
		case <-time.After(longest):
			t.Fatalf("%s %s hangs", method, path)
		}
		a := answer{status: ctx.Response.StatusCode(), header: map[string][]string{"Content-Type": {string(ctx.Response.Header.ContentType())}}}
		if ctx.Response.IsBodyStream() {
			if err := ctx.Response.CloseBodyStream(); err != nil {
				t.Error(err)
			}
		} else {
			a.body = ctx.Response.Body()
		}
		if a.status >= 500 && a.status != 503 { // it is told to stop, too
			t.Errorf("%s %s?%s %q answered %d: %s", method, path, query, body, a.status, a.body)
		}
		if string(ctx.Method()) != "HEAD" && strings.HasSuffix(a.header.Get("Content-Type"), "json") && a.status >= 400 {
			if err := fits("#/components/schemas/Problem", a.body); err != nil {
				t.Error(err)
			}
		}
		if a.status < 300 && len(a.body) > 0 && query == "" {
			if err := breach(string(ctx.Method()), path, []byte(body), a); err != nil {
				t.Errorf("%s %s %q: %v", method, path, body, err)
			}
		}
	})
}

// fill puts an argument into a route's path.
func fill(path, arg string) string {
	escaped := string(fasthttp.AppendQuotedArg(nil, []byte(arg)))
	out := ""
	for i := 0; i < len(path); i++ {
		if path[i] == '{' {
			out += escaped
			for path[i] != '}' {
				i++
			}
			continue
		}
		out += path[i : i+1]
	}
	return out
}
