package api

import (
	"os"
	"testing"
	"time"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// TestHashesTellWhetherSourcesAreTheSame touches a file, and edits it without changing size and
// time.
func TestHashesTellWhetherSourcesAreTheSame(t *testing.T) {
	w := newWorld(t)
	path := w.source("a.csv", "t,a\n1,2.5\n2,3.5\n")
	plain := map[string]any{"sources": []string{path}}
	hashed := map[string]any{"sources": []string{path}, "hash_sources": true}
	at := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	step := func(what string, options map[string]any, hit bool, generation int64) {
		t.Helper()
		job := w.load("d", options)
		if job.State != wire.JobDone || job.Hit != hit || job.Generation != generation ||
			job.Rows != 2 || job.Progress != 1 {
			t.Errorf("%s: %+v, want hit %v, generation %d", what, job, hit, generation)
		}
	}
	touch := func(at time.Time) {
		t.Helper()
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	touch(at)
	step("first", plain, false, 1)
	step("no hashes are kept yet", hashed, false, 2)
	step("hashed", hashed, true, 2)
	step("without hashes", plain, true, 2)
	touch(at.Add(time.Hour))
	step("touched", hashed, true, 2)
	step("touched, without hashes", plain, false, 3)
	step("hashes are gone", hashed, false, 4)
	if err := os.WriteFile(path, []byte("t,a\n1,2.5\n2,9.5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	touch(at.Add(time.Hour))
	step("edited with the same size and time, without hashes", plain, true, 4)
	step("edited with the same size and time", hashed, false, 5)
	hashed["sources"] = []string{path + "x"}
	w.wantProblem(w.do("POST", "/v1/datasets/d/load", hashed), wire.SourceError, "no such file")
}
