package layout

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"go.uber.org/goleak"

	"github.com/tensorcache/tensorcache/internal/arrowfile"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var everyDType = []Column{
	{Name: "symbol", Role: RoleItemID, DType: Text},
	{Name: "t", Role: RoleTime, DType: Timestamp, Unit: "ms", Zone: "UTC"},
	{Name: "a", Role: RoleValue, DType: Float32},
	{Name: "b", Role: RoleValue, DType: Float64},
	{Name: "c", Role: RoleValue, DType: Int32},
	{Name: "d", Role: RoleValue, DType: Int64},
	{Name: "e", Role: RoleValue, DType: Bool},
	{Name: "f", Role: RoleValue, DType: Float32, Width: 3},
	{Name: "g", Role: RoleValue, DType: Int8},
	{Name: "h", Role: RoleValue, DType: Uint8},
	{Name: "i", Role: RoleValue, DType: Int16, Width: 5},
	{Name: "j", Role: RoleValue, DType: Uint16},
	{Name: "k", Role: RoleValue, DType: Uint32},
	{Name: "l", Role: RoleValue, DType: Uint64},
	{Name: "m", Role: RoleValue, DType: Float16},
	{Name: "n", Role: RoleValue, DType: Int8, Width: 2},
	{Name: "o", Role: RoleValue, DType: Duration, Unit: "us"},
	{Name: "p", Role: RoleValue, DType: Duration, Unit: "s"},
	{Name: "q", Role: RoleValue, DType: Text},
	{Name: "r", Role: RoleValue, DType: Timestamp, Unit: "ns", Zone: "Europe/Berlin"},
}

// arrowNames are the types of everyDType in the Arrow file, by column.
var arrowNames = map[string]string{
	"symbol": "int32", "t": "timestamp[ms, tz=UTC]", "a": "float32", "b": "float64", "c": "int32",
	"d": "int64", "e": "uint8", "f": "fixed_size_list<item: float32>[3]",
	"g": "int8", "h": "uint8", "i": "fixed_size_list<item: int16>[5]", "j": "uint16", "k": "uint32",
	"l": "uint64", "m": "float16", "n": "fixed_size_list<item: int8>[2]",
	"o": "duration[us]", "p": "duration[s]", "q": "int32", "r": "timestamp[ns, tz=Europe/Berlin]",
}

// fill stores different bits in every value, so that a wrong offset or stride fails the test.
func fill(d ColumnWriter, column int) {
	switch d.DType.Size() {
	case 1:
		fillAs[uint8](d, column)
	case 2:
		fillAs[uint16](d, column)
	case 4:
		fillAs[uint32](d, column)
	case 8:
		fillAs[uint64](d, column)
	}
}

func fillAs[T Number](d ColumnWriter, column int) {
	v := Values[T](d)
	for row := range v.Rows {
		for j := range v.Row(row) {
			v.Row(row)[j] = expected[T](column, row, j, d.DType)
		}
	}
}

func expected[T Number](column int, row int64, feature int, dtype DType) T {
	switch dtype {
	case Bool, Text:
		return T(row % 2)
	}
	return T(int64(column)*1000 + row*10 + int64(feature))
}

// write writes a generation with the columns everyDType.
func write(t *testing.T, dir, layout string, rows int64) *Manifest {
	t.Helper()
	w, err := Create(dir, Table{Layout: layout, Rows: rows, Columns: everyDType})
	if err != nil {
		t.Fatal(err)
	}
	for i := range everyDType {
		fill(w.Column(i, Random), i)
	}
	m, err := w.Finish(Final{
		ItemID: []string{"symbol"}, Time: "t",
		Vocab: map[string][]string{"symbol": {"MSFT", "AAPL"}, "q": {"tech", "food"}},
		Items: Items{Offsets: []int64{0, rows / 2, rows},
			Values: []ItemValues{{Name: "symbol", Texts: []string{"MSFT", "AAPL"}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// open opens a generation and closes it when the test ends.
func open(t *testing.T, dir string) *Data {
	t.Helper()
	d, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func TestWrittenValuesAreReadBack(t *testing.T) {
	for _, layout := range []string{Columns, Packed} {
		for _, rows := range []int64{0, 1, 2, 7, 1000} {
			t.Run(fmt.Sprint(layout, rows), func(t *testing.T) {
				dir := t.TempDir()
				write(t, dir, layout, rows)
				d := open(t, dir)
				for i := range d.Manifest.Columns {
					c := &d.Manifest.Columns[i]
					switch c.DType.Size() {
					case 1:
						compare[uint8](t, d, c, i)
					case 2:
						compare[uint16](t, d, c, i)
					case 4:
						compare[uint32](t, d, c, i)
					case 8:
						compare[uint64](t, d, c, i)
					}
				}
				if err := d.Verify(); err != nil {
					t.Error(err)
				}
				if v, err := d.Item(1); err != nil || len(v) != 1 || v[0] != "AAPL" {
					t.Errorf("item 1 is %v, %v", v, err)
				}
				if v, err := d.Word("symbol", 0); err != nil || v != "MSFT" {
					t.Errorf("word 0 is %q, %v", v, err)
				}
				if o, err := d.ItemOffsets(); err != nil || len(o) != 3 || o[2] != rows {
					t.Errorf("offsets %v, %v", o, err)
				}
			})
		}
	}
}

// compare compares all values of a column with those of fill.
func compare[T Number](t *testing.T, d *Data, c *ManifestColumn, column int) {
	t.Helper()
	v, err := View[T](d, c)
	if err != nil {
		t.Fatal(err)
	}
	for row := range v.Rows {
		for j, got := range v.Row(row) {
			if want := expected[T](column, row, j, c.DType); got != want {
				t.Fatalf("column %q, row %d, feature %d: got %v, want %v", c.Name, row,
					j, got, want)
			}
		}
	}
}

func TestEveryBufferIsAligned(t *testing.T) {
	for _, layout := range []string{Columns, Packed} {
		dir := t.TempDir()
		write(t, dir, layout, 33)
		for name, to := range map[string]int64{DataFile: arrowfile.Alignment, ItemsFile: 8,
			VocabFile("symbol"): 4} {
			f, err := os.Open(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			spans, err := arrowfile.FileBuffers(f)
			f.Close()
			if err != nil {
				t.Fatal(err)
			}
			for i, s := range spans {
				if s.Bytes > 0 && s.Offset%to != 0 {
					t.Errorf("%s %s: buffer %d begins at %d", layout, name, i, s.Offset)
				}
			}
		}
	}
}

func TestArrowReadsDataArrow(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, Columns, 5)
	b, err := os.ReadFile(filepath.Join(dir, DataFile))
	if err != nil {
		t.Fatal(err)
	}
	r, err := ipc.NewFileReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.NumRecords() != 1 {
		t.Fatalf("%d record batches, want 1", r.NumRecords())
	}
	batch, err := r.RecordAt(0)
	if err != nil {
		t.Fatal(err)
	}
	defer batch.Release()
	for i, c := range everyDType {
		if got, want := batch.Schema().Field(i).Type.String(), arrowNames[c.Name]; got != want {
			t.Errorf("column %q is %s, want %s", c.Name, got, want)
		}
	}
	if got := math.Float64bits(batch.Column(3).(*array.Float64).Value(4)); got != 3040 {
		t.Errorf("b[4] has the bits %v, want 3040", got)
	}
}

func TestEqualContentHasEqualDigestAndChecksums(t *testing.T) {
	a, b, packed := write(t, t.TempDir(), Columns, 50), write(t, t.TempDir(), Columns, 50),
		write(t, t.TempDir(), Packed, 50)
	if a.Digest != b.Digest || len(a.Digest) != 32 {
		t.Errorf("digests %q and %q of equal content", a.Digest, b.Digest)
	}
	for i := range a.Columns {
		if a.Columns[i].XXH64 != packed.Columns[i].XXH64 {
			t.Errorf("column %q: checksum %s in columns, %s in packed", a.Columns[i].Name,
				a.Columns[i].XXH64, packed.Columns[i].XXH64)
		}
	}
	if other := write(t, t.TempDir(), Columns, 51); other.Digest == a.Digest {
		t.Error("other content has the same digest")
	}
}

func TestMissingValuesAreCounted(t *testing.T) {
	for _, layout := range []string{Columns, Packed} {
		value := func(name string, d DType) Column {
			return Column{Name: name, Role: RoleValue, DType: d}
		}
		w, err := Create(t.TempDir(), Table{Layout: layout, Rows: 4, Columns: []Column{
			value("none", Float32), value("a", Float32), value("b", Float64), value("c", Float16),
			value("d", Text), value("e", Int32),
		}})
		if err != nil {
			t.Fatal(err)
		}
		a, b, c, d, e := Values[float32](w.Column(1, Random)), Values[float64](w.Column(2, Random)),
			Values[Half](w.Column(3, Random)), Values[int32](w.Column(4, Random)),
			Values[int32](w.Column(5, Random))
		for i := range int64(4) {
			if i < 2 {
				a.Row(i)[0], b.Row(i)[0], c.Row(i)[0] = float32(math.NaN()), math.NaN(),
					HalfOf(math.NaN())
			}
			d.Row(i)[0], e.Row(i)[0] = int32(i)-1, -1
		}
		c.Row(3)[0] = HalfOf(math.Inf(-1))
		m, err := w.Finish(Final{Items: Items{Offsets: []int64{0, 4}}})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []int64{0, 2, 2, 2, 1, 0} {
			if m.Columns[i].Missing != want {
				t.Errorf("%s: column %q: missing %d, want %d", layout, m.Columns[i].Name,
					m.Columns[i].Missing, want)
			}
		}
	}
}

func TestDamagedGenerationsAreRefused(t *testing.T) {
	damage := map[string]func(dir string) error{
		"no manifest": func(dir string) error {
			return os.Remove(filepath.Join(dir, ManifestFile))
		},
		"no data": func(dir string) error { return os.Remove(filepath.Join(dir, DataFile)) },
		"data truncated": func(dir string) error {
			return os.Truncate(filepath.Join(dir, DataFile), 100)
		},
		"items truncated": func(dir string) error {
			return os.Truncate(filepath.Join(dir, ItemsFile), 100)
		},
		"manifest truncated": func(dir string) error {
			return os.Truncate(filepath.Join(dir, ManifestFile), 40)
		},
		"other format":   edit(ManifestFile, `"format": 2`, `"format": 9`),
		"offset moved":   edit(ManifestFile, `"offset": `, `"offset": 9`),
		"more rows":      edit(ManifestFile, `"rows": 50`, `"rows": 59`),
		"stride changed": edit(ManifestFile, `"strides": [`, `"strides": [9`),
		"footer damaged": func(dir string) error {
			path := filepath.Join(dir, DataFile)
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for i := len(b) - 200; i < len(b)-10; i++ {
				b[i] ^= 0x5a
			}
			return os.WriteFile(path, b, 0o600)
		},
	}
	for name, do := range damage {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, Columns, 50)
			if err := do(dir); err != nil {
				t.Fatal(err)
			}
			d, err := Open(dir)
			if err == nil {
				d.Close()
			}
			if !errors.Is(err, ErrTorn) && !errors.Is(err, ErrFormat) {
				t.Errorf("got %v, want ErrTorn or ErrFormat", err)
			}
		})
	}
}

// edit returns a function that replaces old by new in a file of a generation. If the file is the
// manifest, its checksum is corrected, so that another check must find the damage.
func edit(file, old, new string) func(string) error {
	return func(dir string) error {
		path := filepath.Join(dir, file)
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if !strings.Contains(string(b), old) {
			return fmt.Errorf("%s does not contain %s", file, old)
		}
		b = []byte(strings.Replace(string(b), old, new, 1))
		if at := bytes.Index(b, checksumKey); file == ManifestFile && at >= 0 {
			copy(b[at+len(checksumKey):], blankChecksum)
			setChecksum(b)
		}
		return os.WriteFile(path, b, 0o600)
	}
}

func TestInvalidTablesAreRefused(t *testing.T) {
	value := func(name string) Column { return Column{Name: name, Role: RoleValue, DType: Float32} }
	for name, table := range map[string]Table{
		"twice the same name": {Rows: 1, Columns: []Column{value("a"), value("a")}},
		"no columns":          {Rows: 1},
		"negative rows":       {Rows: -1, Columns: []Column{value("a")}},
		"unknown layout":      {Layout: "rows", Rows: 1, Columns: []Column{value("a")}},
		"unknown dtype":       {Rows: 1, Columns: []Column{{Name: "a", DType: "float8"}}},
		"too large":           {Rows: math.MaxInt64 / 2, Columns: []Column{value("a")}},
		"packed name taken": {Layout: Packed, Rows: 1,
			Columns: []Column{{Name: "packed_float32", Role: RoleItemID, DType: Int64},
				value("a")}},
	} {
		if _, err := Create(t.TempDir(), table); !errors.Is(err, ErrSchema) {
			t.Errorf("%s: got %v, want ErrSchema", name, err)
		}
	}
}
