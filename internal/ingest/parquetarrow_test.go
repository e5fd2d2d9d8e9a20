package ingest

import (
	"bytes"
	"encoding/base64"
	"math"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/layout"
)

// schemaText is a schema as it stands in the metadata of a Parquet file.
func schemaText(t rapid.TB, fields []arrow.Field) []byte {
	t.Helper()
	var b bytes.Buffer
	w := ipc.NewWriter(&b, ipc.WithSchema(arrow.NewSchema(fields, nil)))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestFieldsOfAnArrowSchemaAreRead(t *testing.T) {
	types := []arrow.DataType{
		arrow.PrimitiveTypes.Int64, arrow.BinaryTypes.String, arrow.FixedWidthTypes.Duration_s, arrow.FixedWidthTypes.Duration_ns, arrow.FixedWidthTypes.Duration_ms,
		&arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "Europe/Berlin"}, &arrow.TimestampType{Unit: arrow.Second}, &arrow.TimestampType{TimeZone: "+05:30"},
		arrow.ListOf(arrow.FixedWidthTypes.Duration_us), &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String},
	}
	rapid.Check(t, func(r *rapid.T) {
		var fields []arrow.Field
		var want []arrowHint
		for range rapid.IntRange(0, 12).Draw(r, "fields") {
			f := arrow.Field{Name: rapid.StringMatching("[a-fä]{0,2}").Draw(r, "name"), Type: rapid.SampledFrom(types).Draw(r, "type")}
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
		b := schemaText(r, fields)
		got, err := arrowHints("x", base64.StdEncoding.EncodeToString(b))
		if err != nil || !slices.Equal(got, want) {
			r.Fatalf("%v, %v, want %v", got, err, want)
		}
		at := rapid.IntRange(0, len(b)-1).Draw(r, "at")
		b[at] ^= byte(rapid.IntRange(1, 255).Draw(r, "bits"))
		_, _ = arrowHints("x", base64.StdEncoding.EncodeToString(b)) // does not panic
		_, _ = arrowHints("x", base64.StdEncoding.EncodeToString(b[:at]))
	})
}

// withUnit is the schema of one duration in a unit of that number.
func withUnit(t *testing.T, unit byte) []byte {
	t.Helper()
	of := func(u arrow.TimeUnit) []byte {
		return schemaText(t, []arrow.Field{{Name: "d", Type: &arrow.DurationType{Unit: u}}})
	}
	b, other := of(arrow.Microsecond), of(arrow.Nanosecond)
	for i := range b {
		if b[i] != other[i] {
			b[i] = unit
			return b
		}
	}
	t.Fatal("no byte is the unit")
	return nil
}

// stay is a row of files whose schema says more than Parquet's types.
type stay struct {
	D int64 `parquet:"d"`
	N int32 `parquet:"n"`
}

func TestAnArrowSchemaOfAnotherFileChangesNothing(t *testing.T) {
	duration := func(name string) arrow.Field {
		return arrow.Field{Name: name, Type: arrow.FixedWidthTypes.Duration_ms}
	}
	zoned := func(name string) arrow.Field {
		return arrow.Field{Name: name, Type: &arrow.TimestampType{TimeZone: "Europe/Berlin"}}
	}
	encode := func(fields ...arrow.Field) string {
		return base64.StdEncoding.EncodeToString(schemaText(t, fields))
	}
	const damaged = "x.parquet: its metadata ARROW:schema cannot be read"
	for _, c := range []struct {
		name, schema string
		d            layout.DType
		refused      string
	}{
		{"of this file", encode(duration("d"), arrow.Field{Name: "n", Type: arrow.PrimitiveTypes.Int32}), layout.Duration, ""},
		{"other types", encode(zoned("d"), duration("n")), layout.Int64, ""},
		{"other names", encode(duration("x"), duration("y")), "", `x.parquet, column "d": is called "x" in the metadata ARROW:schema`},
		{"other names of types that say nothing", encode(zoned("x"), duration("y")), layout.Int64, ""},
		{"more fields", encode(duration("d"), duration("b"), duration("n")), layout.Int64, ""},
		{"no fields", encode(), layout.Int64, ""},
		{"no base64", "*", "", damaged},
		{"empty", "", "", damaged},
		{"cut", encode(duration("d"))[:48], "", damaged},
		{"a unit that there is not", base64.StdEncoding.EncodeToString(withUnit(t, 4)), "", damaged},
		{"no message", base64.StdEncoding.EncodeToString(make([]byte, 64)), "", damaged},
	} {
		var b bytes.Buffer
		w := parquet.NewGenericWriter[stay](&b, parquet.KeyValueMetadata(arrowSchemaKey, c.schema))
		if _, err := w.Write([]stay{{7, 8}, {-9, 10}}); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		o := Options{Sources: []string{loadtest.File(t, "x.parquet", b.String())}}
		if c.refused != "" {
			_, _, err := inProcess(t, o)
			loadtest.Refused(t, err, c.refused, "write")
			continue
		}
		l := mustLoad(t, o)
		d, err := l.Manifest.Column("d")
		if err != nil {
			t.Fatal(err)
		}
		if n, err := l.Manifest.Column("n"); err != nil || n.DType != layout.Int32 || d.DType != c.d || d.DType == layout.Duration && d.Unit != "ms" {
			t.Errorf("%s: d is %s[%s], n %s: %v", c.name, d.DType, d.Unit, n.DType, err)
		}
		if got := values[int64](l, "d"); got[0] != 7 || got[1] != -9 {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestATimeThatIsNoneIsRefused(t *testing.T) {
	for _, how := range []parquet.Node{parquet.Timestamp(parquet.Nanosecond), parquet.Encoded(parquet.Timestamp(parquet.Nanosecond), &parquet.RLEDictionary)} {
		var b bytes.Buffer
		w := parquet.NewGenericWriter[struct{ T int64 }](&b, parquet.NewSchema("x", parquet.Group{"T": how}))
		if _, err := w.Write([]struct{ T int64 }{{1}, {math.MinInt64}}); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		_, _, err := inProcess(t, Options{Sources: []string{loadtest.File(t, "x.parquet", b.String())}})
		loadtest.Refused(t, err, `x.parquet, row 2, column "T": "NaT" is no time`, "")
	}
}
