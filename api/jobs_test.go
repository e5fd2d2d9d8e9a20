package api

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/jobs"
	"github.com/tensorcache/tensorcache/internal/wire"
)

func TestALoadIsAJobAndTheSameAgainIsAHit(t *testing.T) {
	w := newWorld(t)
	path := w.source("a.csv", "t,a\n1,2.5\n2,3.5\n")
	options := map[string]any{"sources": []string{path}, "time": "t"}
	job := w.load("d", options)
	if job.State != wire.JobDone || job.Generation != 1 || job.Rows != 2 || job.Hit ||
		job.Dataset != "d" || job.Error != nil || job.Bytes != job.BytesTotal ||
		len(job.Digest) != 32 {
		t.Fatalf("%+v", job)
	}
	// the default, written out
	hit := w.load("d", map[string]any{"sources": []string{path}, "time": "t", "layout": "columns"})
	if !hit.Hit || hit.State != wire.JobDone || hit.Generation != 1 || hit.Digest != job.Digest ||
		hit.Rows != 2 {
		t.Errorf("%+v", hit)
	}
	// steps that change nothing
	for setting, says := range map[string]string{"a": "", "nope": "no column is named",
		"t": "want value columns of numbers"} {
		again := w.load("d", map[string]any{"sources": []string{path}, "time": "t",
			"scale": map[string]string{setting: "none"}})
		if again.Hit != (says == "") || says != "" &&
			(again.Error == nil || !strings.Contains(again.Error.Detail, says)) {
			t.Errorf("no scale of %q: %+v", setting, again)
		}
	}
	if other := w.load("d", map[string]any{"sources": []string{path}, "time": "t",
		"dtype": "float32"}); other.Hit || other.Generation != 2 || other.Digest == job.Digest {
		t.Errorf("with another dtype: %+v", other)
	}
	if other := w.load("e", options); other.Hit || other.Generation != 1 ||
		other.Digest != job.Digest {
		t.Errorf("under another name: %+v", other)
	}
	if err := os.WriteFile(path, []byte("t,a\n1,2.5\n2,9.5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if changed := w.load("e", options); changed.Hit || changed.Generation != 2 ||
		changed.Digest == job.Digest {
		t.Errorf("of changed sources: %+v", changed)
	}
	var jobs wire.Jobs
	w.decode(w.do("GET", "/v1/jobs", nil), 200, &jobs)
	if len(jobs.Jobs) != 6 || jobs.Jobs[0].Job != "j1" || jobs.Jobs[5].Job != "j6" {
		t.Errorf("%+v", jobs)
	}
	w.wantProblem(w.do("GET", "/v1/jobs/j7", nil), wire.JobNotFound,
		`no job is named "j7"; the last 100 are remembered`)
}

func TestAFailedLoadTellsFileRowColumnAndText(t *testing.T) {
	w := newWorld(t)
	path := w.source("bad.csv", "t,close\n1,2.5\n2,n/a!\n")
	for name, test := range map[string]struct {
		options         map[string]any
		typ, says, hint string
	}{
		"a text": {map[string]any{"sources": []string{path}, "dtype": "float32",
			"time": "t"}, wire.SourceError, path + `, row 2 (line 3), column "close": "n/a!"`,
			"`columns`"},
		"unknown column": {map[string]any{"sources": []string{path}, "columns": []string{"clse"}},
			wire.ColumnNotFound, `columns: no column is named "clse"; near: close`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := *w
			w.TB = t
			job := w.load("d", test.options)
			if job.State != wire.JobFailedIn || job.Error == nil {
				t.Fatalf("%+v", job)
			}
			if e := job.Error; e.Type != test.typ || !strings.Contains(e.Detail, test.says) ||
				!strings.Contains(e.Hint, test.hint) || e.Field == "" {
				t.Errorf("got %+v\nwant %s with %q and a hint with %q", e, test.typ,
					test.says, test.hint)
			}
			w.checkNoTempFiles()
		})
	}
	w.wantProblem(w.do("GET", "/v1/datasets/d", nil), wire.DatasetNotFound, "")
}

// loadBlocked starts a load whose child stops after half of the rows.
func (w *world) loadBlocked(name string, options map[string]any) (job wire.Job) {
	w.Helper()
	w.Setenv(blockedVariable, "read")
	w.decode(w.do("POST", "/v1/datasets/"+name+"/load", options), 202, &job)
	for tick := time.NewTicker(time.Millisecond); job.Rows != 5; <-tick.C {
		if job.State != wire.JobRunning {
			w.Fatalf("%+v", job)
		}
		w.decode(w.do("GET", "/v1/jobs/"+job.Job, nil), 200, &job)
	}
	return job
}

func TestALoadThatRunsIsJoinedWaitedForAndCancelled(t *testing.T) {
	w := newWorld(t)
	options := map[string]any{"sources": []string{w.source("a.csv", "a\n1\n")}}
	job := w.loadBlocked("d", options)
	if job.Phase != "read" || job.RowsTotal != 10 || job.Bytes != 50 || job.BytesTotal != 100 ||
		job.Seconds <= 0 || job.Progress != 0.5 {
		t.Errorf("%+v", job)
	}
	var joined wire.Job
	w.decode(w.do("POST", "/v1/datasets/d/load", options), 202, &joined)
	if joined.Job != job.Job || w.jobs.Running() != 1 {
		t.Errorf("the same load is %s beside %s", joined.Job, job.Job)
	}
	began := time.Now()
	w.decode(w.do("GET", "/v1/jobs/"+job.Job+"?wait_ms=50", nil), 200, &joined)
	if d := time.Since(began); joined.State != wire.JobRunning || d < 50*time.Millisecond {
		t.Errorf("after %s: %+v", d, joined)
	}
	var waiting sync.WaitGroup
	waiting.Go(func() { // returns when the job ends
		var j wire.Job
		w.decode(w.do("GET", "/v1/jobs/"+job.Job+"?wait_ms=30000", nil), 200, &j)
		if j.State != wire.JobCancelled {
			t.Errorf("%+v", j)
		}
	})
	var cancelled wire.Job
	w.decode(w.do("DELETE", "/v1/jobs/"+job.Job, nil), 200, &cancelled)
	if cancelled.State != wire.JobCancelled || cancelled.Error.Type != wire.Cancelled {
		t.Errorf("%+v", cancelled)
	}
	waiting.Wait()
	w.checkNoTempFiles()
	w.decode(w.do("DELETE", "/v1/jobs/"+job.Job, nil), 200, &cancelled)
	if cancelled.State != wire.JobCancelled {
		t.Errorf("cancelled again: %+v", cancelled)
	}
	os.Unsetenv(blockedVariable)
	if again := w.load("d", options); again.State != wire.JobDone || again.Generation != 1 {
		t.Errorf("loaded again: %+v", again)
	}
}

func TestCloseCancelsJobsAndRefusesNewOnes(t *testing.T) {
	w := newWorld(t)
	options := map[string]any{"sources": []string{w.source("a.csv", "a\n1\n")}}
	job := w.loadBlocked("d", options)
	w.jobs.Close()
	w.jobs.Close()
	w.decode(w.do("GET", "/v1/jobs/"+job.Job, nil), 200, &job)
	if job.State != wire.JobCancelled {
		t.Errorf("%+v", job)
	}
	w.wantProblem(w.do("POST", "/v1/datasets/d/load", options), wire.ShuttingDown,
		"store is closed")
	w.checkNoTempFiles()
}

// put sends bytes over a socket pair to Manager.Put.
func (w *world) put(ctx context.Context, r wire.PutRequest,
	send func(*os.File)) (*wire.PutReply, error) {
	w.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		w.Fatal(err)
	}
	unix.CloseOnExec(fds[0]) // so that the child does not keep our end open
	unix.CloseOnExec(fds[1])
	ours, theirs := os.NewFile(uintptr(fds[0]), "ours"), os.NewFile(uintptr(fds[1]), "theirs")
	var sending sync.WaitGroup
	sending.Go(func() { send(ours) })
	defer sending.Wait()
	defer ours.Close()
	return w.jobs.Put(ctx, r, theirs)
}

func TestArraysThatArePutAreADataset(t *testing.T) {
	w := newWorld(t)
	r := wire.PutRequest{Dataset: "mine", Format: "columns",
		Columns: asJSON(
			[]map[string]any{{"name": "a", "dtype": "int32", "shape": []int{2, 2}, "bytes": 16}})}
	values := []byte{1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0}
	reply, err := w.put(t.Context(), r, func(f *os.File) { f.Write(values) })
	if err != nil || reply.Dataset != "mine" || reply.Generation != 1 || reply.Rows != 2 ||
		len(reply.Digest) != 32 {
		t.Fatalf("%+v, %v", reply, err)
	}
	// a put has no sources, so that no load can hit it
	w.wantProblem(w.do("POST", "/v1/datasets/mine/load", map[string]any{}), wire.InvalidRequest,
		"sources: want at least one file")
	if _, err := w.put(t.Context(), r,
		func(f *os.File) { f.Write(values[:9]); f.Close() }); err == nil ||
		jobs.ProblemOf(err).Type != wire.SourceError ||
		!strings.Contains(err.Error(), "the connection ended after 9 of 16 bytes") {
		t.Errorf("cut short: %v", err)
	}
	for name, bad := range map[string]wire.PutRequest{
		"name":    {Dataset: "../x", Format: "columns"},
		"options": {Dataset: "x", Format: "columns", Options: []byte(`{"scales": 1}`)},
		"columns": {Dataset: "x", Format: "columns", Columns: []byte(`[{"nam": 1}]`)},
		"format":  {Dataset: "x", Format: "pickle"},
	} {
		_, err := w.put(t.Context(), bad, func(*os.File) {})
		if p := jobs.ProblemOf(err); err == nil || p.Status != 400 {
			t.Errorf("%s: %+v", name, p)
		}
	}
	w.checkNoTempFiles()
	if d := w.store.Datasets(); len(d) != 1 || d[0].Generation != 1 {
		t.Errorf("%+v", d)
	}
}

func TestAPutEndsWithItsContext(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	r := wire.PutRequest{Dataset: "mine", Format: "columns",
		Columns: asJSON(
			[]map[string]any{{"name": "a", "dtype": "int32", "shape": []int{2}, "bytes": 8}})}
	_, err := w.put(ctx, r, func(f *os.File) { f.Write([]byte{1}); cancel() })
	if p := jobs.ProblemOf(err); err == nil || p.Type != wire.Cancelled {
		t.Errorf("got %v", err)
	}
	if list := w.jobs.List(); len(list) != 1 || list[0].State != wire.JobCancelled {
		t.Errorf("%+v", list)
	}
	w.checkNoTempFiles()
}
