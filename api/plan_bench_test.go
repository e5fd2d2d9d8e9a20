package api

import (
	"fmt"
	"testing"
	"time"

	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
)

// BenchmarkPlanOverHTTP requests plans as clients do. "kept" repeats a request, so that only HTTP
// and JSON take time. "anew" requests windows that were not requested before, so that the index is
// built.
func BenchmarkPlanOverHTTP(b *testing.B) {
	w := newWorld(b)
	for _, c := range []struct {
		name        string
		items, rows int64 // rows of each item
	}{{"1e6 windows", 1, 1_000_119}, {"1e9 windows", 1, 1_000_000_119},
		{"1e6 items", 1_000_000, 150}} {
		name := fmt.Sprint("d", c.items, "x", c.rows)
		values := w.publishBytes(name, c.items, c.rows)
		for _, kept := range []bool{true, false} {
			b.Run(fmt.Sprintf("%s/%s", c.name, map[bool]string{true: "kept", false: "anew"}[kept]),
				func(b *testing.B) {
					spec := map[string]any{"context_length": 96, "prediction_length": 24}
					var p wire.PlanReply
					n := int64(0)
					for b.Loop() {
						if n++; !kept {
							// bounds past the end, which remove nothing
							spec["rows"] = []int64{0, c.rows + n}
						}
						w.decode(w.do("POST", "/v1/datasets/"+name+"/plan",
							map[string]any{"spec": spec}),
							200, &p)
					}
					b.ReportMetric(float64(p.Windows), "windows")
					b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(sumTime(values)),
						"x-memory-pass")
				})
		}
	}
}

// publishBytes publishes a dataset of one column of bytes and returns its values.
func (w *world) publishBytes(name string, items, rows int64) []uint8 {
	w.Helper()
	l, err := w.store.Begin(name)
	if err != nil {
		w.Fatal(err)
	}
	defer l.Abort()
	writer, err := layout.Create(l.Dir,
		layout.Table{Rows: items * rows,
			Columns: []layout.Column{{Name: "x", Role: layout.RoleValue, DType: layout.Uint8}}})
	if err != nil {
		w.Fatal(err)
	}
	values := layout.Values[uint8](writer.Column(0, layout.Random))
	for i := range values.Data { // pages that were never written share one page of memory
		values.Data[i] = uint8(i)
	}
	named := layout.Items{Offsets: make([]int64, items+1),
		Values: []layout.ItemValues{{Name: "id", Ints: make([]int64, items)}}}
	for i := range items {
		named.Offsets[i+1], named.Values[0].Ints[i] = (i+1)*rows, i
	}
	if _, err := writer.Finish(layout.Final{ItemID: []string{"id"}, Items: named}); err != nil {
		w.Fatal(err)
	}
	if _, err := l.Publish(); err != nil {
		w.Fatal(err)
	}
	h, err := w.store.Acquire(name, 0)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(h.Release)
	v, err := layout.View[uint8](h.Data, &h.Data.Manifest.Columns[0])
	if err != nil {
		w.Fatal(err)
	}
	return v.Data
}

var benchmarkSink int64

// sumTime returns the least of three times of adding up the values.
func sumTime(values []uint8) time.Duration {
	best := time.Duration(1 << 62)
	for range 3 {
		began := time.Now()
		for _, v := range values {
			benchmarkSink += int64(v)
		}
		best = min(best, time.Since(began))
	}
	return best
}
