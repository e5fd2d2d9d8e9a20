// Package bench contains benchmarks that compare this program with plain loops, with the limit of
// the machine and, in bench/README.md, with other programs. Every benchmark prints a ratio, because
// machines are noisy.
package bench

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/tensorcache/tensorcache/sampler"
	"github.com/tensorcache/tensorcache/window"
)

var sink int64

// memoryPass returns the time to add up values once, the least of three.
func memoryPass(values []int64) time.Duration {
	best := time.Duration(1 << 62)
	for range 3 {
		began := time.Now()
		for _, v := range values {
			sink += v
		}
		best = min(best, time.Since(began))
	}
	return best
}

// passTime returns the time to read one int64 for each of a number of rows, in proportion to the
// time for 10⁷ rows.
func passTime(rows int64) (nanoseconds float64) {
	return float64(tenMillion()) * float64(rows) / 1e7
}

var tenMillion = sync.OnceValue(func() time.Duration {
	values := make([]int64, 10_000_000)
	for i := range values { // otherwise all pages are the same zero page
		values[i] = int64(i)
	}
	return memoryPass(values)
})

// reportPasses reports how many passes over the rows take as long as an operation does.
func reportPasses(b *testing.B, operations int, rows int64) {
	b.ReportMetric(float64(b.Elapsed())/float64(operations)/passTime(rows), "x-memory-pass")
}

// oneItem returns a table of one item without times and missing values.
func oneItem(rows int64) window.Table { return window.Table{Offsets: []int64{0, rows}} }

// hourly returns a table of items with hourly times, each with a jump in its middle.
func hourly(items, rows int64) window.Table {
	t := window.Table{Offsets: make([]int64, items+1), Times: make([]int64, items*rows), Unit: "s"}
	for i := range items {
		t.Offsets[i+1] = (i + 1) * rows
		for r := range rows {
			at := r * 3600
			if r >= rows/2 {
				at += 7200
			}
			t.Times[i*rows+r] = at
		}
	}
	return t
}

// withMissing adds a column in which every n-th row is missing.
func withMissing(t window.Table, every int64) window.Table {
	c := window.Column{Context: true, Target: true, Cells: 1}
	for row := int64(0); row < t.Offsets[len(t.Offsets)-1]; row += every {
		c.Missing = append(c.Missing, window.MissingRow{Row: row, Cells: 1})
	}
	t.Columns = []window.Column{c}
	return t
}

// withSteps adds the largest steps in time, as a plan stores them.
func withSteps(b *testing.B, t window.Table) window.Table {
	b.Helper()
	var err error
	if t.LargestSteps, err = window.LargestSteps(&t); err != nil {
		b.Fatal(err)
	}
	return t
}

func build(b *testing.B, spec window.Spec, t window.Table) *window.Index {
	b.Helper()
	x, err := window.New(spec, t)
	if err != nil {
		b.Fatal(err)
	}
	return x
}

func BenchmarkIndex(b *testing.B) {
	plain := window.Spec{ContextLength: 96, PredictionLength: 24}
	jumps := plain
	jumps.MaxStep = window.Nanoseconds(int64(time.Hour))
	million := hourly(10, 1_000_000)
	many := hourly(1_000_000, 150)
	for _, c := range []struct {
		name  string
		spec  window.Spec
		table window.Table
	}{
		{"1e6 windows", plain, oneItem(1_000_119)},
		{"1e9 windows", plain, oneItem(1_000_000_119)},
		{"1e6 items", plain, window.Table{Offsets: many.Offsets}},
		{"1e7 rows, jumps in time", jumps, million},
		{"1e7 rows, jumps in time, steps kept", jumps, withSteps(b, million)},
		{"1e7 rows, 1e5 missing", plain, withMissing(window.Table{Offsets: million.Offsets}, 100)},
		{"1e6 items, jumps in time", jumps, many},
		{"1e6 items, jumps in time, steps kept", jumps, withSteps(b, many)},
	} {
		b.Run(c.name, func(b *testing.B) {
			x := build(b, c.spec, c.table)
			for b.Loop() {
				build(b, c.spec, c.table)
			}
			b.ReportMetric(float64(x.Len()), "windows")
			b.ReportMetric(float64(x.RunCount()), "runs")
			reportPasses(b, b.N, c.table.Offsets[len(c.table.Offsets)-1])
		})
	}
}

func BenchmarkPlace(b *testing.B) {
	for _, c := range []struct {
		name  string
		table window.Table
	}{{"one run", oneItem(1_000_000_119)},
		{"1e6 runs", window.Table{Offsets: hourly(1_000_000, 150).Offsets}}} {
		b.Run(c.name, func(b *testing.B) {
			x := build(b, window.Spec{ContextLength: 96, PredictionLength: 24}, c.table)
			b.ReportAllocs()
			n := int64(0)
			for b.Loop() {
				n = (n*6364136223846793005 + 1442695040888963407) & (1<<62 - 1)
				sink += x.Place(n % x.Len()).Start
			}
			reportPasses(b, b.N, 1) // of an 8-byte value read in order
		})
	}
}

func BenchmarkOrder(b *testing.B) {
	for _, order := range sampler.Orders() {
		for _, rows := range []int64{1_000_119, 1_000_000_119} {
			b.Run(fmt.Sprintf("%s/%d windows", order, rows-119), func(b *testing.B) {
				spec := window.Spec{ContextLength: 96, PredictionLength: 24}
				if (sampler.Options{Order: order}).Traits().Resets {
					spec.Stride = 96
				}
				x := build(b, spec, oneItem(rows))
				const size = 256
				s, err := sampler.New(x, sampler.Options{Order: order, BatchSize: size, Seed: 1,
					Tail: sampler.Short})
				if err != nil {
					b.Fatal(err)
				}
				var batch sampler.Batch
				b.ReportAllocs()
				consumed, windows := int64(0), 0
				for b.Loop() {
					if s.Steps(0, consumed) == 0 {
						consumed = 0
					}
					if err := s.Batch(&batch, 0, consumed); err != nil {
						b.Fatal(err)
					}
					consumed = batch.Next
					windows += len(batch.Windows)
				}
				b.ReportMetric(float64(b.Elapsed())/float64(windows), "ns/window")
				reportPasses(b, windows, 1) // of an 8-byte value read in order, for each window
			})
		}
	}
}
