package load

import (
	"fmt"
	"math"
	"testing"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/ingest/source/put"
	"github.com/tensorcache/tensorcache/internal/ingest/source/put/puttest"
	"github.com/tensorcache/tensorcache/layout"
)

// naiveFill fills gaps with the value before them, or with linear interpolation if how says so.
// Gaps at the beginning stay.
func naiveFill(how string, values []float64) []float64 {
	out := append([]float64(nil), values...)
	for i := 0; i < len(out); i++ {
		if out[i] == out[i] || i == 0 {
			continue
		}
		end := i
		for end < len(out) && out[end] != out[end] {
			end++
		}
		for at := i; at < end; at++ {
			if out[at] = out[i-1]; how == option.FillLinear && end < len(out) {
				out[at] += (out[end] - out[i-1]) / float64(end-i+1) * float64(at-i+1)
			}
		}
		i = end
	}
	return out
}

// TestLargeColumnsAreFilledAndScaledLikeSmallOnes loads columns of several tiles, with gaps across
// the boundary of two tiles and without gaps. It compares fits and values with a naive computation,
// for columns in the generation and in scratch files, in both layouts, and for different fit rows.
func TestLargeColumnsAreFilledAndScaledLikeSmallOnes(t *testing.T) {
	const rows = 3*16_384 + 17
	whole, gaps, pairs := make([]float64, rows), make([]float64, rows), make([]float64, 2*rows)
	narrow := make([]float32, rows)
	for i := range rows {
		whole[i] = 50 + math.Sin(float64(i))*float64(i%1000)
		gaps[i], pairs[2*i], pairs[2*i+1], narrow[i] = whole[i], whole[i]+1, float64(i),
			float32(whole[i])
		if d := i - 16_384; i > 5 && (d > -9 && d < 9 || i%1777 == 5) {
			gaps[i] = math.NaN()
		}
	}
	cases := []option.Options{
		{DType: option.Floats("float64"), Fill: option.All(option.Fill{How: option.FillLinear})},
		{DType: option.Floats("float64"), Fill: option.All(option.Fill{How: option.FillForward}),
			FitRows: fitRows(100, 2*16_384)},
		{Fill: option.All(option.Fill{How: option.FillForward})},
		{DType: option.Floats("float64"), Fill: option.All(option.Fill{How: option.FillLinear}),
			Layout: layout.Packed},
		{DType: option.Floats("float64"), Fill: option.All(option.Fill{How: option.FillForward}),
			FitSample: 1000},
	}
	for _, o := range cases {
		o.Scale = option.All(option.ScaleStandard)
		var p put.Header
		var sent []byte
		for name, c := range map[string]struct {
			dtype  string
			shape  []int64
			values any
		}{"whole": {"float64", []int64{rows}, whole}, "gaps": {"float64", []int64{rows}, gaps},
			"pairs":  {"float64", []int64{rows, 2}, pairs},
			"narrow": {"float32", []int64{rows}, narrow}} {
			h, b := puttest.ColumnBytes(t, name, c.dtype, c.shape, c.values)
			p.Columns, sent = append(p.Columns, h), append(sent, b...)
		}
		p.Format = put.FormatColumns
		dir, err := loadPut(t, o, p, sent)
		if err != nil {
			t.Fatal(err)
		}
		l := loadtest.OpenDir(t, dir)
		of := fmt.Sprintf("%v, fill %s, layout %q, fit %v, sample %d", o.DType, o.Fill.Of("").How,
			o.Layout, o.FitRows, o.FitSample)
		check := func(name string, width, feature int, before []float64) {
			want := naiveFill(o.Fill.Of("").How, before)
			c, err := l.Manifest.Column(name)
			if err != nil {
				t.Fatal(err)
			}
			shift, scale := c.Scale.Shift[feature], c.Scale.Scale[feature]
			fitted := want
			if o.FitRows != nil {
				fitted = want[*o.FitRows[0]:*o.FitRows[1]]
			}
			if mean, std := naiveFit(option.ScaleStandard, fitted); o.FitSample == 0 &&
				(!nearlyEqual(shift, mean, 1e-10) || !nearlyEqual(scale, std, 1e-10)) {
				t.Errorf("%s: %s is fitted by %v and %v, want %v and %v", of, name, shift,
					scale, mean, std)
			}
			got := floatsOf(l, name)
			for i, v := range want {
				if want := (v - shift) / scale; math.Abs(got[i*width+feature]-want) > 1e-12 &&
					(c.DType != layout.Float32 || float32(got[i*width+feature]) != float32(want)) {
					t.Fatalf("%s: row %d of %s is %v, want %v", of, i, name,
						got[i*width+feature], want)
				}
			}
		}
		single, first, second := make([]float64, rows), make([]float64, rows), make([]float64, rows)
		for i := range rows {
			single[i], first[i], second[i] = float64(narrow[i]), pairs[2*i], pairs[2*i+1]
		}
		check("whole", 1, 0, whole)
		check("gaps", 1, 0, gaps)
		check("narrow", 1, 0, single)
		check("pairs", 2, 0, first)
		check("pairs", 2, 1, second)
		if err := l.Verify(); err != nil {
			t.Error(err)
		}
	}
}
