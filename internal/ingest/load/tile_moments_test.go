package load

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
)

// TestScaledValuesDoNotDependOnRowGroups loads the same rows from CSV and from Parquet files with
// row groups of different sizes. Scaled values, fits and statistics must be equal to the last bit.
func TestScaledValuesDoNotDependOnRowGroups(t *testing.T) {
	type record struct {
		A float64 `parquet:"a,plain"`
		B float64 `parquet:"b,plain"`
	}
	random := rand.New(rand.NewPCG(3, 4))
	records := make([]record, 3*16_384+777)
	var text strings.Builder
	text.WriteString("a,b\n")
	for i := range records {
		records[i] = record{random.NormFloat64()*3 + 1e6, random.ExpFloat64()}
		if i%7000 == 6999 {
			records[i].B = column.NaN
		}
		fmt.Fprintf(&text, "%v,%v\n", records[i].A, records[i].B)
	}
	sources := []string{loadtest.File(t, "x.csv", text.String())}
	for _, rows := range []int64{int64(len(records)), 16_384, 20_000, 5_000} {
		var b bytes.Buffer
		w := parquet.NewGenericWriter[record](&b, parquet.MaxRowsPerRowGroup(rows),
			parquet.DataPageVersion(1))
		if _, err := w.Write(records); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		sources = append(sources, loadtest.File(t, fmt.Sprintf("%d.parquet", rows), b.String()))
	}
	for _, o := range []option.Options{{Fill: option.All(option.Fill{How: option.FillMean})}, {}} {
		o.Scale, o.DType = option.All(option.ScaleStandard), option.Floats("float64")
		var want loadtest.Loaded
		for i, s := range sources {
			o.Sources = []string{s}
			got := mustLoad(t, o)
			defer got.Close()
			if i == 0 {
				want = got
				continue
			}
			for _, name := range []string{"a", "b"} {
				g, _ := got.Manifest.Column(name)
				w, _ := want.Manifest.Column(name)
				if g.XXH64 != w.XXH64 || !reflect.DeepEqual(g.Scale, w.Scale) ||
					!reflect.DeepEqual(g.Statistics, w.Statistics) {
					t.Errorf("%s, column %s: %s, %+v and %+v; want %s, %+v and %+v", s, name,
						g.XXH64, g.Scale, g.Statistics, w.XXH64, w.Scale, w.Statistics)
				}
			}
		}
	}
}
