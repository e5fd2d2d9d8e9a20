package window

import "testing"

func BenchmarkNewBillionRows(b *testing.B) {
	t := Table{Offsets: []int64{0, 1e9}}
	for b.Loop() {
		if _, err := New(Spec{ContextLength: 336, PredictionLength: 96}, t); err != nil {
			b.Fatal(err)
		}
	}
}

func manyItems(n, rows int64) Table {
	t := Table{Offsets: make([]int64, n+1)}
	for i := range t.Offsets {
		t.Offsets[i] = int64(i) * rows
	}
	return t
}

func BenchmarkNewMillionItems(b *testing.B) {
	t := manyItems(1e6, 1000)
	for b.Loop() {
		if _, err := New(Spec{ContextLength: 336, PredictionLength: 96}, t); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSplitMillionItems(b *testing.B) {
	x, err := New(Spec{ContextLength: 336, PredictionLength: 96}, manyItems(1e6, 1000))
	if err != nil {
		b.Fatal(err)
	}
	f := []float64{0.8, 0.2}
	for b.Loop() {
		if _, err := x.Split(Split{Fractions: []*float64{&f[0], &f[1]}}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkReadTimes reads the times of as many rows as BenchmarkNewMaxStep, for comparison.
func BenchmarkReadTimes(b *testing.B) {
	times := ascending(1e7)
	b.SetBytes(8e7)
	for b.Loop() {
		last, jumps := int64(-1), 0
		for _, t := range times {
			if t-last > 1 {
				jumps++
			}
			last = t
		}
		if jumps != 0 {
			b.Fatal(jumps)
		}
	}
}

func BenchmarkNewMaxStep(b *testing.B) {
	t := Table{Offsets: []int64{0, 1e7}, Times: ascending(1e7)}
	b.SetBytes(8e7)
	for b.Loop() {
		if _, err := New(Spec{ContextLength: 336, PredictionLength: 96, MaxStep: Ticks(1)},
			t); err != nil {
			b.Fatal(err)
		}
	}
}

func ascending(n int64) []int64 {
	times := make([]int64, n)
	for i := range times {
		times[i] = int64(i)
	}
	return times
}

func BenchmarkNewMissing(b *testing.B) {
	for _, c := range []struct {
		name string
		spec Spec
	}{
		{"none", Spec{ContextLength: 336, PredictionLength: 96}},
		{"share", Spec{ContextLength: 336, PredictionLength: 96,
			MaxMissing: MaxMissing{Share: 0.1}}},
		{"dilation", Spec{ContextLength: 336, PredictionLength: 96, Dilation: 3}},
	} {
		b.Run(c.name, func(b *testing.B) {
			t := Table{Offsets: []int64{0, 1e7}}
			for col := range int64(7) {
				column := Column{Context: true, Target: true, Cells: 1}
				for row := col; row < 1e7; row += 1000 + col*13 {
					column.Missing = append(column.Missing, MissingRow{row, 1})
				}
				t.Columns = append(t.Columns, column)
			}
			for b.Loop() {
				if _, err := New(c.spec, t); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkPlace(b *testing.B) {
	x, err := New(Spec{ContextLength: 336, PredictionLength: 96}, manyItems(1e6, 1000))
	if err != nil {
		b.Fatal(err)
	}
	n, sum := int64(0), int64(0)
	for b.Loop() {
		n = (n + 7919*104729) % x.Len()
		sum += x.Place(n).Start
	}
	_ = sum
}
