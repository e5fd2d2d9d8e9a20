//go:build faults

package main

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/tensorcache/tensorcache/internal/control"
	"github.com/tensorcache/tensorcache/internal/wire"
)

// pausedDaemon is a daemon whose loads wait at a point until they are released.
type pausedDaemon struct {
	*daemon
	pipe string
}

func startPausing(t *testing.T, dir, point string) *pausedDaemon {
	t.Helper()
	pipe := filepath.Join(t.TempDir(), "hold")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TENSORCACHE_HOLD", pipe)
	return &pausedDaemon{startServe(t, dir, "HOLD@"+point), pipe}
}

// startPaused starts a job and waits until it is paused. letGo continues it, or kills it; later
// jobs are treated in the same way.
func (h *pausedDaemon) startPaused(action, source string) (job wire.Job, letGo func()) {
	h.Helper()
	if err := h.client.Post(h.Context(), action, map[string]any{"sources": []string{source}},
		&job); err != nil {
		h.Fatal(err)
	}
	arrived := make(chan error, 1)
	var end *os.File
	go func() {
		var err error
		// blocks until the load opens the pipe for reading
		end, err = os.OpenFile(h.pipe, os.O_WRONLY, 0)
		arrived <- err
	}()
	go func() { // a job that ends early never opens the pipe
		ended, err := job, error(nil)
		for err == nil && !ended.Ended() {
			err = h.client.Get(h.Context(), "/v1/jobs/"+job.Job+"?wait_ms=10000", &ended)
		}
		if r, open := os.OpenFile(h.pipe, os.O_RDONLY|syscall.O_NONBLOCK, 0); open == nil &&
			err == nil {
			r.Close()
		}
	}()
	if err := <-arrived; err != nil {
		h.Fatal(err)
	}
	var now wire.Job
	if err := h.client.Get(h.Context(), "/v1/jobs/"+job.Job, &now); err != nil ||
		now.State != wire.JobRunning {
		h.Fatalf("the job was not held: %+v, %v", now, err)
	}
	return job, func() {
		h.Helper()
		if err := errors.Join(os.Remove(h.pipe), os.WriteFile(h.pipe, nil, 0o600),
			end.Close()); err != nil {
			h.Fatal(err)
		}
	}
}

func (h *pausedDaemon) end(job wire.Job, cancel bool) (ended wire.Job) {
	h.Helper()
	ask := h.client.Get
	if cancel {
		ask = h.client.Delete
	}
	err := ask(h.Context(), "/v1/jobs/"+job.Job, &ended)
	for err == nil && !ended.Ended() {
		err = h.client.Get(h.Context(), "/v1/jobs/"+job.Job+"?wait_ms=10000", &ended)
	}
	if err != nil {
		h.Fatal(err)
	}
	return ended
}

func TestAJobCancelledInAnyPhaseLeavesNothingAndTheNextWorks(t *testing.T) {
	dir, source := newFaultTest(t)
	for _, test := range []struct{ point, action string }{
		{"ingest.count", "d/load"}, {"create", "d/load"}, {"reserve", "d/load"},
		{"ingest.fill", "d/load"}, {"ingest.order", "d/load"}, {"ingest.finish", "d/load"},
		{"manifest", "d/load"},
		{"ingest.count", "keep/append"}, {"ingest.join", "keep/append"},
		{"manifest", "keep/append"},
	} {
		t.Run(test.point+" "+filepath.Base(test.action), func(t *testing.T) {
			h := startPausing(t, dir, test.point)
			more := filepath.Join(t.TempDir(), "b.csv")
			if err := os.WriteFile(more, []byte("a\n4.5\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			job, letGo := h.startPaused("/v1/datasets/"+test.action, more)
			if ended := h.end(job, true); ended.State != wire.JobCancelled ||
				ended.Error.Type != wire.Cancelled {
				t.Errorf("%+v (%+v)", ended, ended.Error)
			}
			h.checkOnlyKeep()
			letGo()
			if job, err := h.load("d", source); err != nil || job.State != wire.JobDone {
				t.Errorf("the next load: %+v (%+v), %v", job, job.Error, err)
			}
			var removed wire.Removed
			if err := h.client.Delete(t.Context(), control.Dataset("d", ""), &removed); err != nil {
				t.Fatal(err)
			}
			h.checkOnlyKeep()
			h.stop()
		})
	}
}

// TestAJobCancelledWhileItIsPublishedIsDone is needed because the rename is atomic.
func TestAJobCancelledWhileItIsPublishedIsDone(t *testing.T) {
	dir, source := newFaultTest(t)
	h := startPausing(t, dir, "publish")
	job, letGo := h.startPaused("/v1/datasets/d/load", source)
	cancelled := make(chan wire.Job)
	go func() { cancelled <- h.end(job, true) }()
	letGo()
	if ended := <-cancelled; ended.State != wire.JobDone || ended.Generation != 1 {
		t.Errorf("%+v (%+v)", ended, ended.Error)
	}
	var removed wire.Removed
	if err := h.client.Delete(t.Context(), control.Dataset("d", ""), &removed); err != nil {
		t.Fatal(err)
	}
	h.checkOnlyKeep()
	h.stop()
}

// TestADatasetRemovedUnderAnAppendIsNotFound removes the dataset at several points of the append.
func TestADatasetRemovedUnderAnAppendIsNotFound(t *testing.T) {
	for _, point := range []string{"ingest.count", "ingest.join", "publish"} {
		t.Run(point, func(t *testing.T) {
			dir, source := newFaultTest(t)
			h := startPausing(t, dir, point)
			more := filepath.Join(t.TempDir(), "b.csv")
			if err := os.WriteFile(more, []byte("a\n4.5\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			job, letGo := h.startPaused("/v1/datasets/keep/append", more)
			var removed wire.Removed
			err := h.client.Delete(t.Context(), control.Dataset("keep", ""), &removed)
			if err != nil {
				t.Fatal(err)
			}
			letGo()
			if ended := h.end(job, false); ended.State != wire.JobFailedIn ||
				ended.Error.Type != wire.DatasetNotFound {
				t.Errorf("%+v (%+v)", ended, ended.Error)
			}
			if job, err := h.load("keep", source); err != nil || job.State != wire.JobDone ||
				job.Generation != 1 {
				t.Errorf("loaded again: %+v (%+v), %v", job, job.Error, err)
			}
			h.checkOnlyKeep()
			h.stop()
		})
	}
}
