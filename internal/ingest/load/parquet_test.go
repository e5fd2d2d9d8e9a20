package load

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
	"pgregory.net/rapid"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/layout"
)

// sameText reports whether got, from loadtest.Texts, is the value of want. Floats in want are
// hexadecimal, as testdata/make.py writes them.
func sameText(got, want string, float bool) bool {
	if !float || want == "nan" {
		return got == want
	}
	v, err := strconv.ParseFloat(want, 64)
	return err == nil && got == loadtest.FloatText(v)
}

func TestParquetFilesOfPyarrowLoadAsPyarrowReadsThem(t *testing.T) {
	b, err := os.ReadFile("testdata/expected.json")
	if err != nil {
		t.Fatal(err)
	}
	var expected map[string]json.RawMessage
	if err := json.Unmarshal(b, &expected); err != nil {
		t.Fatal(err)
	}
	for name, raw := range expected {
		t.Run(name, func(t *testing.T) {
			var same string
			if json.Unmarshal(raw, &same) == nil {
				raw = expected[same]
			}
			var columns map[string][]string
			if err := json.Unmarshal(raw, &columns); err != nil {
				t.Fatal(err)
			}
			o := option.Options{Sources: []string{"testdata/" + name + ".parquet"}}
			if columns["text"] != nil {
				o.ItemID = []string{"text"}
			}
			for _, l := range []string{layout.Columns, layout.Packed} {
				o.Layout = l
				got := mustLoad(t, o)
				if got.Manifest.Rows != int64(len(columns[got.Manifest.Columns[0].Name])) ||
					len(got.Manifest.Columns) != len(columns) {
					t.Fatalf("%d rows of %d columns", got.Manifest.Rows, len(got.Manifest.Columns))
				}
				for _, c := range got.Manifest.Columns {
					for row, v := range loadtest.Texts(got, c.Name) {
						if want := columns[c.Name][row]; !sameText(v, want, c.DType.IsFloat()) {
							t.Errorf("%s, column %s, row %d: %s, want %s", l, c.Name, row, v, want)
						}
					}
				}
			}
		})
	}
}

func TestParquetTypesDetermineTheDTypes(t *testing.T) {
	l := mustLoad(t, option.Options{Sources: []string{"testdata/flat-none.parquet"},
		ItemID: []string{"text"}})
	want := map[string][4]string{ // dtype, source dtype, unit, zone
		"f16": {"float16"}, "f32": {"float32"}, "f64": {"float64"},
		"i8": {"int8"}, "i16": {"int16"}, "i32": {"int32"}, "i64": {"int64"},
		"u8": {"uint8"}, "u16": {"uint16"}, "u32": {"uint32"}, "u64": {"uint64"},
		"few": {"float64"}, "b": {"bool"}, "text": {"text"}, "s_naive": {"timestamp", "", "ms"},
		"us_utc":  {"timestamp", "", "us", "UTC"},
		"ns_zone": {"timestamp", "", "ns", "Europe/Paris"}, "day": {"timestamp", "date", "s"},
	}
	for _, c := range l.Manifest.Columns {
		if got := [4]string{string(c.DType), c.SourceDType, c.Unit, c.Zone}; got != want[c.Name] {
			t.Errorf("column %s is %q, want %q", c.Name, got, want[c.Name])
		}
	}
}

func TestInvalidParquetFilesAreRefused(t *testing.T) {
	whole, err := os.ReadFile("testdata/flat-snappy-plain.parquet")
	if err != nil {
		t.Fatal(err)
	}
	half := loadtest.File(t, "half.parquet", string(whole[:len(whole)/2]))
	flipped := append([]byte(nil), whole...)
	flipped[120] ^= 1
	for _, c := range []struct {
		name, path, want, hint string
		o                      option.Options
	}{
		{"truncated", half, half + ": is cut off: its end is not that of a Parquet file",
			"write or copy it again", option.Options{}},
		{"text", loadtest.File(t, "a.parquet", "a,b\n1,2\n3,4\n"), "is not a Parquet file", "",
			option.Options{}},
		{"flipped bit", loadtest.File(t, "flip.parquet", string(flipped)),
			"crc32 checksum mismatch", "damaged", option.Options{ItemID: []string{"text"}}},
		{"lz4", "testdata/bad-lz4.parquet",
			`column "a": is compressed with LZ4_RAW, which is not read`, `"snappy" or "zstd"`,
			option.Options{}},
		{"nested", "testdata/bad-nested.parquet", `column "a": holds nested values`, "`columns`",
			option.Options{}},
		{"null in integers", "testdata/bad-nulls.parquet",
			`row 3, column "i": the value is missing, but only float columns have missing values`,
			"`fill={\"i\":0}`", option.Options{}},
		{"null in bools", "testdata/bad-nulls.parquet", `row 2, column "b": the value is missing`,
			"leave the column out", option.Options{Columns: []string{"b"}}},
		{"uint64", "testdata/bad-big.parquet",
			`row 2, column "u": "18446744073709551615" does not fit int64`, "",
			option.Options{Time: "u"}},
		{"no rows", "testdata/bad-empty.parquet", "has columns but no rows", "", option.Options{}},
		{"float32", "testdata/flat-none.parquet", "does not fit float32", "",
			option.Options{Columns: []string{"f64"}, DType: option.Floats("float32")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.o.Sources = []string{c.path}
			_, _, err := loadInProcess(t, c.o)
			loadtest.Refused(t, err, c.want, c.hint)
		})
	}
	if l := mustLoad(t, option.Options{Sources: []string{"testdata/bad-nested.parquet"},
		Columns: []string{"x"}}); loadtest.Values[float64](l, "x")[1] != 2 {
		t.Error("the values of a column beside a nested one are wrong")
	}
}

// TestEncodingsOfLaterVersionsAreNotDamaged gives the data pages of all types another encoding.
func TestEncodingsOfLaterVersionsAreNotDamaged(t *testing.T) {
	for _, name := range []string{"flat-none", "flat-v2-zstd", "bools-v2"} {
		whole, err := os.ReadFile("testdata/" + name + ".parquet")
		if err != nil {
			t.Fatal(err)
		}
		for encoding, hint := range map[format.Encoding]string{
			10: "another encoding", 63: "another encoding", 64: "damaged",
		} {
			edited := loadtest.EditParquet(t, whole, func(h *format.PageHeader,
				_ *format.ColumnMetaData, body []byte) []byte {
				h.DataPageHeader.V.Encoding, h.DataPageHeaderV2.V.Encoding = encoding, encoding
				return body
			}, nil)
			path := loadtest.File(t, "x.parquet", string(edited))
			for _, column := range []string{"b", "f64", "text"} {
				o := option.Options{Sources: []string{path}, Columns: []string{column}}
				if column != "b" && name == "bools-v2" {
					continue
				}
				_, _, err := loadInProcess(t, o)
				loadtest.Refused(t, err, `x.parquet, row group 1, column "`+column+`", page 1: `, hint)
			}
		}
	}
}

func TestTruncatedParquetIsRefused(t *testing.T) {
	whole, err := os.ReadFile("testdata/flat-snappy-plain.parquet")
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(1, len(whole)-1).Draw(r, "bytes")
		path := loadtest.File(t, "cut.parquet", string(whole[:n]))
		if _, _, err := loadInProcess(t, option.Options{Sources: []string{path},
			ItemID: []string{"text"}}); err == nil || !strings.Contains(err.Error(), path) {
			r.Fatalf("%d of %d bytes: %v", n, len(whole), err)
		}
	})
}

// record is a row of the files that TestParquetFilesOfParquetGoLoadUnchanged writes.
type record struct {
	A float64  `parquet:"a"`
	B *float32 `parquet:"b,optional"`
	C int64    `parquet:"c,delta"`
	D int32    `parquet:"d,dict"`
	E *float64 `parquet:"e,optional,dict"`
	F string   `parquet:"f,dict"`
	G bool     `parquet:"g"`
}

func TestParquetFilesOfParquetGoLoadUnchanged(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		codec := rapid.SampledFrom([]parquet.WriterOption{
			parquet.Compression(&parquet.Uncompressed), parquet.Compression(&parquet.Snappy),
			parquet.Compression(&parquet.Zstd), parquet.Compression(&parquet.Gzip),
		}).Draw(r, "codec")
		options := []parquet.WriterOption{
			codec, parquet.DataPageVersion(rapid.IntRange(1, 2).Draw(r, "page version")),
			parquet.PageBufferSize(rapid.IntRange(64, 4096).Draw(r, "page bytes")),
			parquet.MaxRowsPerRowGroup(rapid.Int64Range(1, 400).Draw(r, "group rows")),
		}
		records := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) record {
			x := record{A: rapid.Float64().Draw(r, "a"), C: rapid.Int64().Draw(r, "c"),
				D: int32(rapid.IntRange(0, 3).Draw(r, "d")),
				F: rapid.SampledFrom([]string{"x", "y", "zz"}).Draw(r, "f"),
				G: rapid.Bool().Draw(r, "g")}
			if rapid.Bool().Draw(r, "has b") {
				v := rapid.Float32().Draw(r, "b")
				x.B = &v
			}
			if rapid.Bool().Draw(r, "has e") {
				v := float64(rapid.IntRange(0, 4).Draw(r, "e"))
				x.E = &v
			}
			return x
		}), 1, 500).Draw(r, "rows")
		path := filepath.Join(t.TempDir(), "x.parquet")
		f, err := os.Create(path)
		if err != nil {
			r.Fatal(err)
		}
		w := parquet.NewGenericWriter[record](f, options...)
		if _, err := w.Write(records); err != nil {
			r.Fatal(err)
		}
		if err := w.Close(); err != nil {
			r.Fatal(err)
		}
		f.Close()
		l := mustLoad(t, option.Options{Sources: []string{path},
			Columns: []string{"a", "b", "c", "d", "e", "g"}})
		defer l.Close()
		a, b, c, d, e := loadtest.Values[float64](l, "a"), loadtest.Values[float32](l, "b"),
			loadtest.Values[int64](l, "c"), loadtest.Values[int32](l, "d"),
			loadtest.Values[float64](l, "e")
		g := loadtest.Values[uint8](l, "g")
		if len(a) != len(records) {
			r.Fatalf("%d rows, want %d", len(a), len(records))
		}
		for i, x := range records {
			if math.Float64bits(a[i]) != math.Float64bits(x.A) || c[i] != x.C || d[i] != x.D ||
				(g[i] == 1) != x.G {
				r.Fatalf("row %d: %v %v %v, want %+v", i, a[i], c[i], d[i], x)
			}
			if (x.B == nil) != (b[i] != b[i]) && (x.B == nil || *x.B == *x.B) || x.B != nil &&
				math.Float32bits(*x.B) != math.Float32bits(b[i]) {
				r.Fatalf("row %d: b is %v", i, b[i])
			}
			if x.E == nil && e[i] == e[i] || x.E != nil && e[i] != *x.E {
				r.Fatalf("row %d: e is %v", i, e[i])
			}
		}
	})
}

// TestDamagedParquetIsRefusedOrRead changes a few bytes of a file, half of them near its end, where
// the footer is. A load must allocate at most 64 MiB, and an error must name the file.
func TestDamagedParquetIsRefusedOrRead(t *testing.T) {
	for _, name := range []string{"flat-snappy-plain", "flat-v2-zstd", "flat-encodings", "holes",
		"bools-v2", "flat-v2-zstd of parquet-cpp", "holes of parquet-mr"} {
		base, writer, _ := strings.Cut(name, " of ")
		whole, err := os.ReadFile("testdata/" + base + ".parquet")
		if err != nil {
			t.Fatal(err)
		}
		switch writer {
		case "parquet-cpp":
			whole = loadtest.EditParquet(t, whole, flagAsPlain, writtenBy("parquet-cpp version 1.5.1"))
		case "parquet-mr":
			whole = loadtest.EditParquet(t, whole, nil, forgetDictionaryHeaders)
		}
		o := option.Options{Sources: []string{filepath.Join(t.TempDir(), "x.parquet")}}
		if strings.HasPrefix(name, "flat") {
			o.ItemID, o.Sort = []string{"text"}, true
		}
		refused := 0
		for seed := range uint64(damagedCopies) {
			r := rand.New(rand.NewPCG(seed, 1))
			b := slices.Clone(whole)
			for range 1 + r.IntN(4) {
				at := r.IntN(len(b))
				if r.IntN(2) == 0 {
					at = len(b) - 1 - r.IntN(min(700, len(b)))
				}
				b[at] = byte(r.IntN(256))
			}
			if err := os.WriteFile(o.Sources[0], b, 0o600); err != nil {
				t.Fatal(err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, _, err := loadInProcess(t, o)
			runtime.ReadMemStats(&after)
			if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
				t.Errorf("%s, seed %d: %d bytes allocated: %v", name, seed, took, err)
			}
			if err == nil {
				continue
			}
			if text := panicIn(err); text != "" {
				t.Errorf("%s, seed %d: the message has the text of a panic: %s", name, seed, text)
			}
			if refused++; !strings.Contains(err.Error(), "x.parquet") &&
				!errors.Is(err, loaderr.ErrOption) {
				t.Errorf("%s, seed %d: the message does not name the file: %v", name, seed, err)
			}
		}
		t.Logf("%s: %d of %d refused", name, refused, damagedCopies)
	}
}

// damagedCopies is the number of damaged copies of each file.
const damagedCopies = 200

func FuzzParquet(f *testing.F) {
	for _, name := range []string{"holes", "bools-v2", "flat-encodings", "bad-nulls"} {
		b, err := os.ReadFile("testdata/" + name + ".parquet")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) == 0 || len(b) > 64<<10 {
			t.Skip()
		}
		path := loadtest.File(t, "x.parquet", string(b))
		if _, _, err := loadInProcess(t, option.Options{Sources: []string{path}}); err != nil &&
			!strings.Contains(err.Error(), "x.parquet") {
			t.Errorf("the message does not name the file: %v", err)
		}
	})
}

// TestInt96TimesOutsideNanosecondsAreRefused loads the year 9999, which Spark writes for periods
// without an end. It is outside the range of nanoseconds in int64.
func TestInt96TimesOutsideNanosecondsAreRefused(t *testing.T) {
	var b bytes.Buffer
	w := parquet.NewGenericWriter[struct{ T deprecated.Int96 }](&b)
	if _, err := w.Write([]struct{ T deprecated.Int96 }{{deprecated.Int96{0, 0, 2440589}},
		{deprecated.Int96{1000, 0, 5373484}}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	_, _, err := loadInProcess(t,
		option.Options{Sources: []string{loadtest.File(t, "x.parquet", b.String())}})
	loadtest.Refused(t, err,
		`x.parquet, row group 1, column "T", page 1: "9999-12-31 00:00:00.000001" is an INT96 time outside`, "microseconds")
}
