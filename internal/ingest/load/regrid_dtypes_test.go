package load

import (
	"math"
	"testing"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/layout"
)

// TestInsertedRowsTurnIntegersIntoTheDType regrids integers of a CSV file, which become floats
// because a row is inserted, and are stored as the dtype that the options ask for.
func TestInsertedRowsTurnIntegersIntoTheDType(t *testing.T) {
	path := loadtest.File(t, "x.csv", "t,v\n1,2049\n2,11\n4,12\n")
	for _, d := range []layout.DType{layout.Float16, layout.Float32, layout.Float64} {
		for _, dtypes := range []option.DTypes{
			option.Floats(string(d)), {By: map[string]string{"v": string(d)}},
		} {
			l := mustLoad(t, option.Options{Sources: []string{path}, Time: "t", Regrid: []byte("1"),
				DType: dtypes})
			want, rounded := []float64{2049, 11, math.NaN(), 12}, d == layout.Float16
			if rounded {
				want[0] = 2048
			}
			for row, v := range valuesAsFloat64(l, "v") {
				if v != want[row] && !(math.IsNaN(v) && math.IsNaN(want[row])) {
					t.Errorf("%s: row %d is %v, want %v", d, row, v, want[row])
				}
			}
			var loss layout.DTypeError
			if e := l.Manifest.Columns[1].DTypeError; e != nil {
				loss = *e
			}
			if rounded != (loss.Abs == 1) {
				t.Errorf("%s: dtype_error %+v", d, loss)
			}
		}
	}
}

// valuesAsFloat64 returns the values of a column of floats.
func valuesAsFloat64(l loadtest.Loaded, name string) (out []float64) {
	c, err := l.Manifest.Column(name)
	if err != nil {
		panic(err)
	}
	switch c.DType {
	case layout.Float16:
		for _, v := range loadtest.Values[layout.Half](l, name) {
			out = append(out, float64(v.Float32()))
		}
	case layout.Float32:
		for _, v := range loadtest.Values[float32](l, name) {
			out = append(out, float64(v))
		}
	default:
		out = loadtest.Values[float64](l, name)
	}
	return out
}
