package load

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/ingest/step"
	"github.com/tensorcache/tensorcache/layout"
)

// TestStatisticsOfScaledColumnsDescribeTheStoredValues compares the recorded statistics of a column
// after its steps with a naive computation over the stored values.
func TestStatisticsOfScaledColumnsDescribeTheStoredValues(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		dtype := rapid.SampledFrom([]string{"", "float16", "float32", "float64"}).Draw(r, "dtype")
		base := rapid.SampledFrom([]float64{0, -3, 1e9}).Draw(r, "base")
		if dtype == "float16" { // 1e9 is outside float16
			base = min(base, 0)
		}
		values := rapid.SliceOfN(rapid.OneOf(rapid.Float64Range(-100, 100), rapid.Just(math.NaN()),
			rapid.Just(7.0)), 1, 60).Draw(r, "values")
		var b strings.Builder
		b.WriteString("a\n1.5\n") // The column is float64 and has a value to fit.
		for _, v := range values {
			fmt.Fprintln(&b, v+base)
		}
		o := option.Options{
			Sources: []string{loadtest.File(t, "x.csv", b.String())},
			Scale: option.All(
				rapid.SampledFrom([]string{"standard", "minmax", "robust", "maxabs", "none"}).
					Draw(r, "scale")),
			Fill: option.All(
				rapid.SampledFrom([]option.Fill{{}, {How: option.FillMean},
					{How: option.FillForward}, option.FillWith(3)}).Draw(r, "fill")),
			DType: option.Floats(dtype),
			Clip: option.All(
				rapid.SampledFrom([]option.Clip{{}, {HasHigh: true, High: base + 7}}).
					Draw(r, "clip")),
		}
		l := mustLoad(t, o)
		defer l.Close()
		c, err := l.Manifest.Column("a")
		if err != nil {
			r.Fatal(err)
		}
		var n, missing int64
		var sum, squares float64
		least, most := math.Inf(1), math.Inf(-1)
		stored := make([]float64, l.Manifest.Rows)
		for i := range stored {
			switch c.DType {
			case layout.Float64, layout.Float32:
				stored[i] = step.NumberAt(l.Data, c, int64(i), 0)
			default:
				v, err := layout.View[layout.Half](l.Data, c)
				if err != nil {
					r.Fatal(err)
				}
				stored[i] = float64(v.Data[i].Float32())
			}
			if v := stored[i]; v == v {
				n, sum, least, most = n+1, sum+v, min(least, v), max(most, v)
			} else {
				missing++
			}
		}
		for _, v := range stored {
			if v == v {
				squares += (v - sum/float64(n)) * (v - sum/float64(n))
			}
		}
		s := c.Statistics
		if s.Count != n || c.Missing != missing || *s.Min != least || *s.Max != most {
			r.Fatalf("%d values, %d missing, %v to %v; stored are %d, %d, %v to %v", s.Count,
				c.Missing, *s.Min, *s.Max, n, missing, least, most)
		}
		near := func(got, want float64) bool { // sums in another order round differently
			return math.Abs(got-want) <= 1e-8*(1+max(math.Abs(least), math.Abs(most)))
		}
		if mean, std := sum/float64(n), math.Sqrt(squares/float64(n)); !near(*s.Mean, mean) ||
			!near(*s.Std, std) {
			r.Fatalf("mean %v and std %v, stored are %v and %v", *s.Mean, *s.Std, mean, std)
		}
	})
}
