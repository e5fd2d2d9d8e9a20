package load

import (
	"bytes"
	"encoding/base64"
	"math"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/parquet-go/parquet-go"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/layout"
)

// schemaWithUnit returns an Arrow schema of one duration with the given unit. unit is the number of
// Arrow's format; 4 and more are not defined.
func schemaWithUnit(t *testing.T, unit byte) []byte {
	t.Helper()
	schema := func(u arrow.TimeUnit) []byte {
		return loadtest.ArrowSchema(t,
			[]arrow.Field{{Name: "d", Type: &arrow.DurationType{Unit: u}}})
	}
	b, other := schema(arrow.Microsecond), schema(arrow.Nanosecond)
	for i := range b {
		if b[i] != other[i] {
			b[i] = unit
			return b
		}
	}
	t.Fatal("the schemas do not differ in the byte of the unit")
	return nil
}

// durationRow is a row of files whose Arrow schema has types that Parquet lacks.
type durationRow struct {
	D int64 `parquet:"d"`
	N int32 `parquet:"n"`
}

// TestOnlyAMatchingArrowSchemaIsApplied loads Parquet files with the metadata ARROW:schema of the
// file, of another file, and with damage. Only types that match the column apply.
func TestOnlyAMatchingArrowSchemaIsApplied(t *testing.T) {
	duration := func(name string) arrow.Field {
		return arrow.Field{Name: name, Type: arrow.FixedWidthTypes.Duration_ms}
	}
	zoned := func(name string) arrow.Field {
		return arrow.Field{Name: name, Type: &arrow.TimestampType{TimeZone: "Europe/Berlin"}}
	}
	encode := func(fields ...arrow.Field) string {
		return base64.StdEncoding.EncodeToString(loadtest.ArrowSchema(t, fields))
	}
	const damaged = "x.parquet: its metadata ARROW:schema cannot be read"
	for _, c := range []struct {
		name, schema string
		d            layout.DType // of column d
		refused      string       // "" if the load succeeds
	}{
		{"of this file",
			encode(duration("d"), arrow.Field{Name: "n", Type: arrow.PrimitiveTypes.Int32}),
			layout.Duration, ""},
		{"other types", encode(zoned("d"), duration("n")), layout.Int64, ""},
		{"other names", encode(duration("x"), duration("y")), "",
			`x.parquet, column "d": is called "x" in the metadata ARROW:schema`},
		{"other names of types that say nothing", encode(zoned("x"), duration("y")),
			layout.Int64, ""},
		{"more fields", encode(duration("d"), duration("b"), duration("n")), layout.Int64, ""},
		{"no fields", encode(), layout.Int64, ""},
		{"no base64", "*", "", damaged},
		{"empty", "", "", damaged},
		{"truncated", encode(duration("d"))[:48], "", damaged},
		{"an undefined unit", base64.StdEncoding.EncodeToString(schemaWithUnit(t, 4)),
			"", damaged},
		{"no message", base64.StdEncoding.EncodeToString(make([]byte, 64)), "", damaged},
	} {
		var b bytes.Buffer
		w := parquet.NewGenericWriter[durationRow](&b,
			parquet.KeyValueMetadata("ARROW:schema", c.schema))
		if _, err := w.Write([]durationRow{{7, 8}, {-9, 10}}); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		o := option.Options{Sources: []string{loadtest.File(t, "x.parquet", b.String())}}
		if c.refused != "" {
			_, _, err := loadInProcess(t, o)
			loadtest.Refused(t, err, c.refused, "write")
			continue
		}
		l := mustLoad(t, o)
		d, err := l.Manifest.Column("d")
		if err != nil {
			t.Fatal(err)
		}
		if n, err := l.Manifest.Column("n"); err != nil || n.DType != layout.Int32 ||
			d.DType != c.d || d.DType == layout.Duration && d.Unit != "ms" {
			t.Errorf("%s: d is %s[%s], n %s: %v", c.name, d.DType, d.Unit, n.DType, err)
		}
		if got := loadtest.Values[int64](l, "d"); got[0] != 7 || got[1] != -9 {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestParquetNaTIsRefused(t *testing.T) {
	for _, node := range []parquet.Node{parquet.Timestamp(parquet.Nanosecond),
		parquet.Encoded(parquet.Timestamp(parquet.Nanosecond), &parquet.RLEDictionary)} {
		var b bytes.Buffer
		w := parquet.NewGenericWriter[struct{ T int64 }](&b,
			parquet.NewSchema("x", parquet.Group{"T": node}))
		if _, err := w.Write([]struct{ T int64 }{{1}, {math.MinInt64}}); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		_, _, err := loadInProcess(t,
			option.Options{Sources: []string{loadtest.File(t, "x.parquet", b.String())}})
		loadtest.Refused(t, err, `x.parquet, row 2, column "T": "NaT" is not a time`, "")
	}
}
