package api

import (
	"os"
	"testing"

	"github.com/tensorcache/tensorcache/internal/wire"
)

func TestALoadRunsUntilItsLastOwnerLeaves(t *testing.T) {
	w := newWorld(t)
	options := map[string]any{"sources": []string{w.source("a.csv", "a\n1\n")}}
	w.Setenv(blockedVariable, "read")
	var first, second, job wire.Job
	w.decode(w.do("POST", "/v1/datasets/d/load", options), 202, &first)
	w.decode(w.do("POST", "/v1/datasets/d/load", options), 202, &second)
	if first.Job != second.Job || first.Owner == "" || first.Owner == second.Owner {
		t.Fatalf("%+v\n%+v", first, second)
	}
	if w.decode(w.do("DELETE", "/v1/jobs/"+first.Job+"?owner="+first.Owner, nil), 200,
		&job); job.State != wire.JobRunning {
		t.Errorf("one of two has left: %+v", job)
	}
	w.wantProblem(w.do("DELETE", "/v1/jobs/"+first.Job+"?owner="+first.Owner, nil),
		wire.InvalidRequest, "does not wait for job "+first.Job)
	if w.decode(w.do("DELETE", "/v1/jobs/"+first.Job+"?owner="+second.Owner, nil), 200,
		&job); job.State != wire.JobCancelled {
		t.Errorf("both have left: %+v", job)
	}
	os.Unsetenv(blockedVariable)
	if again := w.load("d", options); again.State != wire.JobDone || again.Job == first.Job {
		t.Errorf("%+v", again)
	}
}

func TestADeleteWithoutAnOwnerCancelsForAll(t *testing.T) {
	w := newWorld(t)
	options := map[string]any{"sources": []string{w.source("a.csv", "a\n1\n")}}
	w.Setenv(blockedVariable, "read")
	var job wire.Job
	for range 2 {
		w.decode(w.do("POST", "/v1/datasets/d/load", options), 202, &job)
	}
	if w.decode(w.do("DELETE", "/v1/jobs/"+job.Job, nil), 200,
		&job); job.State != wire.JobCancelled {
		t.Errorf("%+v", job)
	}
}
