package api

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
)

// verify verifies a dataset and waits for the end of the job.
func (w *world) verify(name string) (job wire.Job) {
	w.Helper()
	w.decode(w.do("POST", "/v1/datasets/"+name+"/verify", nil), 202, &job)
	return w.waitForJob(job.Job, wire.Job.Ended)
}

// TestVerifyNamesWhatIsDamaged flips bytes and truncates files, in both layouts.
func TestVerifyNamesWhatIsDamaged(t *testing.T) {
	w := newWorld(t)
	path := w.source("a.csv", "id,when,x,y,word\nu,1,1,4,a\nu,2,2,5,b\nv,1,,6,a\nv,2,3,7,c\n")
	for _, kind := range []string{layout.Columns, layout.Packed} {
		load := func(name string) string {
			options := map[string]any{"sources": []string{path}, "item_id": []string{"id"},
				"time": "when", "layout": kind, "fill": map[string]any{"x": 0}}
			if job := w.load(name, options); job.State != wire.JobDone {
				t.Fatalf("%+v", job.Error)
			}
			return filepath.Join(w.dir, "datasets", name, "1")
		}
		dir := load("good-" + kind)
		if job := w.verify("good-" + kind); job.State != wire.JobDone ||
			job.Kind != wire.VerifyJob || job.Progress != 1 || job.Generation != 1 ||
			job.Bytes == 0 {
			t.Errorf("%+v", job)
		}
		m, err := layout.ReadManifest(dir)
		if err != nil {
			t.Fatal(err)
		}
		x, err := m.Column("x")
		if err != nil {
			t.Fatal(err)
		}
		damage := map[string]func(file string) error{
			`column "x" of data.arrow`: func(dir string) error {
				return flipBit(
					filepath.Join(dir, layout.DataFile), x.Offset+x.Strides[0])
			},
			"items.arrow": func(dir string) error {
				return flipBit(
					filepath.Join(dir, layout.ItemsFile), m.Items.RowOffset.Offset+8)
			},
			"vocab-word.arrow": func(dir string) error {
				return flipBit(
					filepath.Join(dir, "vocab-word.arrow"), m.Vocab["word"].Data)
			},
			"before-fill-x.runs": func(dir string) error {
				return flipBit(
					filepath.Join(dir, "before-fill-x.runs"), 0)
			},
		}
		for says, do := range damage {
			name := "bad-" + kind + "-" + strings.Trim(strings.Map(func(r rune) rune {
				if r == ' ' || r == '"' {
					return '-'
				}
				return r
			}, says), "-")
			dir := load(name)
			w.verify(name) // it is open and not damaged
			if err := do(dir); err != nil {
				t.Fatal(err)
			}
			job := w.verify(name)
			if job.State != wire.JobFailedIn || job.Error == nil ||
				job.Error.Type != wire.Corrupt ||
				!strings.HasPrefix(job.Error.Detail, name+": "+says+" in "+dir) ||
				job.Error.Hint != "tensorcache rm "+name+", then load it again from its sources" {
				t.Errorf("%s: %s %+v", name, job.State, job.Error)
			}
		}
	}
}

// TestVerifyNamesTheFileThatIsMissingOrTruncated damages datasets that are open and datasets that
// are not.
func TestVerifyNamesTheFileThatIsMissingOrTruncated(t *testing.T) {
	w := newWorld(t)
	path := w.source("a.csv", "id,x\nu,1\nv,2\n")
	for what, damage := range map[string]func(string) error{
		"missing": os.Remove,
		"bytes, want": func(path string) error {
			st, err := os.Stat(path)
			if err != nil {
				return err
			}
			// so that the mapped files have their size again when they are unmapped
			w.Cleanup(func() { _ = os.Truncate(path, st.Size()) })
			return os.Truncate(path, st.Size()-1)
		},
		"another file has replaced it": func(path string) error {
			b, err := os.ReadFile(path)
			if err == nil {
				err = os.Remove(path)
			}
			if err != nil {
				return err
			}
			return os.WriteFile(path, b, 0o600)
		},
	} {
		for _, file := range []string{layout.DataFile, layout.ItemsFile, "vocab-id.arrow",
			layout.ManifestFile} {
			for _, open := range []bool{true, false} {
				name := strings.ReplaceAll(fmt.Sprintf("%s-%s-%t", what, file, open), " ", "-")
				name = strings.ReplaceAll(name, ",", "")
				if job := w.load(name, map[string]any{"sources": []string{path},
					"item_id": []string{"id"}}); job.State != wire.JobDone {
					t.Fatalf("%+v", job.Error)
				}
				dir := filepath.Join(w.dir, "datasets", name, "1")
				if open {
					w.verify(name)
				}
				if err := damage(filepath.Join(dir, file)); err != nil {
					t.Fatal(err)
				}
				// the content is the same
				if what == "another file has replaced it" &&
					(!open || file == layout.ManifestFile) {
					if job := w.verify(name); job.State != wire.JobDone {
						t.Errorf("%s: %+v", name, job.Error)
					}
					continue
				}
				var p *wire.Problem
				if a := w.do("POST", "/v1/datasets/"+name+"/verify", nil); a.status == 202 {
					p = w.verify(name).Error
				} else {
					p = w.decodeProblem(a)
				}
				if p == nil || p.Type != wire.Corrupt || !strings.HasPrefix(p.Detail, name) ||
					!strings.Contains(p.Detail, file) || file != layout.ManifestFile &&
					!strings.Contains(p.Detail, what) ||
					!strings.Contains(p.Hint, "rm "+name) {
					t.Errorf("%s: %+v", name, p)
				}
			}
		}
	}
}

// TestATruncatedFileDoesNotEndTheDaemon reads beyond the end of a mapped file, which is a memory
// fault.
func TestATruncatedFileDoesNotEndTheDaemon(t *testing.T) {
	w := newWorld(t)
	w.loadETTh1()
	w.verify("etth1")
	w.truncate("etth1", 200_000)
	job := w.verify("etth1")
	if job.State != wire.JobFailedIn || job.Error.Type != wire.Corrupt ||
		!strings.Contains(job.Error.Detail, `column "OT" of data.arrow`) ||
		strings.Contains(job.Error.Detail, `column "date"`) {
		t.Errorf("%s %+v", job.State, job.Error)
	}
	for _, path := range []string{"rows?from=-1", "rows?from=-1&format=arrow",
		"series?columns=OT"} {
		w.wantProblem(w.do("GET", "/v1/datasets/etth1/"+path, nil), wire.Corrupt,
			"data.arrow: no byte ")
	}
	for what, job := range map[string]wire.Job{
		"append": w.appendRows("etth1",
			map[string]any{"sources": []string{w.source("more.csv",
				"date,HUFL,HULL,MUFL,MULL,LUFL,LULL,OT\n2019-01-01 00:00:00,1,2,3,4,5,6,7\n")}}),
		"preload": w.preload("etth1"),
	} {
		if job.State != wire.JobFailedIn || job.Error.Type != wire.Corrupt ||
			!strings.Contains(job.Error.Detail, "data.arrow") ||
			!strings.Contains(job.Error.Hint, "load it again") {
			t.Errorf("%s: %s %+v", what, job.State, job.Error)
		}
	}
	w.wantProblem(w.do("POST", "/v1/datasets/etth1/verify", `{"generation": 7}`),
		wire.GenerationGone, `generation 7 of "etth1"; the newest is 1`)
}

// truncate shortens the data file of a dataset until the test ends.
func (w *world) truncate(name string, bytes int64) {
	w.Helper()
	path := filepath.Join(w.dir, "datasets", name, "1", layout.DataFile)
	st, err := os.Stat(path)
	if err == nil {
		err = os.Truncate(path, bytes)
	}
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() {
		if err := os.Truncate(path, st.Size()); err != nil {
			w.Error(err)
		}
	})
}

// flipBit changes one bit of a file.
func flipBit(path string, at int64) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	var b [1]byte
	if _, err := f.ReadAt(b[:], at); err != nil {
		return err
	}
	b[0] ^= 4
	_, err = f.WriteAt(b[:], at)
	return err
}
