package load

import (
	"bytes"
	"math"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
)

// TestFloatsThatStayMissingAreTheCanonicalNaN loads and appends columns in which values stay
// missing after a fill: without a mean, without a value after the gap, and without a value before
// it. All of them must have the bits of column.NaN.
func TestFloatsThatStayMissingAreTheCanonicalNaN(t *testing.T) {
	check := func(name string, l loadtest.Loaded) {
		t.Helper()
		missing := 0
		for i, v := range loadtest.Values[float64](l, "a") {
			if v == v {
				continue
			}
			if missing++; math.Float64bits(v) != math.Float64bits(column.NaN) {
				t.Errorf("%s: row %d is %x", name, i+1, math.Float64bits(v))
			}
		}
		if missing == 0 {
			t.Errorf("%s: nothing is missing", name)
		}
	}
	loadText := func(o option.Options, text string) loadtest.Loaded {
		o.Sources, o.ItemID, o.DType = []string{loadtest.File(t, "x.csv", text)},
			[]string{"i"}, option.Floats("float64")
		return mustLoad(t, o)
	}
	check("an item without a mean",
		loadText(option.Options{Fill: option.All(option.Fill{How: option.FillMean}),
			ScalePer: option.ScalePerItem, Scale: option.All(option.ScaleMinMax)},
			"i,a\nx,\ny,1\ny,2\n"))
	more := loadtest.File(t, "more.csv", "i,a\nx,\nx,5\ny,\n")
	for name, o := range map[string]option.Options{
		"a difference to a missing value": {Diff: option.All(true)},
		"forward after a missing value": {Fill: option.All(
			option.Fill{How: option.FillForward})},
		"linear after a missing value": {Fill: option.All(option.Fill{How: option.FillLinear}),
			Diff: option.All(true)},
		"the mean of missing values": {Fill: option.All(option.Fill{How: option.FillMean})},
	} {
		old := loadText(o, "i,a\nx,\n")
		check(name, old)
		check(name+", appended", mustAppend(t, old, more))
	}
	type row struct {
		A *int64 `parquet:"a,optional"`
	}
	one := int64(1)
	var b bytes.Buffer
	w := parquet.NewGenericWriter[row](&b)
	if _, err := w.Write([]row{{&one}, {}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	check("no integer after a gap", mustLoad(t, option.Options{
		Sources: []string{loadtest.File(t, "x.parquet", b.String())},
		Fill:    option.All(option.Fill{How: option.FillBackward}),
		DType:   option.DTypes{By: map[string]string{"a": "float64"}},
	}))
}
