package load

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/internal/ingest/source/numpy"
	"github.com/tensorcache/tensorcache/layout"
)

func TestNpyFilesOfEveryMemoryAndByteOrderAreLoaded(t *testing.T) {
	for name, text := range map[string]string{
		"little": loadtest.NPY("<f8", "(2, 3)", false, binary.LittleEndian,
			[]float64{1, 2, 3, 4, 5, 6}),
		"big": loadtest.NPY(">f8", "(2, 3)", false, binary.BigEndian,
			[]float64{1, 2, 3, 4, 5, 6}),
		"Fortran order": loadtest.NPY("<f8", "(2, 3)", true, binary.LittleEndian,
			[]float64{1, 4, 2, 5, 3, 6}),
		"big and Fortran order": loadtest.NPY(">f8", "(2, 3)", true, binary.BigEndian,
			[]float64{1, 4, 2, 5, 3, 6}),
	} {
		for _, layoutName := range []string{layout.Columns, layout.Packed} {
			l := mustLoad(t, option.Options{Sources: []string{loadtest.File(t, "x.npy", text)},
				Layout: layoutName})
			if got := loadtest.Values[float64](l, "value"); !slices.Equal(got,
				[]float64{1, 2, 3, 4, 5, 6}) {
				t.Errorf("%s %s: %v", name, layoutName, got)
			}
		}
	}
	a, b := loadtest.File(t, "a.npy", loadtest.NPY("<i8", "(2,)", false, binary.LittleEndian,
		[]int64{1, 2})),
		loadtest.File(t, "b.npy", loadtest.NPY(">i8", "(1L,)", true, binary.BigEndian, []int64{3}))
	if got := loadtest.Values[int64](mustLoad(t, option.Options{Sources: []string{a, b}}),
		"value"); !slices.Equal(got, []int64{1, 2, 3}) {
		t.Error(got)
	}
}

func TestNpyRecordFieldsAreColumns(t *testing.T) {
	type record struct {
		ID  [3]byte
		Pad uint8
		T   int64
		V   [2]float32
	}
	descr := `[('id', '|S3'), ('', '|V1'), (('a title', 't'), '<M8[D]'), ("v\xe4", '<f4', (2,))]`
	rows := []record{{[3]byte{'a', 'b'}, 0, 1, [2]float32{1, 2}},
		{[3]byte{'a', 'b'}, 0, 2, [2]float32{3, 4}},
		{[3]byte{'x', 'y', 'z'}, 0, -1, [2]float32{5, 6}}}
	one := loadtest.NPY(descr, "(3,)", false, binary.LittleEndian, rows)
	for name, files := range map[string]string{"x.npy": one,
		"stored":   loadtest.NPZ(t, zip.Store, map[string]string{"r.npy": one}),
		"deflated": loadtest.NPZ(t, zip.Deflate, map[string]string{"r.npy": one})} {
		prefix := ""
		if name != "x.npy" {
			prefix = "r."
		}
		l := mustLoad(t, option.Options{Sources: []string{loadtest.File(t, name, files)},
			ItemID: []string{prefix + "id"}, Time: prefix + "t"})
		if got := loadtest.Values[float32](l, prefix+"vä"); !slices.Equal(got,
			[]float32{1, 2, 3, 4, 5, 6}) {
			t.Errorf("%s: %v", name, got)
		}
		if got := loadtest.Values[int64](l, prefix+"t"); !slices.Equal(got,
			[]int64{86400, 2 * 86400, -86400}) {
			t.Errorf("%s: %v", name, got)
		}
		if got := loadtest.Texts(l, prefix+"id"); !slices.Equal(got, []string{"ab", "ab", "xyz"}) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestInvalidNumpyFilesAreRefused(t *testing.T) {
	little := binary.LittleEndian
	good := loadtest.NPY("<f8", "(3,)", false, little, []float64{1, 2, 3})
	two := map[string]string{"a.npy": good, "b.npy": loadtest.NPY("<i4", "(2,)", false, little,
		[]int32{1, 2})}
	flipped := []byte(loadtest.NPZ(t, zip.Store, map[string]string{"a.npy": good}))
	flipped[bytes.Index(flipped, []byte(good))+len(good)-1] ^= 1
	damaged := []byte(
		loadtest.NPZ(t, zip.Deflate,
			map[string]string{"a.npy": loadtest.NPY("<f8", "(300,)", false, little,
				make([]float64, 300))}))
	damaged[60] ^= 0xff
	bomb := loadtest.NPZ(t, zip.Deflate,
		map[string]string{"a.npy": loadtest.NPY("|u1", "(2147483648,)", false, little,
			make([]byte, 1<<20))})
	for _, c := range []struct {
		name, text, want, hint string
		o                      option.Options
	}{
		{"truncated values", good[:len(good)-1],
			"x.npy: holds 23 bytes of values, its header says 24", "damaged", option.Options{}},
		{"two arrays", good + good, "x.npy: holds several arrays, one behind the other", "np.savez",
			option.Options{}},
		{"a later version", good[:6] + "\x04" + good[7:],
			"x.npy: is a NumPy array of version 4, want 1, 2 or 3", "write_array", option.Options{}},
		{"more values", good + "x", "x.npy: holds 25 bytes of values, its header says 24",
			"damaged", option.Options{}},
		{"truncated header", good[:40], "x.npy: is cut off: its header does not end", "damaged",
			option.Options{}},
		{"only magic", numpy.NpyMagic, "x.npy: is cut off", "damaged", option.Options{}},
		{"version", strings.Replace(good, "\x01\x00", "\x40\x00", 1),
			"x.npy: does not begin as a NumPy array of version 1, 2 or 3", "damaged",
			option.Options{}},
		{"no dict", strings.Replace(good, "{'descr'", "['descr'", 1),
			`is not a header of a NumPy array: `, "damaged", option.Options{}},
		{"code", strings.Replace(good, "'<f8'", "f()  ", 1), `is not a header of a NumPy array: "f()`,
			"damaged", option.Options{}},
		{"shape", strings.Replace(good, "(3,)", "(-3)", 1), `is not a header of a NumPy array`,
			"damaged", option.Options{}},
		{"huge shape", loadtest.NPY("<f8", "(9223372036854775807, 9223372036854775807)", false,
			little, []float64{1}), "holds 8 bytes of values, its header says", "damaged",
			option.Options{}},
		{"no features", loadtest.NPY("<f8", "(4611686018427387904, 0)", false, little, []float64{}),
			`x.npy, column "value": has shape [4611686018427387904 0], which cannot be stored`, "",
			option.Options{}},
		{"no features of texts", loadtest.NPY("<U3", "(4611686018427387904, 0)", false, little,
			[]float64{}), `x.npy, column "value": is text of shape [4611686018427387904 0]`, "",
			option.Options{}},
		{"objects", loadtest.NPY("|O", "(3,)", false, little, []byte("pickle")),
			`x.npy, column "value": has dtype "|O", Python objects, which are never read`, "astype",
			option.Options{}},
		{"objects in records", loadtest.NPY("[('a', '|O')]", "(3,)", false, little,
			[]byte("pickle")), `x.npy, column "a": has dtype "|O"`, "astype", option.Options{}},
		{"complex", loadtest.NPY("<c16", "(1,)", false, little, make([]byte, 16)),
			`has dtype "<c16", which is not read`, "astype", option.Options{}},
		{"long double", loadtest.NPY("<f16", "(1,)", false, little, make([]byte, 16)),
			`has dtype "<f16", which is not read`, "astype", option.Options{}},
		{"months", loadtest.NPY("<M8[M]", "(1,)", false, little, make([]byte, 8)),
			`has dtype "<M8[M]", which is not read`, `datetime64[ns]`, option.Options{}},
		{"single", loadtest.NPY("<f8", "()", false, little, []float64{1}),
			"is a single value, want [rows] or [rows, n]", "", option.Options{}},
		{"cube", loadtest.NPY("<f8", "(1, 1, 1)", false, little, []float64{1}),
			"has shape [1 1 1], want [rows] or [rows, n]", "reshape", option.Options{}},
		{"no rows", loadtest.NPY("<f8", "(0,)", false, little, []float64{}), "holds no rows", "",
			option.Options{}},
		{"nested", loadtest.NPY("[('a', [('b', '<f8')])]", "(1,)", false, little, []float64{1}),
			`the field "a" is made of fields`, "", option.Options{}},
		{"NaT", loadtest.NPY("<M8[s]", "(1,)", false, little, []int64{math.MinInt64}),
			`x.npy, row 1, column "value": "NaT" is not a time`, "leave the rows out",
			option.Options{}},
		{"far", loadtest.NPY("<M8[D]", "(1,)", false, little, []int64{math.MaxInt64}),
			`x.npy, row 1, column "value": "9223372036854775807" times 86400 s does not fit 64 bits of s`, "leave the rows out", option.Options{}},
		{"bool", loadtest.NPY("|b1", "(1,)", false, little, []byte{2}),
			`x.npy, row 1, column "value": "2" is not a boolean, want 0 or 1`, "integers",
			option.Options{}},
		{"surrogate", loadtest.NPY("<U1", "(1,)", false, little, []uint32{0xd800}),
			`x.npy, row 1, column "value": the text is not of Unicode`, "",
			option.Options{ItemID: []string{"value"}}},
		{"other lengths", loadtest.NPZ(t, zip.Store, two),
			`column "b": has 2 rows, column "a" has 3`, "`columns`", option.Options{}},
		{"flipped bit", string(flipped), `column "a": its values are not what their checksum says`,
			"damaged", option.Options{}},
		{"damaged deflate data", string(damaged), `column "a": `, "damaged", option.Options{}},
		{"truncated archive", loadtest.NPZ(t, zip.Store, two)[:200], "is a zip archive", "",
			option.Options{}},
		{"bomb", bomb, "holds 1048576 bytes of values, its header says 2147483648", "",
			option.Options{}},
		{"not arrays", loadtest.NPZ(t, zip.Store, map[string]string{"a.txt": "x"}),
			"x.npy: is a zip archive", "unzip", option.Options{}},
		{"compressed", loadtest.Compressed(t, ".gz", good), "x.npy: is a compressed NumPy array",
			"savez_compressed", option.Options{}},
		{"delimiter", good, "delimiter: want it only for CSV and TSV files", "",
			option.Options{Delimiter: ";"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.o.Sources = []string{loadtest.File(t, "x.npy", c.text)}
			_, _, err := loadInProcess(t, c.o)
			if c.name == "truncated archive" {
				c.want = "cannot be read as a zip archive"
			}
			loadtest.Refused(t, err, c.want, c.hint)
		})
	}
	l := mustLoad(t,
		option.Options{Sources: []string{loadtest.File(t, "x.npz",
			loadtest.NPZ(t, zip.Store, two))}, Columns: []string{"b"}})
	if got := loadtest.Values[int32](l, "b"); !slices.Equal(got, []int32{1, 2}) {
		t.Error(got)
	}
}

func TestAnArrayDecompressionBombIsRefused(t *testing.T) {
	path := loadtest.File(t, "x.npz",
		loadtest.NPZ(t, zip.Deflate,
			map[string]string{"a.npy": loadtest.NPY("|u1", "(1048576,)", false, binary.LittleEndian,
				make([]byte, 1<<20))}))
	l := newLoad(t.TempDir(), option.Options{Sources: []string{path}}, &progress.Meter{})
	l.Free = 1 << 10
	_, err := l.run(t.Context())
	loadtest.Refused(t, l.cleanUp(err), "would hold more than 200 times its size", "unzip")
}
