package load

import (
	"testing"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/ingest/step"
)

// TestEachStepIsAppliedAndRecorded loads with one step at a time and checks its record in the
// manifest.
func TestEachStepIsAppliedAndRecorded(t *testing.T) {
	samples := map[string]struct{ flag, record string }{
		"fill":      {"0", "fill value"},
		"clip":      {"1.5:", "clip 1.5:"},
		"log1p":     {"*", "log1p"},
		"diff":      {"*", "diff"},
		"winsorize": {"0,0.5", "winsorize 0:0.5 per column"},
		"scale":     {"minmax", "minmax per column"},
	}
	var o option.Options
	for i, f := range option.StepFlags(&o) {
		t.Run(f.Name, func(t *testing.T) {
			sample, ok := samples[f.Name]
			if !ok {
				t.Fatal("the test has no sample of this step")
			}
			o = option.Options{Sources: []string{loadtest.File(t, "v.csv", "v\n1\n\n3.5\n")}}
			if err := option.StepFlags(&o)[i].Set(sample.flag); err != nil {
				t.Fatal(err)
			}
			c, err := mustLoad(t, o).Manifest.Column("v")
			if err != nil {
				t.Fatal(err)
			}
			if got := step.Describe(c); len(got) != 1 || got[0] != sample.record {
				t.Errorf("the manifest records %q, want %q", got, sample.record)
			}
		})
	}
}
