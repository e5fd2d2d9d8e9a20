package load

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
)

// TestIntegersAreAppendedToFloatsThatStoreThem appends integers of Parquet to decimals of CSV.
func TestIntegersAreAppendedToFloatsThatStoreThem(t *testing.T) {
	type row struct {
		T int64 `parquet:"t"`
		V int32 `parquet:"v"`
	}
	type wideRow struct {
		T int64 `parquet:"t"`
		V int64 `parquet:"v"`
	}
	csv := loadtest.File(t, "a.csv", "t,v\n1,0.5\n2,1.5\n")
	more := loadtest.File(t, "b.parquet", parquetOf(t, row{3, 7}))
	for name, o := range map[string]option.Options{
		"plain":    {},
		"filtered": {Where: &option.Where{Time: []json.RawMessage{[]byte("0"), []byte("9")}}},
		"filled":   {Fill: option.All(option.FillWith(0))},
		"regrid":   {Regrid: []byte("1")},
	} {
		t.Run(name, func(t *testing.T) {
			o.Sources, o.Time = []string{csv}, "t"
			old := mustLoad(t, o)
			if got := floatsOf(mustAppend(t, old, more), "v"); !slices.Equal(got,
				[]float64{0.5, 1.5, 7}) {
				t.Errorf("got %v", got)
			}
			rounded := loadtest.File(t, "c.parquet", parquetOf(t, wideRow{3, 1<<53 + 1}))
			_, err := tryAppend(t, old, rounded)
			loadtest.Refused(t, err, `"9007199254740993" does not fit float64`,
				"to change options, load all rows again: store integers, with `fill`")
		})
	}
}
