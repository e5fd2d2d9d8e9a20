package api

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/origin"
	"github.com/tensorcache/tensorcache/internal/wire"
)

// staging is the staging directory of a client.
type staging struct {
	*world
	dir  string
	lock *os.File
}

// newStaging makes a staging directory with its lock.
func (w *world) newStaging(number int) *staging {
	w.Helper()
	dir := filepath.Join(w.dir, "tmp", fmt.Sprintf("staging-%d-%08x", os.Getpid(), number))
	if err := os.Mkdir(dir, 0o700); err != nil {
		w.Fatal(err)
	}
	lock, err := os.Create(filepath.Join(dir, "lock"))
	if err == nil {
		err = unix.Flock(int(lock.Fd()), unix.LOCK_EX)
	}
	if err != nil {
		w.Fatal(err)
	}
	s := &staging{w, dir, lock}
	w.Cleanup(s.remove)
	return s
}

// remove ends the client.
func (s *staging) remove() {
	s.lock.Close()
	if err := os.RemoveAll(s.dir); err != nil {
		s.Error(err)
	}
}

// stage makes a file whose remote file has this text, of which nothing is staged.
func (s *staging) stage(name, text, etag string) origin.File {
	s.Helper()
	f := origin.File{Path: filepath.Join(s.dir, name), URL: "s3://bucket/" + name, ETag: &etag,
		Size: int64(len(text)), Ranges: origin.Ranges{}}
	if err := os.WriteFile(f.Path, nil, 0o600); err != nil {
		s.Fatal(err)
	}
	if err := os.Truncate(f.Path, f.Size); err != nil {
		s.Fatal(err)
	}
	return f
}

// request returns the body of a request with these files.
func request(files ...origin.File) map[string]any {
	var paths []string
	for _, f := range files {
		paths = append(paths, f.Path)
	}
	return map[string]any{"sources": paths, "origins": files}
}

func (w *world) ranges(name, query string, body any) wire.MissingRanges {
	w.Helper()
	var m wire.MissingRanges
	w.decode(w.do("POST", "/v1/datasets/"+name+"/ranges"+query, body), 200, &m)
	return m
}

// fill stages the whole text of a file.
func (s *staging) fill(f *origin.File, text string) {
	s.Helper()
	if err := os.WriteFile(f.Path, []byte(text), 0o600); err != nil {
		s.Fatal(err)
	}
	f.Ranges = origin.Ranges{{0, f.Size}}
}

// TestARemoteFileIsLoadedOnce stages a file, loads it, finds it again by its ETag, and loads it
// again when that has changed.
func TestARemoteFileIsLoadedOnce(t *testing.T) {
	w := newWorld(t)
	s := w.newStaging(1)
	const text = "t,x\n1,2\n2,3\n"
	f := s.stage("a.csv", text, `"1"`)
	want := []origin.Missing{{Path: f.Path, Ranges: origin.Ranges{{0, f.Size}}}}
	if m := w.ranges("d", "", request(f)); m.Hit || !slices.EqualFunc(m.Missing, want,
		func(a, b origin.Missing) bool {
			return a.Path == b.Path && slices.Equal(a.Ranges, b.Ranges)
		}) {
		t.Fatalf("%+v, want %+v", m, want)
	}
	job := w.load("d", request(f))
	if job.Error == nil ||
		!strings.Contains(job.Error.Detail, "s3://bucket/a.csv: was read at bytes") ||
		strings.Contains(fmt.Sprint(job.Error), w.dir) {
		t.Fatalf("%+v", job.Error)
	}
	s.fill(&f, text)
	if m := w.ranges("d", "", request(f)); m.Hit || len(m.Missing) > 0 {
		t.Fatalf("%+v", m)
	}
	if job := w.load("d", request(f)); job.State != wire.JobDone || job.Generation != 1 ||
		job.Rows != 2 {
		t.Fatalf("%+v", job)
	}
	var d wire.Dataset
	w.decode(w.do("GET", "/v1/datasets/d", nil), 200, &d)
	if x := d.Manifest.Sources[0]; x.Path != f.URL || *x.Origin.ETag != `"1"` || x.Inode != 0 {
		t.Errorf("%+v", x)
	}
	s.remove()

	s = w.newStaging(2) // another client, which has staged nothing
	f = s.stage("a.csv", text, `"1"`)
	if m := w.ranges("d", "", request(f)); !m.Hit || m.Generation != 1 || len(m.Missing) > 0 {
		t.Errorf("%+v", m)
	}
	if job := w.load("d", request(f)); !job.Hit {
		t.Errorf("%+v", job)
	}
	mtime, later := "2026-01-02T03:04:05Z", "2026-01-02T03:04:06Z"
	for i, change := range []func(*origin.File){
		func(f *origin.File) { *f.ETag = `"2"` },
		func(f *origin.File) { f.ETag, f.Mtime = nil, &mtime },
		func(f *origin.File) { f.Mtime = &later },
		func(f *origin.File) { f.URL += "2" },
		func(f *origin.File) { f.Mtime = nil },
		func(*origin.File) {}, // without ETag and mtime, never a hit
	} {
		change(&f)
		if m := w.ranges("d", "", request(f)); m.Hit {
			t.Errorf("change %d: %+v", i, m)
		}
		s.fill(&f, text)
		if job := w.load("d", request(f)); job.State != wire.JobDone || job.Hit ||
			job.Generation != int64(i)+2 {
			t.Errorf("change %d: %+v", i, job)
		}
	}
}

// TestRemoteFilesAreAppendedOnce appends a remote file, and skips it the next time.
func TestRemoteFilesAreAppendedOnce(t *testing.T) {
	w := newWorld(t)
	s := w.newStaging(1)
	a, b := s.stage("a.csv", "t,x\n1,2\n", `"a"`), s.stage("b.csv", "t,x\n2,3\n", `"b"`)
	s.fill(&a, "t,x\n1,2\n")
	body := request(a)
	body["time"] = "t"
	if job := w.load("d", body); job.State != wire.JobDone {
		t.Fatalf("%+v", job.Error)
	}
	a.Ranges = origin.Ranges{}
	m := w.ranges("d", "?of=append", request(a, b))
	if m.Hit || len(m.Missing) != 1 || m.Missing[0].Path != b.Path {
		t.Fatalf("%+v", m)
	}
	s.fill(&b, "t,x\n2,3\n")
	if m := w.ranges("d", "?of=append", request(a, b)); m.Hit || len(m.Missing) > 0 {
		t.Fatalf("%+v", m)
	}
	if job := w.appendRows("d", request(a, b)); job.Error != nil || job.Rows != 2 ||
		job.Generation != 2 {
		t.Fatalf("%+v", job)
	}
	if m := w.ranges("d", "?of=append", request(a, b)); !m.Hit || m.Generation != 2 {
		t.Fatalf("%+v", m)
	}
	*b.ETag = `"c"`
	w.wantProblem(w.do("POST", "/v1/datasets/d/ranges?of=append", request(a, b)), wire.SourceError,
		"s3://bucket/b.csv: was loaded before and has changed since")
	body = request(a, b)
	body["time"] = "t"
	w.wantProblem(w.do("POST", "/v1/datasets/d/ranges?of=append", body), wire.InvalidRequest,
		"of: want sources and origins only for an append")
	missing := w.do("POST", "/v1/datasets/e/ranges?of=append", request(a))
	w.wantProblem(missing, wire.DatasetNotFound, `"e"`)
}

// TestRangesRefuseWhatALoadRefuses refuses before anything is staged.
func TestRangesRefuseWhatALoadRefuses(t *testing.T) {
	w := newWorld(t)
	s := w.newStaging(1)
	f := s.stage("a.parquet", strings.Repeat("x", 100), `"1"`)
	s.fill(&f, strings.Repeat("x", 100))
	path := "/v1/datasets/d/ranges"
	w.wantProblem(w.do("POST", path, request(f)), wire.SourceError, "s3://bucket/a.parquet: is not")
	hashed := request(f)
	hashed["hash_sources"] = true
	w.wantProblem(w.do("POST", path, hashed), wire.InvalidRequest, "hash_sources")
	w.wantProblem(w.do("POST", "/v1/datasets/d/append", hashed), wire.InvalidRequest, "hash_sources")
	w.wantProblem(w.do("POST", path, map[string]any{"sources": []string{f.Path}}),
		wire.InvalidRequest, "origins")
	g := f
	g.URL = "s3://bucket/a.parquet?token=1"
	for _, route := range []string{"ranges", "load", "append"} {
		w.wantProblem(w.doUnchecked("POST", "/v1/datasets/d/"+route, asJSON(request(g))),
			wire.InvalidRequest, "a query")
	}
}

// TestAbandonedStagingDirectoriesAreRemoved removes those whose client has ended, and no other.
func TestAbandonedStagingDirectoriesAreRemoved(t *testing.T) {
	w := newWorld(t)
	live, ended := w.newStaging(1), w.newStaging(2)
	ended.lock.Close()
	load := filepath.Join(w.dir, "tmp", "staging-1-12345678") // of a dataset named staging-1
	if err := os.Mkdir(load, 0o700); err != nil {
		t.Fatal(err)
	}
	f := live.stage("a.csv", "x\n1\n", `"1"`)
	w.ranges("d", "", request(f))
	for dir, want := range map[string]bool{live.dir: true, ended.dir: false, load: true} {
		if _, err := os.Stat(dir); (err == nil) != want {
			t.Errorf("%s: %v", dir, err)
		}
	}
	if err := os.Remove(load); err != nil {
		t.Fatal(err)
	}
}
