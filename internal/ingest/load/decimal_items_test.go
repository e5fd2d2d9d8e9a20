package load

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/decimal128"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
)

// decimals returns an Arrow file with the columns i and t of decimals, and v of floats that count
// rows. An integer n of i is the decimal n / 10^scale.
func decimals(t *testing.T, precision, scale int32, i, times []int64) string {
	t.Helper()
	kind := &arrow.Decimal128Type{Precision: precision, Scale: scale}
	whole := &arrow.Decimal128Type{Precision: precision}
	schema := arrow.NewSchema([]arrow.Field{{Name: "i", Type: kind}, {Name: "t", Type: whole},
		{Name: "v", Type: arrow.PrimitiveTypes.Float64}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for row := range i {
		b.Field(0).(*array.Decimal128Builder).Append(decimal128.FromI64(i[row]))
		b.Field(1).(*array.Decimal128Builder).Append(decimal128.FromI64(times[row]))
		b.Field(2).(*array.Float64Builder).Append(float64(row))
	}
	record := b.NewRecord()
	defer record.Release()
	var out bytes.Buffer
	w := ipc.NewWriter(&out, ipc.WithSchema(schema))
	if err := w.Write(record); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return loadtest.File(t, "x.arrow", out.String())
}

func TestWholeDecimalsAreItemsAndTimes(t *testing.T) {
	o := option.Options{ItemID: []string{"i"}, Time: "t", Sources: []string{
		decimals(t, 9, 1, []int64{70, 70, -20}, []int64{-5, 3, 1}),
		decimals(t, 38, 0, []int64{1<<53 + 1, 5}, []int64{math.MaxInt64, 0}),
	}}
	l := mustLoad(t, o)
	if got := loadtest.Values[int64](l, "i"); !slices.Equal(got, []int64{7, 7, -2, 1<<53 + 1, 5}) {
		t.Error(got)
	}
	if got := loadtest.Values[int64](l, "t"); !slices.Equal(got, []int64{-5, 3, 1, math.MaxInt64, 0}) {
		t.Error(got)
	}
	o = option.Options{ItemID: []string{"i"}, Melt: option.MeltRows, Columns: []string{"v"},
		Sources: []string{decimals(t, 9, 1, []int64{70, -20}, []int64{0, 0})}}
	l = mustLoad(t, o)
	if got := loadtest.Values[int64](l, "i"); !slices.Equal(got, []int64{7, -2}) {
		t.Error(got)
	}
}

func TestDecimalsThatAreNoIntegersAreRefused(t *testing.T) {
	const item = "convert the decimals to text before the load"
	for _, c := range []struct {
		scale      int32
		i, times   []int64
		want, hint string
	}{
		{1, []int64{70, 75}, []int64{0, 1}, `row 2, column "i": "7.5" does not fit int64`, item},
		{17, []int64{1e17, 1e17 + 1}, []int64{0, 1},
			`row 2, column "i": "1.00000000000000001" does not fit int64`, item},
	} {
		_, _, err := loadInProcess(t, option.Options{ItemID: []string{"i"}, Time: "t",
			Sources: []string{decimals(t, 18, c.scale, c.i, c.times)}})
		loadtest.Refused(t, err, c.want, c.hint)
	}
}
