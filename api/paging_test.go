package api

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// TestAnyPageSizeGivesTheListOnce reads lists page by page, also while entries of earlier pages are
// removed.
func TestAnyPageSizeGivesTheListOnce(t *testing.T) {
	var names []string
	for i := range 12 {
		names = append(names, fmt.Sprintf("j%d", i+1))
	}
	self := func(s string) string { return s }
	for limit := 1; limit <= 13; limit++ {
		for _, removing := range []bool{false, true} {
			var got []string
			left := slices.Clone(names)
			for p := (pageRequest{limit: limit}); ; {
				some, next := cutPage(p, left, self, compareNumbered)
				got = append(got, some...)
				if len(some) > limit || next != nil && *next != some[len(some)-1] {
					t.Fatalf("limit %d: %v, next %v", limit, some, next)
				}
				if next == nil {
					break
				}
				p.after = *next
				if removing {
					left = slices.DeleteFunc(left, func(s string) bool { return s == p.after })
				}
			}
			if !slices.Equal(got, names) {
				t.Errorf("limit %d: %v", limit, got)
			}
		}
	}
}

func TestListsComeInPages(t *testing.T) {
	w := newWorld(t)
	path := w.source("a.csv", "a\n1\n")
	for _, name := range []string{"c", "a", "b"} {
		if job := w.load(name,
			map[string]any{"sources": []string{path}}); job.Kind != wire.LoadJob ||
			job.State != wire.JobDone {
			t.Fatalf("%+v", job)
		}
	}
	var some wire.Datasets
	w.decode(w.do("GET", "/v1/datasets?limit=2", nil), 200, &some)
	if len(some.Datasets) != 2 || some.Datasets[0].Dataset != "a" || some.Next == nil ||
		*some.Next != "b" {
		t.Errorf("%+v", some)
	}
	w.decode(w.do("GET", "/v1/datasets?limit=2&after=b", nil), 200, &some)
	if len(some.Datasets) != 1 || some.Datasets[0].Dataset != "c" || some.Next != nil {
		t.Errorf("%+v", some)
	}
	var jobs wire.Jobs
	w.decode(w.do("GET", "/v1/jobs?limit=1&after=j1", nil), 200, &jobs)
	if len(jobs.Jobs) != 1 || jobs.Jobs[0].Job != "j2" || jobs.Next == nil || *jobs.Next != "j2" {
		t.Errorf("%+v", jobs)
	}
	w.decode(w.do("GET", "/v1/jobs?state=done&dataset=b", nil), 200, &jobs)
	if len(jobs.Jobs) != 1 || jobs.Jobs[0].Dataset != "b" {
		t.Errorf("%+v", jobs)
	}
	w.decode(w.do("GET", "/v1/jobs?state=running", nil), 200, &jobs)
	if len(jobs.Jobs) != 0 || jobs.Jobs == nil {
		t.Errorf("%+v", jobs)
	}
	for query, says := range map[string]string{
		"datasets?limit=0":    `limit: got "0", want a whole number from 1 to 1000`,
		"datasets?limit=1001": `limit: got "1001", want`,
		"datasets?limit=":     `limit: got "", want`,
		"jobs?after=x":        `after: got "x", want the next of the previous page, as j12`,
		"jobs?after=j01":      `after: got "j01", want`,
		"feeds?after=j1":      `after: got "j1", want the next of the previous page, as f12`,
		"jobs?state=":         `state: got "", want queued, running, done, failed, cancelled`,
	} {
		w.wantProblem(w.do("GET", "/v1/"+query, nil), wire.InvalidRequest, says)
	}
}

func TestADatasetThatTheClientHasIsNotSentAgain(t *testing.T) {
	w := newWorld(t)
	w.loadETTh1()
	tag := w.do("GET", "/v1/datasets/etth1", nil).header.Get("ETag")
	if len(tag) != 18 || tag[0] != '"' {
		t.Fatalf("ETag: %s", tag)
	}
	ask := func(path, value string) response {
		return w.sendRaw("GET " + path +
			" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nIf-None-Match: " +
			value + "\r\n\r\n")
	}
	for value, status := range map[string]int{tag: 304, "W/" + tag: 304, `"x", ` + tag: 304,
		"*": 304, `"x"`: 200, strings.Trim(tag, `"`): 200, "": 200} {
		if a := ask("/v1/datasets/etth1", value); a.status != status ||
			len(a.body) > 0 == (status == 304) || a.header.Get("ETag") != tag {
			t.Errorf("%s: %d with %d bytes, ETag %s", value, a.status, len(a.body),
				a.header.Get("ETag"))
		}
	}
	h, err := w.store.Acquire("etth1", 0) // one more reader changes the body
	if err != nil {
		t.Fatal(err)
	}
	defer h.Release()
	if a := ask("/v1/datasets/etth1", tag); a.status != 200 || a.header.Get("ETag") == tag {
		t.Errorf("%d, ETag %s", a.status, a.header.Get("ETag"))
	}
}

func TestADaemonThatStopsIsNotReady(t *testing.T) {
	w := newWorld(t)
	var r wire.Ready
	w.decode(w.do("GET", "/v1/ready", nil), 200, &r)
	w.do("POST", "/v1/stop", nil)
	w.wantProblem(w.do("GET", "/v1/ready", nil), wire.ShuttingDown, "")
}
