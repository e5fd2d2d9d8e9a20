package api

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/tensorcache/tensorcache/internal/jobs"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
	"github.com/tensorcache/tensorcache/store"
)

// appendRows starts an append and waits for its end.
func (w *world) appendRows(name string, body map[string]any) wire.Job {
	w.Helper()
	var job wire.Job
	w.decode(w.do("POST", "/v1/datasets/"+name+"/append", body), 202, &job)
	for !job.Ended() {
		w.decode(w.do("GET", "/v1/jobs/"+job.Job+"?wait_ms=20000", nil), 200, &job)
	}
	return job
}

// columnValues returns an integer column of a dataset's newest generation, and that generation.
func (w *world) columnValues(dataset, name string) ([]int64, *store.Handle) {
	w.Helper()
	h, err := w.store.Acquire(dataset, 0)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(h.Release)
	c, err := h.Data.Manifest.Column(name)
	if err != nil {
		w.Fatal(err)
	}
	v, err := layout.View[int64](h.Data, c)
	if err != nil {
		w.Fatal(err)
	}
	return v.Data, h
}

func TestAnAppendIsANewGenerationAndTheSameAgainIsAHit(t *testing.T) {
	w := newWorld(t)
	a, b := w.source("a.csv", "t,v\n1,10\n2,20\n"), w.source("b.csv", "t,v\n3,30\n")
	if job := w.load("d",
		map[string]any{"sources": []string{a}, "time": "t"}); job.Generation != 1 {
		t.Fatalf("%+v", job)
	}
	old, handle := w.columnValues("d", "v")
	job := w.appendRows("d", map[string]any{"sources": []string{b}})
	if job.State != wire.JobDone || job.Generation != 2 || job.Rows != 3 || job.Hit ||
		job.Progress != 1 {
		t.Fatalf("%+v", job)
	}
	if !slices.Equal(old, []int64{10, 20}) || handle.Generation != 1 {
		t.Errorf("who has the old generation reads %v of %d", old, handle.Generation)
	}
	if v, h := w.columnValues("d", "v"); !slices.Equal(v, []int64{10, 20, 30}) ||
		len(h.Data.Manifest.Sources) != 2 {
		t.Errorf("%v from %v", v, h.Data.Manifest.Sources)
	}
	for _, again := range [][]string{{b}, {a, b}, {a}} {
		if job := w.appendRows("d", map[string]any{"sources": again}); !job.Hit ||
			job.Generation != 2 || job.Rows != 3 {
			t.Errorf("%v again: %+v", again, job)
		}
	}
	c := w.source("c.csv", "t,v\n4,40\n")
	if job := w.appendRows("d",
		map[string]any{"sources": []string{a, c, b}}); job.Generation != 3 ||
		job.Rows != 4 {
		t.Errorf("one new source among old ones: %+v", job)
	}
	// A load of all sources makes a new generation, not a hit on the appended one.
	if job := w.load("d", map[string]any{"sources": []string{a, b, c}, "time": "t"}); job.Hit ||
		job.Generation != 4 || job.Rows != 4 {
		t.Errorf("loaded: %+v", job)
	}
	w.checkNoTempFiles()
}

// touchTime is a modification time that files get.
var touchTime = time.Date(2033, 1, 2, 3, 4, 5, 0, time.UTC)

func TestAnAppendedSourceThatHasChangedIsRefused(t *testing.T) {
	w := newWorld(t)
	a := w.source("a.csv", "t,v\n1,10\n")
	hashed := map[string]any{"sources": []string{a}, "time": "t", "hash_sources": true}
	w.load("d", hashed)
	if err := os.Chtimes(a, touchTime, touchTime); err != nil {
		t.Fatal(err)
	}
	p := w.decodeProblem(
		w.do("POST", "/v1/datasets/d/append", map[string]any{"sources": []string{a}}))
	if p.Type != wire.SourceError ||
		p.Hint != "if it was only touched, say so with `hash_sources=true`" {
		t.Errorf("touched: %+v", p)
	}
	if job := w.appendRows("d",
		map[string]any{"sources": []string{a}, "hash_sources": true}); !job.Hit {
		t.Errorf("touched, by content: %+v", job)
	}
	if err := os.WriteFile(a, []byte("t,v\n1,10\n2,20\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if job := w.appendRows("d",
		map[string]any{"sources": []string{a},
			"hash_sources": true}); job.State != wire.JobFailedIn ||
		job.Error.Type != wire.SourceError {
		t.Errorf("changed: %+v", job)
	}
	w.wantProblem(w.do("POST", "/v1/datasets/d/append", map[string]any{"sources": []string{a}}),
		wire.SourceError, "was loaded before and has changed since")
	w.wantProblem(w.do("POST", "/v1/datasets/e/append", map[string]any{"sources": []string{a}}),
		wire.DatasetNotFound, "")
	w.wantProblem(w.do("POST", "/v1/datasets/d/append", map[string]any{"sources": []string{}}),
		wire.InvalidRequest, "at least one file")
	w.wantProblem(w.do("POST", "/v1/datasets/d/append",
		map[string]any{"sources": []string{a}, "time": "t"}), wire.InvalidRequest, "time")
	w.checkNoTempFiles()
}

func TestAFailedAppendLeavesTheDatasetAsItIs(t *testing.T) {
	w := newWorld(t)
	w.load("d", map[string]any{"sources": []string{w.source("a.csv", "t,v\n1,10\n")}, "time": "t"})
	job := w.appendRows("d", map[string]any{"sources": []string{w.source("b.csv", "t,v\n1,30\n")}})
	if job.State != wire.JobFailedIn || job.Error.Type != wire.SourceError {
		t.Errorf("%+v", job)
	}
	w.checkNoTempFiles()
	if v, h := w.columnValues("d", "v"); h.Generation != 1 || !slices.Equal(v, []int64{10}) {
		t.Errorf("%v of %d", v, h.Generation)
	}
}

// TestAppendsAtOnceAllCount runs several appends to one dataset at once. Each reads the newest
// generation, and must start again if another append has published before it.
func TestAppendsAtOnceAllCount(t *testing.T) {
	w := newWorld(t)
	w.load("d", map[string]any{"sources": []string{w.source("a.csv", "v\n0\n")}})
	want := []int64{0}
	var all sync.WaitGroup
	for i := range int64(4) {
		path := w.source("more.csv", fmt.Sprintf("v\n%d\n", i+1))
		want = append(want, i+1)
		all.Go(func() {
			if job := w.appendRows("d",
				map[string]any{"sources": []string{path}}); job.State != wire.JobDone {
				t.Errorf("%+v", job)
			}
		})
	}
	all.Wait()
	v, _ := w.columnValues("d", "v")
	if got := slices.Sorted(slices.Values(v)); !slices.Equal(got, want) {
		t.Errorf("%v", v)
	}
}

func TestArraysAreAppended(t *testing.T) {
	w := newWorld(t)
	put := func(r wire.PutRequest, values ...int32) (*wire.PutReply, error) {
		b := make([]byte, 0, 4*len(values))
		for _, v := range values {
			b = append(b, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
		}
		r.Dataset, r.Format = "mine", "columns"
		r.Columns = asJSON(
			[]map[string]any{{"name": "t", "dtype": "int32", "shape": []int{len(values)},
				"bytes": len(b)}})
		return w.put(t.Context(), r, func(f *os.File) { f.Write(b) })
	}
	if _, err := put(wire.PutRequest{Append: true}, 1); err == nil ||
		jobs.ProblemOf(err).Type != wire.DatasetNotFound {
		t.Errorf("to nothing: %v", err)
	}
	if _, err := put(wire.PutRequest{Options: asJSON(map[string]any{"time": "t"})}, 1,
		2); err != nil {
		t.Fatal(err)
	}
	if _, err := put(wire.PutRequest{Append: true, Options: asJSON(map[string]any{"time": "t"})},
		3); err == nil || jobs.ProblemOf(err).Field != "options" {
		t.Errorf("with options: %v", err)
	}
	reply, err := put(wire.PutRequest{Append: true}, 3, 4)
	if err != nil || reply.Generation != 2 || reply.Rows != 4 {
		t.Errorf("%+v, %v", reply, err)
	}
	if _, err := put(wire.PutRequest{Append: true}, 4); err == nil ||
		jobs.ProblemOf(err).Type != wire.SourceError {
		t.Errorf("the last row again: %v", err)
	}
	if v, _ := w.columnValues("mine", "t"); !slices.Equal(v, []int64{1, 2, 3, 4}) {
		t.Errorf("%v", v)
	}
	w.checkNoTempFiles()
}
