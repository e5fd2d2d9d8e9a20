package api

import (
	"path/filepath"
	"testing"

	"github.com/tensorcache/tensorcache/internal/wire"
)

func TestOverTCPSourcesLieBelowTheRootsOnly(t *testing.T) {
	w := newWorld(t)
	d := w.openTCP()
	path := w.source("a.csv", "a\n1\n")
	load, grow := string(asJSON(map[string]any{"sources": []string{path}})), "/v1/datasets/a/append"
	const says = "lies below none of the folders"

	w.wantProblem(d.request("POST", "/v1/datasets/a/load", load), wire.Forbidden, says)
	// and not whether it exists
	w.wantProblem(d.request("POST", "/v1/datasets/a/load", `{"sources": ["/no/such/file"]}`),
		wire.Forbidden, says)
	if p := w.decodeProblem(d.request("POST", "/v1/datasets/a/load", load)); p.Hint == "" ||
		p.Field != "sources" {
		t.Errorf("%+v", p)
	}
	w.wantProblem(d.request("POST", "/v1/datasets/a/load", `{"sources": ["`+path+`"], "reach": {}}`),
		wire.InvalidRequest, `unknown field "reach"`)
	w.wantProblem(d.request("POST", "/v1/datasets/a/load", `{"sources": ["`+path+
		`"], "AllowedRoots": {"limited": false}}`), wire.InvalidRequest,
		`unknown field "AllowedRoots"`)
	// over the socket
	if job := w.load("a", map[string]any{"sources": []string{path}}); job.State != wire.JobDone {
		t.Fatalf("%+v", job)
	}
	w.wantProblem(d.request("POST", "/v1/datasets/a/load", load), wire.Forbidden, says) // a hit too
	w.wantProblem(d.request("POST", grow, load), wire.Forbidden, says)

	w.server.Roots = []string{filepath.Dir(path)}
	var job wire.Job
	for _, where := range []string{"/v1/datasets/a/load", "/v1/datasets/b/load", grow} {
		w.decode(d.request("POST", where, load), 202, &job)
		for !job.Ended() {
			w.decode(d.request("GET", "/v1/jobs/"+job.Job+"?wait_ms=20000", ""), 200, &job)
		}
		if job.State != wire.JobDone {
			t.Errorf("%s: %+v", where, job.Error)
		}
	}
}
