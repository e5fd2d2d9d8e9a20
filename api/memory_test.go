package api

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tensorcache/tensorcache/internal/machine"
	"github.com/tensorcache/tensorcache/internal/wire"
)

func (w *world) dataset(name string) (d wire.Dataset) {
	w.Helper()
	w.decode(w.do("GET", "/v1/datasets/"+name, nil), 200, &d)
	return d
}

func TestADatasetIsUnloadedAndPinned(t *testing.T) {
	w := newWorld(t)
	name := w.loadETTh1()
	d := w.dataset(name)
	// The kernel may drop pages that are not pinned.
	if d.ResidentBytes == nil || *d.ResidentBytes == 0 ||
		*d.ResidentBytes > d.Bytes || d.PinnedBytes != 0 {
		t.Errorf("%v of %d bytes are in memory after the load, %d pinned", d.ResidentBytes, d.Bytes,
			d.PinnedBytes)
	}
	if f, err := machine.FilesystemOf(w.dir); err != nil || f.Kind == machine.Memory {
		t.Skip("the file system keeps its files in memory", err)
	}
	var u wire.Unloaded
	w.decode(w.do("POST", "/v1/datasets/etth1/unload", nil), 200, &u)
	if u.Dataset != name || u.Bytes != d.Bytes || *u.ResidentBytes != 0 || u.Kept != "" {
		t.Errorf("%+v", u)
	}
	var p wire.Pinned
	w.decode(w.do("PUT", "/v1/datasets/etth1/pin", nil), 200, &p)
	if limit, ok := machine.MemlockLimit(); p.Limited == "" != (p.PinnedBytes == p.Bytes) ||
		ok != (p.LimitBytes != nil) || ok && limit != *p.LimitBytes || p.Bytes != d.Bytes {
		t.Errorf("%+v", p)
	}
	if m := w.machine(); m.Memory.Pinned != p.PinnedBytes ||
		w.dataset(name).PinnedBytes != p.PinnedBytes {
		t.Errorf("%d bytes are pinned: %+v", p.PinnedBytes, m)
	}
	if got := *w.dataset(name).ResidentBytes; p.Limited == "" && got != d.Bytes {
		t.Errorf("%d of %d bytes are in memory, and all are pinned", got, d.Bytes)
	}
	w.decode(w.do("POST", "/v1/datasets/etth1/unload", nil), 200, &u)
	if *u.ResidentBytes < p.PinnedBytes ||
		!strings.Contains(u.Kept, "tensorcache pin etth1 --off") {
		t.Errorf("%+v", u)
	}
	w.decode(w.do("DELETE", "/v1/datasets/etth1/pin", nil), 200, &p)
	if p.PinnedBytes != 0 || w.machine().Memory.Pinned != 0 {
		t.Errorf("%+v", p)
	}
	w.store.Budget.Set(d.Bytes - 1)
	w.wantProblem(w.do("PUT", "/v1/datasets/etth1/pin", nil), wire.Memory, "pinning etth1 needs")
	w.decode(w.do("POST", "/v1/datasets/etth1/unload", nil), 200, &u)
	w.wantProblem(w.do("PUT", "/v1/datasets/etth1/pin", nil), wire.Memory, "pinning etth1 needs")
}

func (w *world) machine() (m wire.Machine) {
	w.Helper()
	w.decode(w.do("GET", "/v1/machine", nil), 200, &m)
	return m
}

func TestTheMachineIsDescribed(t *testing.T) {
	w := newWorld(t)
	name := w.loadETTh1()
	w.store.Budget.Set(1 << 30)
	defer w.store.Budget.AddRing(12345)()
	var p wire.Pinned // so that the kernel drops no page
	w.decode(w.do("PUT", "/v1/datasets/"+name+"/pin", nil), 200, &p)
	m := w.machine()
	if m.Dir != w.dir || m.Cores < 1 || m.Memory.Budget != 1<<30 || m.Memory.Rings != 12345 ||
		p.Limited == "" && m.Memory.Resident != w.dataset(name).Bytes ||
		m.Memory.Resident > w.dataset(name).Bytes || m.Memory.Limit > m.Memory.Total ||
		m.Disk.Free <= 0 || m.Disk.Free > m.Disk.Total || m.Descriptors.Limit < m.Descriptors.Open {
		t.Errorf("%+v", m)
	}
}

// TestALoadBeyondTheBudgetIsRefusedAndLeavesNothing has a load that is refused when the child says
// how much memory it needs.
func TestALoadBeyondTheBudgetIsRefusedAndLeavesNothing(t *testing.T) {
	w := newWorld(t)
	name := w.loadETTh1()
	w.store.Budget.Set(w.dataset(name).Bytes * 3 / 2)
	h, err := w.store.Acquire(name, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Release()
	path, rows := "a.csv", slices.Repeat([]string{"1.5,2.5,3.5,4.5\n"}, 40_000)
	source := w.source(path, "a,b,c,d\n"+strings.Join(rows, ""))
	job := w.load("big", map[string]any{"sources": []string{source}})
	if job.State != wire.JobFailedIn || job.Error.Type != wire.Memory ||
		!strings.HasPrefix(job.Error.Detail, "loading big needs ") ||
		!strings.Contains(job.Error.Detail, "the memory budget has ") || job.Error.Hint == "" {
		t.Fatalf("%+v: %+v", job, job.Error)
	}
	w.checkNoTempFiles()
	if m := w.store.Budget.Usage(); m.Loading != 0 {
		t.Errorf("%+v", m)
	}
	h.Release()
	if job := w.load("big",
		map[string]any{"sources": []string{source}}); job.State != wire.JobDone {
		t.Errorf("%+v when nobody reads the other: %+v", job, job.Error)
	}
	if left := w.store.Budget.Usage(); left.Loading != 0 {
		t.Errorf("%+v", left)
	}
	if _, err := os.Stat(w.dir + "/datasets/" + name); err != nil {
		t.Error("files were deleted:", err)
	}
}

// preload starts a preload and waits for its end.
func (w *world) preload(name string) (job wire.Job) {
	w.Helper()
	for w.decode(w.do("POST", "/v1/datasets/"+name+"/preload", nil), 202, &job); !job.Ended(); {
		w.decode(w.do("GET", "/v1/jobs/"+job.Job+"?wait_ms=20000", nil), 200, &job)
	}
	return job
}

func TestADatasetIsPreloadedByAJob(t *testing.T) {
	w := newWorld(t)
	name := w.loadETTh1()
	var u wire.Unloaded
	w.decode(w.do("POST", "/v1/datasets/etth1/unload", nil), 200, &u)
	d := w.dataset(name)
	if job := w.preload(name); job.State != wire.JobDone || job.Kind != wire.PreloadJob ||
		job.Progress != 1 || job.Bytes != d.Bytes || job.BytesTotal != d.Bytes ||
		job.Generation != 1 {
		t.Errorf("%+v", job)
	}
	if m := w.machine(); m.Memory.Resident > d.Bytes {
		t.Errorf("%+v", m)
	}
	w.store.Budget.Set(d.Bytes / 2)
	w.decode(w.do("POST", "/v1/datasets/etth1/unload", nil), 200, &u)
	if job := w.preload(name); *u.ResidentBytes == 0 &&
		(job.State != wire.JobFailedIn || job.Error.Type != wire.Memory ||
			!strings.HasPrefix(job.Error.Detail,
				"preloading etth1 needs 1.1 MiB, the memory budget has ")) {
		t.Errorf("%+v: %+v", job, job.Error)
	}
	w.wantProblem(w.do("POST", "/v1/datasets/none/preload", nil), wire.DatasetNotFound,
		`no dataset is named "none"`)
	w.wantProblem(w.do("POST", "/v1/datasets/etth1/preload", `{"columns": ["OT"]}`),
		wire.InvalidRequest, "takes no body")
}
