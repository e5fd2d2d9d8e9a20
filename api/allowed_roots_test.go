package api

import (
	"path/filepath"
	"testing"

	"github.com/valyala/fasthttp"

	"github.com/tensorcache/tensorcache/internal/wire"
)

func TestOverTCPSourcesLieBelowTheRootsOnly(t *testing.T) {
	w := newWorld(t)
	d := w.openTCP()
	path := w.source("a.csv", "a\n1\n")
	load, grow := string(asJSON(map[string]any{"sources": []string{path}})), "/v1/datasets/a/append"
	const says = "is outside the folders"

	w.wantProblem(d.do("POST", "/v1/datasets/a/load", load), wire.Forbidden, says)
	// the message does not say whether the file exists
	w.wantProblem(d.do("POST", "/v1/datasets/a/load", `{"sources": ["/no/such/file"]}`),
		wire.Forbidden, says)
	if p := w.decodeProblem(d.do("POST", "/v1/datasets/a/load", load)); p.Hint == "" ||
		p.Field != "sources" {
		t.Errorf("%+v", p)
	}
	w.wantProblem(d.do("POST", "/v1/datasets/a/load", `{"sources": ["`+path+`"], "reach": {}}`),
		wire.InvalidRequest, `unknown field "reach"`)
	w.wantProblem(d.do("POST", "/v1/datasets/a/load", `{"sources": ["`+path+
		`"], "AllowedRoots": {"limited": false}}`), wire.InvalidRequest,
		`unknown field "AllowedRoots"`)
	// over the socket it is allowed
	if job := w.load("a", map[string]any{"sources": []string{path}}); job.State != wire.JobDone {
		t.Fatalf("%+v", job)
	}
	// also if it would be a hit
	w.wantProblem(d.do("POST", "/v1/datasets/a/load", load), wire.Forbidden, says)
	w.wantProblem(d.do("POST", grow, load), wire.Forbidden, says)

	w.server.Roots = []string{filepath.Dir(path)}
	var job wire.Job
	for _, where := range []string{"/v1/datasets/a/load", "/v1/datasets/b/load", grow} {
		w.decode(d.do("POST", where, load), 202, &job)
		for !job.Ended() {
			w.decode(d.do("GET", "/v1/jobs/"+job.Job+"?wait_ms=20000", ""), 200, &job)
		}
		if job.State != wire.JobDone {
			t.Errorf("%s: %+v", where, job.Error)
		}
	}
}

// TestOverTheSocketOtherUsersAreLimitedToTheRoots marks requests as handleSocket does: a test cannot
// connect as another user.
func TestOverTheSocketOtherUsersAreLimitedToTheRoots(t *testing.T) {
	w := newWorld(t)
	for _, other := range []bool{false, true} {
		var ctx fasthttp.RequestCtx
		ctx.Init2(overSocket, nil, false)
		setOtherUser(&ctx, other)
		if roots := w.server.allowedRoots(&ctx); roots.Limited != other {
			t.Errorf("other user %v: %+v", other, roots)
		}
	}
}
