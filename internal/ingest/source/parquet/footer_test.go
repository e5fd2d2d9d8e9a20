package parquet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"pgregory.net/rapid"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
)

// typedRow has a column of each physical type that parquet-go writes.
type typedRow struct {
	Bool   bool             `parquet:"bool"`
	Int32  int32            `parquet:"int32"`
	Date   int32            `parquet:"date,date"`
	Int64  *int64           `parquet:"int64,optional"`
	Time   int64            `parquet:"time,timestamp(millisecond)"`
	Int96  deprecated.Int96 `parquet:"int96"`
	Float  float32          `parquet:"float"`
	Double *float64         `parquet:"double,optional"`
	Bytes  []byte           `parquet:"bytes"`
	Text   string           `parquet:"text"`
}

// typedFile returns a file of rows of all types, in two row groups.
func typedFile(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[typedRow](&b, parquet.MaxRowsPerRowGroup(3),
		parquet.KeyValueMetadata("k", "v"))
	for i := range 6 {
		n, x := int64(i), float64(i)/4
		r := typedRow{i%2 == 0, int32(i), int32(i), &n, n, deprecated.Int96{0, 0, 2440588},
			float32(i), &x, []byte{'a', 'b'}, "word"}
		if _, err := w.Write([]typedRow{r}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// splitFooter returns the bytes of a file before its footer, and the footer.
func splitFooter(file []byte) (pages, footer []byte) {
	end := len(file) - 8
	begin := end - int(binary.LittleEndian.Uint32(file[end:]))
	return file[:begin], file[begin:end]
}

// withFooter returns a file with a footer.
func withFooter(pages, footer []byte) []byte {
	out := append(bytes.Clone(pages), footer...)
	return append(binary.LittleEndian.AppendUint32(out, uint32(len(footer))), Magic...)
}

// editFooter returns a file whose footer edit has changed.
func editFooter(t testing.TB, file []byte, edit func(*format.FileMetaData)) []byte {
	t.Helper()
	pages, footer := splitFooter(file)
	var m format.FileMetaData
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), bytes.Clone(footer), &m); err != nil {
		t.Fatal(err)
	}
	edit(&m)
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), &m)
	if err != nil {
		t.Fatal(err)
	}
	return withFooter(pages, footer)
}

// openBytes opens a file with these bytes.
func openBytes(t testing.TB, file []byte) (*parquetFile, error) {
	t.Helper()
	f, err := os.CreateTemp(t.TempDir(), "x.parquet")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if _, err := f.Write(file); err != nil {
		t.Fatal(err)
	}
	r, err := Open("x.parquet", files.NewFile(f), source.Settings{Workers: 1})
	if err != nil {
		return nil, err
	}
	return r.(*parquetFile), nil
}

// describeColumn opens a file with these bytes and describes a column of it.
func describeColumn(t testing.TB, file []byte, i int) (column.Column, error) {
	t.Helper()
	p, err := openBytes(t, file)
	if err != nil {
		return column.Column{}, err
	}
	c, err := p.Describe([]column.Want{{Index: i}})
	if err != nil {
		return column.Column{}, err
	}
	return c[0], nil
}

// TestTypesOfSchemaAndChunksMustAgree gives each column each physical type, also those that the
// format does not have, in the schema, in one column chunk, or in both. A column is never loaded
// under a type that only one of the two has.
func TestTypesOfSchemaAndChunksMustAgree(t *testing.T) {
	file := typedFile(t)
	for i := range 10 {
		if _, err := describeColumn(t, file, i); err != nil {
			t.Fatalf("column %d: %v", i, err)
		}
		for kind := format.Type(-1); kind <= 9; kind++ {
			for _, where := range []string{"schema", "chunk", "both"} {
				was := format.Type(0)
				damaged := editFooter(t, file, func(m *format.FileMetaData) {
					was = m.Schema[1+i].Type.V
					if where != "chunk" {
						m.Schema[1+i].Type.V = kind
					}
					for g := range m.RowGroups {
						if where == "both" || where == "chunk" && g == 1 {
							m.RowGroups[g].Columns[i].MetaData.Type = kind
						}
					}
				})
				unknown := kind < format.Boolean || kind > format.FixedLenByteArray
				if where == "both" && !unknown || kind == was {
					continue
				}
				hint := "damaged"
				if where == "schema" && kind == format.FixedLenByteArray {
					hint = "" // some of these are refused as a type that is not read
				}
				_, err := describeColumn(t, damaged, i)
				t.Run(fmt.Sprintf("column %d of type %d in the %s", i, kind, where),
					func(t *testing.T) { loadtest.Refused(t, err, "x.parquet", hint) })
			}
		}
	}
}

// TestColumnsOfNullsHaveNoValues accepts the logical type null, as pandas writes columns of None,
// if the column chunks have no values either.
func TestColumnsOfNullsHaveNoValues(t *testing.T) {
	const double = 7
	for _, values := range []bool{false, true} {
		file := editFooter(t, typedFile(t), func(m *format.FileMetaData) {
			m.Schema[1+double].LogicalType.Value = &format.NullType{}
			for g := range m.RowGroups {
				if s := &m.RowGroups[g].Columns[double].MetaData.Statistics; !values {
					*s = format.Statistics{NullCount: 3}
				}
			}
		})
		c, err := describeColumn(t, file, double)
		if values {
			loadtest.Refused(t, err, "is of the type null and has values in row group 1", "damaged")
		} else if err != nil || c.Kind != column.KindUnknown {
			t.Errorf("got %s, %v, want a column of nulls", c.Kind, err)
		}
	}
}

// TestAnnotationsThatContradictTheirTypeAreRefused gives a column annotations of other types.
func TestAnnotationsThatContradictTheirTypeAreRefused(t *testing.T) {
	const ofInt64, double = 3, 7
	for want, edit := range map[string]func(e []format.SchemaElement){
		"is of the converted type 77, want 0 to 21": func(e []format.SchemaElement) {
			e[1+double].ConvertedType = thrift.New(deprecated.ConvertedType(77))
		},
		"and its values are of the physical type INT64": func(e []format.SchemaElement) {
			e[1+ofInt64].LogicalType.Value = &format.StringType{}
		},
		`a column "double" of decimals in DOUBLE`: func(e []format.SchemaElement) {
			e[1+double].LogicalType.Value = &format.DecimalType{Scale: 1, Precision: 5}
		},
		`a column "double" of fixed length without a length`: func(e []format.SchemaElement) {
			e[1+double].Type.V = format.FixedLenByteArray
			e[1+double].TypeLength.Valid = false
		},
		`a column "double" of the unknown repetition 7`: func(e []format.SchemaElement) {
			e[1+double].RepetitionType = thrift.New(format.FieldRepetitionType(7))
		},
		`an element "double" of type DOUBLE with 2 children`: func(e []format.SchemaElement) {
			e[1+double].NumChildren = thrift.New(int32(2))
		},
		"its schema has 11 elements, want 10": func(e []format.SchemaElement) {
			e[0].NumChildren.V--
		},
		"its schema has 11 elements, want more": func(e []format.SchemaElement) {
			e[0].NumChildren.V++
		},
	} {
		file := editFooter(t, typedFile(t), func(m *format.FileMetaData) { edit(m.Schema) })
		i := double
		if strings.Contains(want, "INT64") {
			i = ofInt64
		}
		_, err := describeColumn(t, file, i)
		t.Run(want, func(t *testing.T) { loadtest.Refused(t, err, want, "damaged") })
	}
}

// withoutValues returns a footer in which no key of the key-value metadata has a value, as
// parquet.thrift allows.
func withoutValues(t testing.TB, footer []byte) (out []byte, keys int) {
	t.Helper()
	from := 0
	w := compactWalker{bytes: footer}
	begin := 0
	ofKey := func() bool {
		path := fmt.Sprint(w.path)
		return path == "[5]" || path == "[4 1 3 8]"
	}
	w.field = func(at int, _ byte) {
		if n := len(w.path) - 1; w.path[n] == keyValueValue {
			w.path = w.path[:n]
			if ofKey() {
				begin = at
			}
			w.path = w.path[:n+1]
		}
	}
	w.stop = func(uint64) {
		if ofKey() && begin > 0 {
			out = append(out, footer[from:begin]...)
			from, begin = w.at, 0
			keys++
		}
	}
	if err := w.walkStruct(); err != nil {
		t.Fatal(err)
	}
	return append(out, footer[from:]...), keys
}

func TestKeysWithoutValuesAreRead(t *testing.T) {
	file := editFooter(t, typedFile(t), func(m *format.FileMetaData) {
		m.KeyValueMetadata = []format.KeyValue{{Key: "a", Value: "b"}, {Key: "c", Value: "d"}}
		for g := range m.RowGroups {
			for i := range m.RowGroups[g].Columns {
				m.RowGroups[g].Columns[i].MetaData.KeyValueMetadata = []format.KeyValue{
					{Key: "e", Value: "f"},
				}
			}
		}
	})
	pages, footer := splitFooter(file)
	footer, keys := withoutValues(t, footer)
	if keys != 2+2*10 {
		t.Fatalf("%d keys lost their values", keys)
	}
	p, err := openBytes(t, withFooter(pages, footer))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(p.pq.Metadata().KeyValueMetadata); p.Rows() != 6 || n != 2 {
		t.Errorf("%d rows and %d keys, want 6 and 2", p.Rows(), n)
	}
}

// TestReplacedEndReadsAsOneFile reads any part of a file whose end is replaced.
func TestReplacedEndReadsAsOneFile(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		file := rapid.SliceOfN(rapid.Byte(), 1, 50).Draw(r, "file")
		begin := rapid.IntRange(0, len(file)).Draw(r, "begin")
		end := rapid.SliceOfN(rapid.Byte(), 0, 50).Draw(r, "end")
		want := append(bytes.Clone(file[:begin]), end...)
		replaced := &replacedEnd{bytes.NewReader(file), int64(begin), end}
		at := rapid.IntRange(0, len(want)+3).Draw(r, "at")
		p := make([]byte, rapid.IntRange(0, len(want)+3).Draw(r, "n"))
		n, err := replaced.ReadAt(p, int64(at))
		whole := make([]byte, len(p))
		m, wantErr := bytes.NewReader(want).ReadAt(whole, int64(at))
		if n != m || !bytes.Equal(p[:n], whole[:m]) || (err == nil) != (wantErr == nil) && n < len(p) {
			r.Errorf("read %d bytes of %d, %v, want %d, %v", n, len(p), err, m, wantErr)
		}
	})
}

// TestSignedFootersAreRead reads a file with a signature, which follows the footer of a file whose
// columns may be encrypted. Other bytes after a footer are damage.
func TestSignedFootersAreRead(t *testing.T) {
	file := typedFile(t)
	signed := editFooter(t, file, func(m *format.FileMetaData) {
		m.EncryptionAlgorithm.Value = &format.AesGcmV1{}
	})
	for _, c := range []struct {
		file []byte
		more int
		want string
	}{
		{file, 0, ""},
		{file, 1, "1 other bytes follow its values"},
		{file, signatureBytes, "28 other bytes follow its values"},
		{signed, 0, ""},
		{signed, signatureBytes, ""},
		{signed, signatureBytes + 1, "29 other bytes follow its values"},
	} {
		pages, footer := splitFooter(c.file)
		_, err := openBytes(t, withFooter(pages, append(bytes.Clone(footer), make([]byte, c.more)...)))
		if c.want != "" {
			loadtest.Refused(t, err, c.want, loaderr.HintDamaged)
		} else if err != nil {
			t.Error(err)
		}
	}
}

// TestFootersTakeMemoryInProportionToTheirSize opens footers of a few kilobytes that declare very
// many columns in very many row groups.
func TestFootersTakeMemoryInProportionToTheirSize(t *testing.T) {
	const n = 3000
	file := editFooter(t, typedFile(t), func(m *format.FileMetaData) {
		for i := range n {
			m.Schema = append(m.Schema, format.SchemaElement{Name: fmt.Sprint(i),
				Type: thrift.New(format.Double), RepetitionType: thrift.New(format.Required)})
			m.RowGroups = append(m.RowGroups, format.RowGroup{})
		}
		m.Schema[0].NumChildren.V += n
	})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := openBytes(t, file)
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 64<<20 {
		t.Errorf("a footer of %d bytes takes %d bytes of memory", len(file), used)
	}
	loadtest.Refused(t, err, "row group 1 has 10 columns, the schema has 3010", "damaged")
}

// TestNestedValuesEnd reads footers of values that are nested without end.
func TestNestedValuesEnd(t *testing.T) {
	for _, nested := range [][]byte{
		bytes.Repeat([]byte{0x1c}, 1<<20),    // structs
		bytes.Repeat([]byte{0x19, 0x1c}, 99), // lists of structs
	} {
		_, err := openBytes(t, withFooter([]byte(Magic), nested))
		loadtest.Refused(t, err, "nested too deeply", loaderr.HintDamaged)
	}
}

// TestEncryptedColumnsAreRefusedAndOthersRead reads a file with an encrypted column, and with the
// metadata of that column or without it.
func TestEncryptedColumnsAreRefusedAndOthersRead(t *testing.T) {
	const encrypted, plain = 3, 7
	for _, withMetadata := range []bool{false, true} {
		file := editFooter(t, typedFile(t), func(m *format.FileMetaData) {
			m.EncryptionAlgorithm.Value = &format.AesGcmV1{}
			for g := range m.RowGroups {
				c := &m.RowGroups[g].Columns[encrypted]
				c.CryptoMetadata.Value = &format.EncryptionWithColumnKey{
					PathInSchema: []string{"int64"},
				}
				if !withMetadata {
					c.MetaData, c.EncryptedColumnMetadata = format.ColumnMetaData{}, []byte{1}
				}
			}
		})
		pages, footer := splitFooter(file)
		file = withFooter(pages, append(bytes.Clone(footer), make([]byte, signatureBytes)...))
		_, err := describeColumn(t, file, encrypted)
		loadtest.Refused(t, err, `column "int64": is encrypted`, "read it with its keys")
		if _, err := describeColumn(t, file, plain); err != nil {
			t.Error(err)
		}
	}
	_, err := openBytes(t, append([]byte("PARE"), make([]byte, 40)...))
	loadtest.Refused(t, err, "is an encrypted Parquet file", "read it with its keys")
}

func TestColumnsInOtherFilesAreRefused(t *testing.T) {
	file := editFooter(t, typedFile(t), func(m *format.FileMetaData) {
		m.RowGroups[1].Columns[3].FilePath = "part-0.parquet"
	})
	_, err := describeColumn(t, file, 3)
	loadtest.Refused(t, err, `has its values in another file, "part-0.parquet"`, "load that file")
	if _, err := describeColumn(t, file, 7); err != nil {
		t.Error(err)
	}
}
