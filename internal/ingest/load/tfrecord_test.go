package load

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
)

func TestTFRecordsAreRowsAndTheirFeaturesColumns(t *testing.T) {
	for _, loose := range []bool{false, true} { // numbers packed, or one field each
		text := loadtest.TFRecords(
			loadtest.Example(loose, map[string]any{"id": []string{"ä"}, "t": []int64{1},
				"x": []float32{1.5, -2}, "y": []float32{7}, "n": []int64{math.MinInt64, 3}}),
			loadtest.Example(loose, map[string]any{"id": []string{"ä"}, "t": []int64{2},
				"x": []float32{3, 4}, "n": []int64{-1, math.MaxInt64}}),
			loadtest.Example(loose, map[string]any{"id": []string{"b"}, "t": []int64{1},
				"x": []float32{}, "y": []float32{9}, "n": []int64{0, 1}}),
			loadtest.Example(loose, map[string]any{"id": []string{"b"}, "t": []int64{2}, "x": nil,
				"y": []float32{8}, "n": []int64{0, 1}}),
		)
		var digests []string
		for name, b := range map[string]string{"x.tfrecord": text, "x": text,
			"x.tfrecord.gz":        loadtest.Compressed(t, ".gz", text),
			"train-00000-of-00001": loadtest.Compressed(t, ".gz", text)} {
			l := mustLoad(t, option.Options{Sources: []string{loadtest.File(t, name, b)},
				ItemID: []string{"id"}, Time: "t"})
			nan := math.Float32bits(float32(math.NaN()))
			if got := bits(loadtest.Values[float32](l, "x")); !slices.Equal(got,
				append(bits([]float32{1.5, -2, 3, 4}), nan, nan, nan, nan)) {
				t.Errorf("%s: %v", name, got)
			}
			if got := bits(loadtest.Values[float32](l, "y")); !slices.Equal(got,
				bits([]float32{7, float32(math.NaN()), 9, 8})) {
				t.Errorf("%s: %v", name, got)
			}
			if got := loadtest.Values[int64](l, "n"); !slices.Equal(got,
				[]int64{math.MinInt64, 3, -1, math.MaxInt64, 0, 1, 0, 1}) {
				t.Errorf("%s: %v", name, got)
			}
			if got := loadtest.Texts(l, "id"); !slices.Equal(got, []string{"ä", "ä", "b", "b"}) {
				t.Errorf("%s: %v", name, got)
			}
			digests = append(digests, l.Manifest.Digest)
		}
		if slices.Sort(digests); digests[0] != digests[3] {
			t.Error("the digest depends on the name or the compression of the file")
		}
	}
}

// bits returns the bits of floats, to compare NaN as well.
func bits(v []float32) []uint32 {
	out := make([]uint32, len(v))
	for i, f := range v {
		out[i] = math.Float32bits(f)
	}
	return out
}

func TestTFRecordsAreReadInSpansOfAnySize(t *testing.T) {
	var records [][]byte
	for i := range 1000 {
		records = append(records,
			loadtest.Example(i%3 == 0,
				map[string]any{"i": []int64{int64(i)}, "v": []float32{float32(i), 1}}))
	}
	path := loadtest.File(t, "x.tfrecord", loadtest.TFRecords(records...))
	for _, block := range []int64{1, 100, 1 << 20} {
		l := newLoad(t.TempDir(), option.Options{Sources: []string{path}}, &progress.Meter{})
		l.BlockBytes = block
		if _, err := l.run(t.Context()); err != nil {
			t.Fatal(l.cleanUp(err))
		}
		got := loadtest.Values[int64](loadtest.OpenDir(t, l.Dir), "i")
		for i, v := range got {
			if v != int64(i) {
				t.Fatalf("block %d: row %d is %d", block, i, v)
			}
		}
	}
}

func TestInvalidTFRecordsAreRefused(t *testing.T) {
	one := loadtest.Example(false, map[string]any{"a": []int64{1}, "f": []float32{1}})
	good := loadtest.TFRecords(one, one)
	flip := func(at int) string {
		b := []byte(good)
		b[at] ^= 4
		return string(b)
	}
	second := 16 + len(one)
	twice := loadtest.Message(loadtest.ExampleFeatures,
		slices.Concat(loadtest.Example(false, map[string]any{"a": []int64{1}})[2:],
			loadtest.Example(false, map[string]any{"a": []int64{2}})[2:]))
	both := loadtest.Message(loadtest.ExampleFeatures,
		loadtest.Message(loadtest.FeaturesFeature,
			slices.Concat(loadtest.Message(loadtest.EntryKey, []byte("a")),
				loadtest.Message(loadtest.EntryValue,
					slices.Concat(loadtest.Message(2, nil), loadtest.Message(3, nil))))))
	for _, c := range []struct {
		name, text, want, hint string
		o                      option.Options
	}{
		{"length", flip(second), "x.tfrecord, row 2: the record at byte ", "damaged",
			option.Options{}},
		{"first length", flip(0),
			"x.tfrecord, row 1: the record at byte 0 has a length that is not what its checksum says", "damaged", option.Options{}},
		{"data", flip(second + 20), "is not what its checksum says", "damaged", option.Options{}},
		{"checksum", flip(len(good) - 1), "x.tfrecord, row 2: the record at byte ", "damaged",
			option.Options{}},
		{"truncated", good[:len(good)-1], "x.tfrecord, row 2: the record at byte ", "damaged",
			option.Options{}},
		{"truncated in the length", good[:second+5], "is cut off", "damaged", option.Options{}},
		{"no example", loadtest.TFRecords([]byte{0xff}),
			"x.tfrecord, row 1: the record is not a tf.train.Example", "only records of",
			option.Options{}},
		{"a text", loadtest.TFRecords([]byte("hello")),
			"x.tfrecord, row 1: the record is not a tf.train.Example", "", option.Options{}},
		{"sequence",
			loadtest.TFRecords(slices.Concat(one, loadtest.Message(loadtest.ExampleLists, nil))),
			"is a tf.train.SequenceExample", "", option.Options{}},
		{"twice", loadtest.TFRecords(twice),
			`x.tfrecord, row 1, column "a": the feature is in the record twice`, "",
			option.Options{}},
		{"two lists", loadtest.TFRecords(both), "is not a tf.train.Example", "", option.Options{}},
		{"empty records", loadtest.TFRecords(nil, nil), "its records have no features", "",
			option.Options{}},
		{"varying", loadtest.TFRecords(one,
			loadtest.Example(false, map[string]any{"a": []int64{1, 2}, "f": []float32{1}})),
			`x.tfrecord, row 2, column "a": has 2 values, but in row 1 1`, "pad the lists",
			option.Options{}},
		{"kinds", loadtest.TFRecords(one,
			loadtest.Example(false, map[string]any{"a": []float32{1}, "f": []float32{1}})),
			`x.tfrecord, row 2, column "a": is a float_list, but in row 1 an int64_list`,
			"`columns`", option.Options{}},
		{"missing integer",
			loadtest.TFRecords(one, loadtest.Example(false, map[string]any{"f": []float32{1}})),
			`x.tfrecord, row 2, column "a": the value ` + source.ReasonMissing, "",
			option.Options{}},
		{"missing time",
			loadtest.TFRecords(one, loadtest.Example(false, map[string]any{"f": []float32{1}})),
			`x.tfrecord, row 2, column "a": the value ` + source.ReasonNoTime, "",
			option.Options{Time: "a"}},
		{"image", loadtest.TFRecords(
			loadtest.Example(false, map[string]any{"a": []string{"\xff\xd8"}})),
			`x.tfrecord, row 1, column "a": "\xff\xd8" is not UTF-8`,
			"only UTF-8 text can be loaded", option.Options{ItemID: []string{"a"}}},
		{"narrow", loadtest.TFRecords(one,
			loadtest.Example(false, map[string]any{"a": []int64{300}, "f": []float32{1}})),
			`x.tfrecord, row 2, column "a": "300" does not fit int8`, "wider dtype",
			option.Options{DType: option.DTypes{By: map[string]string{"a": "int8"}}}},
		{"narrow float",
			loadtest.TFRecords(one,
				loadtest.Example(false, map[string]any{"a": []int64{3}, "f": []float32{1e30}})),
			`x.tfrecord, row 2, column "f": "1e+30" does not fit float16`, "wider dtype",
			option.Options{DType: option.Floats("float16")}},
		{"no number",
			loadtest.TFRecords(one, loadtest.Example(false, map[string]any{"a": []int64{3}})),
			`x.tfrecord, row 2, column "f": the value is missing, but only float columns have missing values`, "`fill={\"f\":0}`", option.Options{DType: option.DTypes{By: map[string]string{"f": "int8"}}}},
		{"empty item",
			loadtest.TFRecords(loadtest.Example(false, map[string]any{"a": []string{""}})),
			`x.tfrecord, row 1, column "a": the text is empty`, "leave the rows out",
			option.Options{ItemID: []string{"a"}}},
		{"texts", loadtest.TFRecords(
			loadtest.Example(false, map[string]any{"a": []string{"x", "y"}})),
			`column "a": has 2 texts, want one in each record`, "`columns`", option.Options{}},
		{"decimal", good, "decimal: want it only for CSV and TSV files", "",
			option.Options{Decimal: ","}},
		{"unknown column", good, `columns: no column is named "b"; near: `, "",
			option.Options{Columns: []string{"b"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.o.Sources = []string{loadtest.File(t, "x.tfrecord", c.text)}
			_, _, err := loadInProcess(t, c.o)
			if strings.HasSuffix(c.want, "near: ") {
				c.want = strings.TrimSuffix(c.want, "; near: ")
			}
			loadtest.Refused(t, err, c.want, c.hint)
		})
	}
	l := mustLoad(t,
		option.Options{Sources: []string{loadtest.File(t, "x",
			loadtest.TFRecords(one,
				loadtest.Example(false, map[string]any{"a": []int64{1, 2}, "f": []float32{2}})))},
			Columns: []string{"f"}})
	if got := loadtest.Values[float32](l, "f"); !slices.Equal(got, []float32{1, 2}) {
		t.Error(got)
	}
}

// TestTFRecordsOfTensorFlowAreLoaded loads files that TensorFlow 2 wrote. testdata/make_tfrecord.py
// makes them.
func TestTFRecordsOfTensorFlowAreLoaded(t *testing.T) {
	for _, path := range []string{"testdata/tensorflow.tfrecord",
		"testdata/tensorflow.tfrecord.gz"} {
		l := mustLoad(t,
			option.Options{Sources: []string{path}, ItemID: []string{"station"}, Time: "t"})
		wide, gap, count, station := loadtest.Values[float32](l, "wide"),
			loadtest.Values[float32](l, "gap"), loadtest.Values[int64](l, "count"),
			loadtest.Texts(l, "station")
		for i := range 40 {
			want := []float32{float32(float64(i) / 7), -float32(i), 0.1}
			if i == 3 {
				want[2] = float32(math.Inf(1))
			}
			sign, name := int64(1-2*(i%2)), "Köln"
			if i >= 20 {
				name = "Bonn"
			}
			if !slices.Equal(wide[3*i:3*i+3], want) || count[i] != sign<<62+int64(i) ||
				station[i] != name {
				t.Errorf("%s, row %d: %v, %d, %s", path, i, wide[3*i:3*i+3], count[i], station[i])
			}
			if missing := gap[i] != gap[i]; missing != (i == 5) || !missing &&
				gap[i] != float32(float64(i)/3) {
				t.Errorf("%s, row %d: %v", path, i, gap[i])
			}
		}
	}
}
