package parquet

import (
	"encoding/base64"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"pgregory.net/rapid"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	_ "github.com/tensorcache/tensorcache/internal/testseed" // for rapid
)

func TestFieldsOfAnArrowSchemaAreRead(t *testing.T) {
	types := []arrow.DataType{
		arrow.PrimitiveTypes.Int64, arrow.BinaryTypes.String, arrow.FixedWidthTypes.Duration_s,
		arrow.FixedWidthTypes.Duration_ns, arrow.FixedWidthTypes.Duration_ms,
		&arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "Europe/Berlin"},
		&arrow.TimestampType{Unit: arrow.Second}, &arrow.TimestampType{TimeZone: "+05:30"},
		arrow.ListOf(arrow.FixedWidthTypes.Duration_us),
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8,
			ValueType: arrow.BinaryTypes.String},
	}
	rapid.Check(t, func(r *rapid.T) {
		var fields []arrow.Field
		var want []arrowHint
		for range rapid.IntRange(0, 12).Draw(r, "fields") {
			f := arrow.Field{Name: rapid.StringMatching("[a-fä]{0,2}").Draw(r, "name"),
				Type: rapid.SampledFrom(types).Draw(r, "type")}
			fields = append(fields, f)
			h := arrowHint{name: f.Name}
			switch k := f.Type.(type) {
			case *arrow.DurationType:
				h.duration = k.Unit.String()
			case *arrow.TimestampType:
				h.zone = k.TimeZone
			}
			want = append(want, h)
		}
		b := loadtest.ArrowSchema(r, fields)
		got, err := parseArrowHints("x", base64.StdEncoding.EncodeToString(b))
		if err != nil || !slices.Equal(got, want) {
			r.Fatalf("%v, %v, want %v", got, err, want)
		}
		at := rapid.IntRange(0, len(b)-1).Draw(r, "at")
		b[at] ^= byte(rapid.IntRange(1, 255).Draw(r, "bits"))
		_, _ = parseArrowHints("x", base64.StdEncoding.EncodeToString(b)) // does not panic
		_, _ = parseArrowHints("x", base64.StdEncoding.EncodeToString(b[:at]))
	})
}
