//go:build faults

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tensorcache/tensorcache/internal/control"
	"github.com/tensorcache/tensorcache/internal/wire"
)

// startServe starts a daemon with a planted fault.
func startServe(t *testing.T, dir, planted string) *daemon {
	t.Helper()
	return startFaulty(t, dir, planted, os.Args[0], "serve", "--dir", dir, "--ready-fd", "3")
}

// checkOnlyKeep checks that the daemon has exactly the dataset keep, and no files of an unfinished
// load.
func (d *daemon) checkOnlyKeep() {
	d.Helper()
	var list wire.Datasets
	if err := d.client.Get(d.Context(), "/v1/datasets", &list); err != nil {
		d.Fatal(err)
	}
	if len(list.Datasets) != 1 || list.Datasets[0].Dataset != "keep" ||
		list.Datasets[0].Generation != 1 {
		d.Errorf("the daemon has %+v, want keep alone", list.Datasets)
	}
	var plan wire.PlanReply
	if err := d.client.Post(d.Context(), control.Dataset("keep", "/plan"),
		map[string]any{"spec": map[string]any{"context_length": 2}}, &plan); err != nil ||
		plan.Windows != 2 {
		d.Errorf("keep has %d windows, %v", plan.Windows, err)
	}
	for _, sub := range []string{"tmp", "datasets/d"} {
		if left, err := os.ReadDir(filepath.Join(d.dir, sub)); len(left) > 0 || err != nil &&
			!os.IsNotExist(err) {
			d.Errorf("%v is left in %s, %v", left, sub, err)
		}
	}
}

// faultPoints are where a load writes to the disk; publish is in the daemon, all others are in the
// child.
var faultPoints = []string{"ingest.count", "create", "write", "write#2", "reserve", "map",
	"ingest.fill",
	"ingest.order", "ingest.finish", "create#2", "manifest", "publish"}

// newFaultTest returns a cache directory with the dataset keep, and a source.
func newFaultTest(t *testing.T) (dir, source string) {
	t.Helper()
	dir, source = t.TempDir(), filepath.Join(t.TempDir(), "a.csv")
	if err := os.WriteFile(source, []byte("a\n1.5\n2.5\n3.5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := startServe(t, dir, "")
	if job, err := d.load("keep", source); err != nil || job.State != wire.JobDone {
		t.Fatalf("%+v, %v", job, err)
	}
	d.stop()
	return dir, source
}

func TestAFullDiskAnywhereInALoadIsItsErrorAndLeavesNothing(t *testing.T) {
	dir, source := newFaultTest(t)
	for _, point := range faultPoints {
		t.Run(point, func(t *testing.T) {
			d := startServe(t, dir, "ENOSPC@"+point)
			for range 2 { // the daemon must still run
				job, err := d.load("d", source)
				if err != nil || job.State != wire.JobFailedIn || job.Error.Type != wire.NoSpace ||
					job.Error.Status != 507 || !strings.Contains(job.Error.Hint, "`dir`") {
					t.Fatalf("%+v (%+v), %v; want no_space", job, job.Error, err)
				}
				if name, _, _ := strings.Cut(point, "#"); !strings.Contains(job.Error.Detail,
					"fault at "+name) {
					t.Errorf("the detail is %q", job.Error.Detail)
				}
				d.checkOnlyKeep()
			}
			d.stop()
		})
	}
}

// TestAFullDiskAnywhereInAnAppendLeavesTheDatasetAsItIs plants the fault in loading the new rows,
// in joining them with the others, and in publishing.
func TestAFullDiskAnywhereInAnAppendLeavesTheDatasetAsItIs(t *testing.T) {
	dir, source := newFaultTest(t)
	more := filepath.Join(t.TempDir(), "b.csv")
	if err := os.WriteFile(more, []byte("a\n4.5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, point := range []string{
		"ingest.count", "create", "write", "reserve", "map", "ingest.fill", "ingest.order",
		"ingest.finish", "create#2", "manifest", "create#3", "write#3", "reserve#2", "map#2",
		"create#4", "ingest.join", "manifest#2", "publish",
	} {
		t.Run(point, func(t *testing.T) {
			d := startServe(t, dir, "ENOSPC@"+point)
			job, err := d.runJob(control.Dataset("keep", "/append"), more)
			if err != nil || job.State != wire.JobFailedIn || job.Error.Type != wire.NoSpace ||
				!strings.Contains(job.Error.Hint, "`dir`") {
				t.Errorf("%+v (%+v), %v; want no_space", job, job.Error, err)
			}
			d.checkOnlyKeep()
			d.stop()
		})
	}
	d := startServe(t, dir, "")
	defer d.stop()
	// in this order: after an append of more, source would be a hit
	for i, path := range []string{source, more} {
		job, err := d.runJob(control.Dataset("keep", "/append"), path)
		if err != nil || job.State != wire.JobDone || job.Rows != int64(3+i) ||
			job.Hit != (i == 0) {
			t.Errorf("with space again %+v (%+v), %v", job, job.Error, err)
		}
	}
}

func TestAnErrorOfTheDiskIsTheLoadsError(t *testing.T) {
	dir, source := newFaultTest(t)
	for _, point := range []string{"write", "manifest", "publish"} {
		t.Run(point, func(t *testing.T) {
			d := startServe(t, dir, "EIO@"+point)
			if job, err := d.load("d", source); err != nil || job.State != wire.JobFailedIn ||
				!strings.Contains(job.Error.Detail, "input/output error") {
				t.Errorf("%+v (%+v), %v", job, job.Error, err)
			}
			d.checkOnlyKeep()
			d.stop()
		})
	}
}

func TestALoadKilledAnywhereLeavesNothing(t *testing.T) {
	dir, source := newFaultTest(t)
	for _, point := range faultPoints {
		t.Run(point, func(t *testing.T) {
			d := startServe(t, dir, "KILL@"+point)
			job, err := d.load("d", source)
			if point == "publish" { // in the daemon itself
				if err == nil {
					t.Fatalf("the daemon lives and says %+v", job)
				}
				d.Wait()
				d = startServe(t, dir, "")
			} else if err != nil || job.State != wire.JobFailedIn ||
				job.Error.Type != wire.JobFailed ||
				!strings.Contains(job.Error.Detail, "signal 9") {
				t.Errorf("%+v (%+v), %v; want job_failed by signal 9", job, job.Error, err)
			}
			d.checkOnlyKeep()
			d.stop()
		})
	}
}

func TestARemovalKilledHalfWayLeavesNoCopyWithoutItsDataset(t *testing.T) {
	dir, _ := newFaultTest(t)
	d := startServe(t, dir, "KILL@remove#2")
	var job wire.Job
	if err := d.client.Post(t.Context(), control.Dataset("keep", "/scaled"), map[string]any{
		"spec": map[string]any{"context_length": 2}, "scale": "standard"}, &job); err != nil {
		t.Fatal(err)
	}
	for !job.Ended() {
		if err := d.client.Get(t.Context(), "/v1/jobs/"+job.Job+"?wait_ms=1000", &job); err != nil {
			t.Fatal(err)
		}
	}
	if job.State != wire.JobDone {
		t.Fatalf("%+v", job)
	}
	if err := d.client.Delete(t.Context(), control.Dataset("keep", ""), nil); err == nil {
		t.Fatal("the daemon lives")
	}
	d.Wait()
	d = startServe(t, dir, "")
	d.checkOnlyKeep()
	d.stop()
}
