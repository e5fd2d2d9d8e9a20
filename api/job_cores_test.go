package api

import (
	"fmt"
	"testing"
	"time"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// waitForJob polls a job until it is as wanted.
func (w *world) waitForJob(id string, is func(wire.Job) bool) (job wire.Job) {
	w.Helper()
	end := time.Now().Add(testTimeout)
	for tick := time.NewTicker(time.Millisecond); ; <-tick.C {
		w.decode(w.do("GET", "/v1/jobs/"+id, nil), 200, &job)
		if is(job) {
			return job
		}
		if time.Now().After(end) {
			w.Fatalf("still %+v", job)
		}
	}
}

// TestLoadsShareTheCoresAndWaitForTheirTurn runs child processes that report as rows how many cores
// they may use.
func TestLoadsShareTheCoresAndWaitForTheirTurn(t *testing.T) {
	w := newWorldOfCores(t, 3)
	w.Setenv(blockedVariable, blockedReportsCores)
	path := w.source("a.csv", "a\n1\n")
	begin := func(i int) string {
		var job wire.Job
		w.decode(w.do("POST", fmt.Sprintf("/v1/datasets/d%d/load", i),
			map[string]any{"sources": []string{path}}), 202, &job)
		return job.Job
	}
	use := func(want map[string]int) {
		t.Helper()
		sum := 0
		for id, cores := range want {
			w.waitForJob(id, func(j wire.Job) bool {
				return j.Cores == cores &&
					j.Rows == int64(cores)
			})
			sum += cores
		}
		if sum > 3 {
			t.Errorf("%d cores are in use", sum)
		}
	}
	a := begin(0)
	use(map[string]int{a: 3})
	b := begin(1)
	use(map[string]int{a: 2, b: 1})
	c := begin(2)
	use(map[string]int{a: 1, b: 1, c: 1})
	d, e := begin(3), begin(4)
	for _, id := range []string{d, e} {
		if j := w.waitForJob(id,
			func(j wire.Job) bool { return true }); j.State != wire.JobQueued ||
			j.Seconds != 0 || j.Cores != 0 ||
			j.EtaS != nil {
			t.Errorf("%+v", j)
		}
	}
	if n := w.jobs.Running(); n != 5 {
		t.Errorf("%d loads are under way, want 5 with those that wait", n)
	}
	cancel := func(id string) {
		t.Helper()
		var job wire.Job
		if w.decode(w.do("DELETE", "/v1/jobs/"+id, nil), 200,
			&job); job.State != wire.JobCancelled {
			t.Errorf("%+v", job)
		}
	}
	cancel(d) // while it is queued
	cancel(a)
	use(map[string]int{b: 1, c: 1, e: 1})
	cancel(b)
	cancel(e)
	use(map[string]int{c: 3})
	cancel(c)
}
