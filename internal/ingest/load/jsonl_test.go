package load

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/layout"
)

// loadLines loads a file of JSON Lines in blocks of the given number of bytes.
func loadLines(t *testing.T, text string, o option.Options, block int64) loadtest.Loaded {
	t.Helper()
	o.Sources = []string{loadtest.File(t, "x.jsonl", text)}
	_, dir, err := loadInBlocks(t, o, block)
	if err != nil {
		t.Fatalf("%v\n%.300s", err, text)
	}
	return loadtest.OpenDir(t, dir)
}

// missingText stands for a missing text in the result of cellsOf.
const missingText = "(missing)"

// cellsOf is loadtest.Texts for columns that may have missing texts.
func cellsOf(l loadtest.Loaded, name string) (out []string) {
	l.Helper()
	if c, err := l.Manifest.Column(name); err != nil || c.DType != layout.Text {
		return loadtest.Texts(l, name)
	}
	for _, code := range loadtest.Values[int32](l, name) {
		word := missingText
		if code >= 0 {
			var err error
			if word, err = l.Word(name, int64(code)); err != nil {
				l.Fatal(err)
			}
		}
		out = append(out, word)
	}
	return out
}

func TestTypesOfJSONValues(t *testing.T) {
	many := func(n int, v string) string { return strings.Repeat(`{"a":`+v+",\"x\":0}\n", n) }
	const late = 1500 // rows before those that widen the column
	float := func(v float64) string { return loadtest.FloatText(v) }
	for _, c := range []struct {
		name, text string
		o          option.Options
		dtype      layout.DType
		unit, zone string
		want       []string // the values, without repetitions
	}{
		{"integers", `{"a":1}` + "\n" + `{"a":-9223372036854775808}` + "\n" +
			`{"a":9223372036854775807}` + "\n" + `{"a":9007199254740993}`, option.Options{},
			layout.Int64, "", "", []string{"1", "-9223372036854775808", "9223372036854775807",
				"9007199254740993"}},
		{"decimals", `{"a":1}` + "\n" + `{"a":2.5}` + "\n" + `{"a":1E3}`, option.Options{},
			layout.Float64, "", "", []string{float(1), float(2.5), float(1000)}},
		{"beyond 64 bits", `{"a":18446744073709551615}`, option.Options{}, layout.Float64, "", "",
			[]string{float(18446744073709551615)}},
		{"null and absent", `{"a":1}` + "\n" + `{"a":null}` + "\n" + `{}`, option.Options{},
			layout.Float64, "", "", []string{float(1), "nan"}},
		{"nothing but null", many(1200, "null"), option.Options{}, layout.Float64, "", "",
			[]string{"nan"}},
		{"booleans", `{"a":true}` + "\n" + `{"a":false}`, option.Options{}, layout.Bool, "", "",
			[]string{"1", "0"}},
		{"text", `{"a":"1.5"}` + "\n" + `{"a":""}` + "\n" + `{"a":"2016-07-01"}` + "\n" +
			`{"a":"\u00e4\/\ud83d\ude00"}`, option.Options{}, layout.Text, "", "",
			[]string{"1.5", "", "2016-07-01", "ä/😀"}},
		{"all as text", `{"a":"1"}` + "\n" + `{"a":1.50}` + "\n" + `{"a":true}`,
			option.Options{DType: option.DTypes{By: map[string]string{"a": "text"}}}, layout.Text,
			"", "", []string{"1", "1.50", "true"}},
		{"times", `{"a":"1970-01-01T00:00:01Z"}` + "\n" + `{"a":"1970-01-01 01:00:02.5+01:00"}`,
			option.Options{Time: "a"}, layout.Timestamp, "ms", "UTC", []string{"1000", "2500"}},
		{"dates", `{"a":"1970-01-02"}`, option.Options{Time: "a"}, layout.Timestamp, "s", "",
			[]string{"86400"}},
		{"integers as times", `{"a":5}` + "\n" + `{"a":6}`, option.Options{Time: "a"}, layout.Int64,
			"", "", []string{"5", "6"}},
		{"items", `{"a":7}` + "\n" + `{"a":-7}`, option.Options{ItemID: []string{"a"}},
			layout.Int64, "", "", []string{"7", "-7"}},
		{"items of text", `{"a":"7"}` + "\n" + `{"a":"b"}`, option.Options{ItemID: []string{"a"}},
			layout.Text, "", "", []string{"7", "b"}},
		{"items as text", `{"a":7}` + "\n" + `{"a":"b"}`,
			option.Options{ItemID: []string{"a"}, DType: option.DTypes{By: map[string]string{
				"a": "text"}}}, layout.Text, "", "", []string{"7", "b"}},
		{"float32", `{"a":0.1}` + "\n" + `{"a":null}`,
			option.Options{DType: option.Floats("float32")}, layout.Float32, "", "",
			[]string{float(float64(float32(0.1))), "nan"}},
		{"late decimals", many(late, "9") + many(9, "2.5"), option.Options{}, layout.Float64, "",
			"", []string{float(9), float(2.5)}},
		{"late null", many(late, "9") + many(9, "null"), option.Options{}, layout.Float64, "", "",
			[]string{float(9), "nan"}},
		{"late text", many(late, "null") + many(9, `"b"`), option.Options{}, layout.Text, "", "",
			[]string{missingText, "b"}},
		{"late number", many(late, "null") + many(9, "7"), option.Options{}, layout.Float64, "", "",
			[]string{"nan", float(7)}},
		{"finer times", `{"a":"1970-01-01T00:00:01"}` + "\n" + many(late, "null") +
			`{"a":"1970-01-01T00:00:02.000001"}`, option.Options{Columns: []string{"x"}},
			layout.Float64, "", "", nil},
	} {
		for _, block := range []int64{5, 1 << 20} {
			t.Run(fmt.Sprint(c.name, block), func(t *testing.T) {
				l := loadLines(t, c.text, c.o, block)
				if c.want == nil {
					return
				}
				col, err := l.Manifest.Column("a")
				if err != nil {
					t.Fatal(err)
				}
				if col.DType != c.dtype || col.Unit != c.unit || col.Zone != c.zone {
					t.Errorf("%s %s %s, want %s %s %s", col.DType, col.Unit, col.Zone, c.dtype,
						c.unit, c.zone)
				}
				if got := slices.Compact(cellsOf(l, "a")); !slices.Equal(got, c.want) {
					t.Errorf("%q, want %q", got, c.want)
				}
			})
		}
	}
}

func TestColumnsMayBeginAfterTheFirstRows(t *testing.T) {
	rows := strings.Repeat(`{"a":1,"n":{"x":[1]}}`+"\n", 1300) + `{"late":5,"a":2,"other":[]}` +
		"\n" + `{"other":1,"\u006cate":6}` + "\n"
	for _, block := range []int64{64, 1 << 20} {
		l := loadLines(t, rows, option.Options{Columns: []string{"late", "a"}}, block)
		late, a := loadtest.Values[float64](l, "late"), loadtest.Values[float64](l, "a")
		if len(late) != 1302 || late[0] == late[0] || late[1300] != 5 || late[1301] != 6 ||
			a[1300] != 2 || a[1301] == a[1301] {
			t.Errorf("late %v, a %v", late[1299:], a[1299:])
		}
	}
	_, _, err := loadInProcess(t, option.Options{
		Sources: []string{loadtest.File(t, "x.jsonl", rows)}, Columns: []string{"later"}})
	loadtest.Refused(t, err, `columns: no column is named "later"`, "")
	_, _, err = loadInProcess(t, option.Options{
		Sources: []string{loadtest.File(t, "x.jsonl", rows+"{}}")}, Columns: []string{"late"}})
	loadtest.Refused(t, err, `x.jsonl, row 1303 (line 1303): "}" stands after the object`, "")
}

func TestManyKeysAreRefusedUnlessColumnsAreNamed(t *testing.T) {
	var cells []string
	for i := range 20_000 {
		cells = append(cells, fmt.Sprintf("\"k%d\":%d", i, i))
	}
	text := "{" + strings.Join(cells, ",") + "}\n"
	_, _, err := loadInProcess(t,
		option.Options{Sources: []string{loadtest.File(t, "x.jsonl", text)}})
	loadtest.Refused(t, err, "x.jsonl: its first 1000 rows have more than 16384 keys", "`columns`")
	l := loadLines(t, text, option.Options{Columns: []string{"k19999", "k3"}}, 1<<20)
	a, b := loadtest.Values[int64](l, "k19999"), loadtest.Values[int64](l, "k3")
	if a[0] != 19999 || b[0] != 3 {
		t.Error(a, b)
	}
}

// TestOptionsOfLoadsApplyToJSONLines loads, appends, melts and filters files of JSON Lines.
func TestOptionsOfLoadsApplyToJSONLines(t *testing.T) {
	text := `{"id":"b","t":1,"x":1}` + "\n" + `{"t":2,"id":"b","x":2.5}` + "\n" +
		`{"id":"a","t":1,"x":null}` + "\n"
	var digests []string
	for name, b := range map[string]string{"x.jsonl": text, "x.NDJSON": text, "data": text,
		"x.jsonl.gz":   loadtest.Compressed(t, ".gz", text),
		"x.ndjson.zst": loadtest.Compressed(t, ".zst", text)} {
		l := mustLoad(t, option.Options{Sources: []string{loadtest.File(t, name, b)},
			ItemID: []string{"id"}, Time: "t"})
		digests = append(digests, l.Manifest.Digest)
	}
	if slices.Sort(digests); digests[0] != digests[len(digests)-1] {
		t.Error("the digest depends on the name or the compression of the file")
	}
	o := option.Options{Sources: []string{loadtest.File(t, "x.jsonl", text)},
		ItemID: []string{"id"}, Time: "t"}
	l := mustAppend(t, mustLoad(t, o), loadtest.File(t, "y.jsonl",
		`{"x":7,"id":"a","t":2}`+"\n"+`{"x":8,"id":"b","t":3}`))
	if got := loadtest.Texts(l, "x"); !slices.Equal(got, []string{loadtest.FloatText(1),
		loadtest.FloatText(2.5), loadtest.FloatText(8), "nan", loadtest.FloatText(7)}) {
		t.Error("appended:", got)
	}
	_, err := tryAppend(t, l, loadtest.File(t, "z.jsonl", `{"id":"a","t":9,"x":1,"y":1}`))
	loadtest.Refused(t, err, `column "y": is here but not in the dataset`, "")
	o.Where = &option.Where{Time: []json.RawMessage{[]byte("2"), []byte("null")}}
	if got := loadtest.Values[float64](mustLoad(t, o), "x"); !slices.Equal(got, []float64{2.5}) {
		t.Error("filtered:", got)
	}
	l = mustLoad(t, option.Options{Time: "t", Melt: option.MeltColumns, Sources: []string{
		loadtest.File(t, "x.jsonl", `{"b":1,"t":1,"a":4}`+"\n"+`{"t":2,"a":5.5,"b":2}`)}})
	if got := loadtest.Values[float64](l, column.MeltedValue); !slices.Equal(got,
		[]float64{1, 2, 4, 5.5}) {
		t.Error("melted:", got)
	}
	root := writeTree(t, map[string]string{"k=5/x.jsonl": `{"a":1}`, "k=6/x.ndjson.gz": loadtest.
		Compressed(t, ".gz", `{"a":2,"b":[]}`+"\n"+`{"a":3}`)})
	l = mustLoad(t, option.Options{Sources: []string{root}, Columns: []string{"k", "a"}})
	if k, a := loadtest.Values[int64](l, "k"), loadtest.Values[int64](l, "a"); !slices.Equal(k,
		[]int64{5, 6, 6}) || !slices.Equal(a, []int64{1, 2, 3}) {
		t.Error("partitions:", k, a)
	}
}

// TestMemoryOfRowsWithFewOfManyKeysIsBounded loads a block of short rows that has 178 MB of values.
func TestMemoryOfRowsWithFewOfManyKeysIsBounded(t *testing.T) {
	const keys = 64
	var first strings.Builder
	for i := range keys {
		fmt.Fprintf(&first, `{"k%d":0.5}`+"\n", i)
	}
	rows := 1 << 20 / len("{}\n")
	o := option.Options{Sources: []string{
		loadtest.File(t, "x.jsonl", first.String()+strings.Repeat("{}\n", rows))}}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	m, _, err := loadInProcess(t, o)
	runtime.ReadMemStats(&after)
	if err != nil || m.Rows != int64(keys+rows) {
		t.Fatal(m, err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 64<<20 {
		t.Errorf("the load allocated %d bytes", used)
	}
}
