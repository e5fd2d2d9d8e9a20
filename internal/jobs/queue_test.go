package jobs

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
	"github.com/tensorcache/tensorcache/store"
)

func TestOnlyTheLastJobsAreRemembered(t *testing.T) {
	q := newTestQueue(t, 1)
	for range maxRemembered + 5 {
		job, ctx, _, err := q.add(wire.Job{Kind: wire.PutJob, Dataset: "d"}, "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := q.run(ctx, job, func(context.Context, *Job) (result, error) {
			return result{}, errors.New("not today")
		}); err == nil {
			t.Fatal("it did not fail")
		}
		q.running.Done()
	}
	if list := q.List(); len(list) != maxRemembered || list[0].Job != "j6" {
		t.Errorf("%d jobs from %s on", len(list), list[0].Job)
	}
	_, err := q.Find("j1")
	if p := ProblemOf(err); p.Type != wire.JobNotFound ||
		p.Detail != `no job is named "j1"; the last 100 are remembered` {
		t.Errorf("%+v", p)
	}
}

func TestAPanicOfALoadIsItsError(t *testing.T) {
	_, err := doRecovering(t.Context(), nil, nil)
	if p := ProblemOf(err); p.Type != wire.Internal || !strings.Contains(p.Detail, "nil pointer") {
		t.Errorf("%+v", p)
	}
}

// startBlocked starts a job whose work lasts until the job is cancelled or release is closed.
func startBlocked(t *testing.T, q *Queue, kind, key string, release chan struct{}) wire.Job {
	t.Helper()
	state, err := q.start(kind, "d", key, func(ctx context.Context, job *Job) (result, error) {
		select {
		case <-ctx.Done():
			return result{}, ctx.Err()
		case <-release:
			return result{generation: 1, manifest: &layout.Manifest{Rows: 7}}, nil
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return state
}

func TestTheQueueRunsAsManyLoadsAsThereAreCores(t *testing.T) {
	q, release := newTestQueue(t, 3), make(chan struct{})
	check := func(want ...int) { // cores of each job, 0 for one that is queued
		t.Helper()
		for i, job := range q.List() {
			if job.Cores != want[i] || job.State == wire.JobQueued != (want[i] == 0) {
				t.Errorf("%s is %s on %d cores, want %d", job.Job, job.State, job.Cores, want[i])
			}
		}
	}
	for range 4 {
		startBlocked(t, q, wire.LoadJob, "", release)
	}
	check(1, 1, 1, 0)
	startBlocked(t, q, wire.PutJob, "", release)
	check(1, 1, 1, 0, 1) // a put starts at once
	if n := q.Running(); n != 5 {
		t.Errorf("%d jobs have not ended, want 5", n)
	}
	if state, err := q.Cancel("j1", ""); err != nil || state.State != wire.JobCancelled {
		t.Fatalf("%+v, %v", state, err)
	}
	if job, err := q.Find("j4"); err != nil || job.State().State != wire.JobRunning {
		t.Errorf("%+v, %v", job.State(), err)
	}
	changed := q.Changes()
	close(release)
	<-changed
	for _, id := range []string{"j2", "j3", "j4", "j5"} {
		if state, err := q.Wait(id, testTimeout); err != nil || state.State != wire.JobDone ||
			state.Progress != 1 || state.Rows != 7 || state.Cores != 0 {
			t.Errorf("%+v, %v", state, err)
		}
	}
	totals := q.Totals()
	if q.Ended() != 5 || totals.Ended[KindState{wire.LoadJob, wire.JobDone}] != 3 ||
		totals.Ended[KindState{wire.LoadJob, wire.JobCancelled}] != 1 ||
		totals.Rows[wire.PutJob] != 7 {
		t.Errorf("%+v", totals)
	}
}

func TestTheSameJobRunsOnceUntilItsLastOwnerLeaves(t *testing.T) {
	q, release := newTestQueue(t, 2), make(chan struct{})
	first := startBlocked(t, q, wire.LoadJob, "k", release)
	second := startBlocked(t, q, wire.LoadJob, "k", release)
	other := startBlocked(t, q, wire.LoadJob, "l", release)
	if second.Job != first.Job || second.Owner == first.Owner || other.Job == first.Job {
		t.Fatalf("%+v\n%+v\n%+v", first, second, other)
	}
	if state, err := q.Cancel(first.Job, first.Owner); err != nil ||
		state.State != wire.JobRunning {
		t.Errorf("%+v, %v", state, err)
	}
	if _, err := q.Cancel(first.Job, first.Owner); ProblemOf(err).Type != wire.InvalidRequest {
		t.Errorf("an owner left twice: %v", err)
	}
	if state, err := q.Cancel(first.Job, second.Owner); err != nil ||
		state.State != wire.JobCancelled {
		t.Errorf("%+v, %v", state, err)
	}
	q.Close()
	if state, err := q.Wait(other.Job, 0); err != nil || state.State != wire.JobCancelled {
		t.Errorf("after Close: %+v, %v", state, err)
	}
	if _, err := q.start(wire.LoadJob, "d", "k", nil); !errors.Is(err, store.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}
