package api

import (
	"testing"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// TestALoadOfCalendarColumnsThatAreNotMarkedIsNoHit removes the marks of a generation, which version
// 0.1 did not store.
func TestALoadOfCalendarColumnsThatAreNotMarkedIsNoHit(t *testing.T) {
	w := newWorld(t)
	path := w.source("a.csv", "t,a\n2020-01-01,2.5\n2020-01-02,3.5\n")
	options := map[string]any{"sources": []string{path}, "time": "t", "calendar": []string{"age", "day"}}
	for _, want := range []struct {
		hit        bool
		generation int64
	}{{false, 1}, {true, 1}, {false, 2}, {true, 2}} {
		if want.generation == 2 && !want.hit {
			at, err := w.store.Dataset("d")
			if err != nil {
				t.Fatal(err)
			}
			for i := range at.Manifest.Columns {
				at.Manifest.Columns[i].Calendar = ""
			}
		}
		job := w.load("d", options)
		if job.State != wire.JobDone || job.Hit != want.hit || job.Generation != want.generation {
			t.Errorf("%+v, want hit %v, generation %d", job, want.hit, want.generation)
		}
	}
}
