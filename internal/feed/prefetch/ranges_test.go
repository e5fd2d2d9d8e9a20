package prefetch

import (
	"slices"
	"testing"

	"github.com/tensorcache/tensorcache/internal/plan"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/sampler"
)

func TestPagesOfMasksAreThoseOfAClientThatMakesThem(t *testing.T) {
	s := publish(t)
	h, err := s.Acquire("long", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Release()
	spec := pairs{}.json(map[string]any{"context_length": 4, "prediction_length": 2})
	w, err := plan.New(h, spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	w, err = w.Select([]wire.PartRequest{{Name: "x", Part: plan.Context, Columns: []string{"a"}},
		{Name: "m", Part: "observed", Columns: []string{"b"}}}, false)
	if err != nil {
		t.Fatal(err)
	}
	columns := h.Data.Manifest.Columns
	for reader, want := range map[Reader][]int64{
		Nobody: nil, Daemon: {columns[0].Offset}, Client: {columns[0].Offset, columns[1].Offset},
	} {
		p := New(&fakeFile{}, w, newSampler(t, w, sampler.Options{BatchSize: 8}), reader)
		var got []int64
		for _, r := range p.ranges {
			got = append(got, r.offset)
		}
		if !slices.Equal(got, want) {
			t.Errorf("reader %d reads columns at %v, want %v", reader, got, want)
		}
	}
}
