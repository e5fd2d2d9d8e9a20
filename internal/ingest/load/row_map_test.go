package load

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"
	"pgregory.net/rapid"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/layout"
)

// canonicalNames maps names of items to the JSON that item buckets hash.
var canonicalNames = map[string]string{"ä\"<": `"ä\"<"`, "b": `"b"`, "c\n": `"c\n"`}

// naiveRow is a row of the sources or of the generation.
type naiveRow struct {
	item string
	time int64
	x    float64
	n    float64
	flag bool
}

// rowNumbers has the numbers of the options where, regrid and item_bucket.
type rowNumbers struct {
	low, high   int64 // the bounds of where; high is excluded
	step        int64 // 0 without regrid
	part, parts uint64
}

// naiveRows filters, sorts, merges and inserts rows as the options say, without regard to speed. ok
// is false if a load must refuse the rows.
func naiveRows(rows []naiveRow, o option.Options, n rowNumbers) (out []naiveRow, ok bool) {
	for _, r := range rows {
		name := canonicalNames[r.item]
		if (o.Items == nil || string(o.Items[0]) == name) &&
			(n.parts == 0 || xxhash.Sum64String(name)%n.parts == n.part) &&
			(o.Where == nil || r.time >= n.low && r.time < n.high) {
			out = append(out, r)
		}
	}
	if len(out) == 0 {
		return nil, false
	}
	var first []string
	for _, r := range out {
		if !slices.Contains(first, r.item) {
			first = append(first, r.item)
		}
	}
	compare := func(a, b naiveRow) int { // by first appearance of the item, then by time
		if a.item != b.item {
			return slices.Index(first, a.item) - slices.Index(first, b.item)
		}
		return int(a.time - b.time)
	}
	if o.Sort {
		slices.SortStableFunc(out, compare)
	} else if !slices.IsSortedFunc(out, compare) {
		return nil, false
	}
	out, ok = naiveDistinct(out, o.Duplicates)
	if !ok || n.step == 0 {
		return out, ok
	}
	var grid []naiveRow
	for i, r := range out {
		firstOfItem := i == 0 || out[i-1].item != r.item
		for !firstOfItem && grid[len(grid)-1].time+n.step < r.time {
			grid = append(grid, naiveRow{item: r.item, time: grid[len(grid)-1].time + n.step,
				x: math.NaN(), n: math.NaN()})
		}
		if !firstOfItem && grid[len(grid)-1].time+n.step != r.time {
			return nil, false
		}
		grid = append(grid, r)
	}
	return grid, true
}

// naiveDistinct merges rows with the same item and time, as the option duplicates says. ok is false
// if a load must refuse them.
func naiveDistinct(rows []naiveRow, duplicates string) (out []naiveRow, ok bool) {
	for i := 0; i < len(rows); {
		end, sum, count := i, 0.0, 0.0
		for ; end < len(rows) && rows[end].item == rows[i].item &&
			rows[end].time == rows[i].time; end++ {
			if x := rows[end].x; x == x {
				sum, count = sum+x, count+1
			}
		}
		r := rows[i]
		switch group := rows[i:end]; {
		case len(group) == 1:
		case duplicates == "":
			return nil, false
		case duplicates == option.DuplicatesLast:
			r = group[len(group)-1]
		case duplicates == option.DuplicatesMean:
			if slices.ContainsFunc(group, func(g naiveRow) bool {
				return g.n != r.n ||
					g.flag != r.flag
			}) {
				return nil, false
			}
			r.x = sum / count // NaN if all values are NaN
		}
		out, i = append(out, r), end
	}
	return out, true
}

// drawNaiveRows draws rows of several items. They are in order if sorted is true.
func drawNaiveRows(r *rapid.T, withFlag, sorted bool) (rows []naiveRow) {
	names := slices.Sorted(maps.Keys(canonicalNames))
	regular := rapid.Bool().Draw(r, "on a grid")
	for range rapid.IntRange(1, 40).Draw(r, "rows") {
		v := naiveRow{item: rapid.SampledFrom(names).Draw(r, "item"),
			time: rapid.Int64Range(-20, 20).Draw(r, "time")}
		if regular {
			v.time *= 3
		}
		v.x = rapid.SampledFrom([]float64{1, 2.5, -3, math.NaN()}).Draw(r, "x")
		v.n = float64(rapid.IntRange(1, 2).Draw(r, "n"))
		v.flag = withFlag && rapid.Bool().Draw(r, "flag")
		rows = append(rows, v)
	}
	if sorted {
		slices.SortStableFunc(rows, func(a, b naiveRow) int {
			if a.item != b.item {
				return strings.Compare(a.item, b.item)
			}
			return int(a.time - b.time)
		})
	}
	return rows
}

// drawRowOptions adds random filters, duplicates, regrid and layout to o.
func drawRowOptions(r *rapid.T, o *option.Options, rows []naiveRow) (n rowNumbers) {
	if rapid.Bool().Draw(r, "where") {
		n.low, n.high = rapid.Int64Range(-40, 10).Draw(r, "from"),
			rapid.Int64Range(-10, 60).Draw(r, "to")
		o.Where = &option.Where{Time: []json.RawMessage{fmt.Append(nil, n.low),
			fmt.Append(nil, n.high)}}
		if rapid.Bool().Draw(r, "open") {
			n.high, o.Where.Time[1] = math.MaxInt64, json.RawMessage("null")
		}
	}
	if rapid.Bool().Draw(r, "items") {
		o.Items = []json.RawMessage{json.RawMessage(canonicalNames[rows[len(rows)/2].item])}
	}
	if rapid.Bool().Draw(r, "bucket") {
		n.part, n.parts = rapid.Uint64Range(0, 1).Draw(r, "part"), 2
		o.ItemBucket = fmt.Sprintf("%d/%d", n.part, n.parts)
	}
	o.Duplicates = rapid.SampledFrom([]string{"", option.DuplicatesFirst, option.DuplicatesLast,
		option.DuplicatesMean}).Draw(r, "duplicates")
	if all := 1.0; o.Duplicates != "" {
		o.MaxDuplicates = &all
	}
	if rapid.Bool().Draw(r, "regrid") {
		n.step = rapid.SampledFrom([]int64{1, 3}).Draw(r, "step")
		o.Regrid = fmt.Append(nil, n.step)
	}
	o.Layout = rapid.SampledFrom([]string{layout.Columns, layout.Packed}).Draw(r, "layout")
	return n
}

// drawFiles splits the rows into the texts of one or more CSV files.
func drawFiles(r *rapid.T, rows []naiveRow) []string {
	const header = "flag,n,x,t,item\n"
	files := []string{header}
	for _, v := range rows {
		if rapid.IntRange(0, 15).Draw(r, "next file") == 0 && files[len(files)-1] != header {
			files = append(files, header)
		}
		files[len(files)-1] += fmt.Sprintf("%t,%v,%.1f,%d,\"%s\"\n", v.flag, v.n, v.x, v.time,
			strings.ReplaceAll(v.item, `"`, `""`))
	}
	return files
}

// checkRows compares the rows and the item names of a generation with the wanted rows.
func checkRows(r *rapid.T, l loadtest.Loaded, withFlag bool, want []naiveRow) {
	items, times, x := loadtest.Texts(l, "item"), loadtest.Values[int64](l, "t"),
		loadtest.Values[float64](l, "x")
	n := numbersOf(l, "n")
	if len(x) != len(want) {
		r.Fatalf("%d rows, want %d", len(x), len(want))
	}
	var names []string
	for i, w := range want {
		got := naiveRow{item: items[i], time: times[i], x: x[i], n: n[i]}
		if withFlag {
			got.flag = loadtest.Values[uint8](l, "flag")[i] == 1
		}
		if fmt.Sprint(got) != fmt.Sprint(w) {
			r.Fatalf("row %d is %v, want %v", i, got, w)
		}
		if !slices.Contains(names, w.item) {
			names = append(names, w.item)
		}
	}
	if got := l.Manifest.Vocab["item"].Count; got != int64(len(names)) {
		r.Fatalf("%d item names, want %q", got, names)
	}
	for code, want := range names {
		if got, err := l.Word("item", int64(code)); err != nil || got != want {
			r.Fatalf("item name %d is %q, want %q: %v", code, got, want, err)
		}
	}
}

// TestFilteredAndSortedRowsEqualANaiveComputation filters, sorts, merges and inserts rows in every
// combination of options, and compares the generation, or the refusal, with naiveRows.
func TestFilteredAndSortedRowsEqualANaiveComputation(t *testing.T) {
	loads, refusals := 0, 0
	rapid.Check(t, func(r *rapid.T) {
		o := option.Options{ItemID: []string{"item"}, Time: "t", Columns: []string{"x", "n"}}
		withFlag := rapid.Bool().Draw(r, "with booleans")
		if withFlag {
			o.Columns = append(o.Columns, "flag")
		}
		o.Sort = rapid.Bool().Draw(r, "sort")
		rows := drawNaiveRows(r, withFlag, !o.Sort && rapid.Bool().Draw(r, "in order"))
		numbers := drawRowOptions(r, &o, rows)
		want, ok := naiveRows(rows, o, numbers)
		if withFlag && slices.ContainsFunc(want, func(v naiveRow) bool { return v.n != v.n }) {
			ok = false // a boolean of an inserted row cannot be missing
		}
		files := drawFiles(r, rows)
		for _, text := range files {
			o.Sources = append(o.Sources, loadtest.File(t, "x.csv", text))
		}
		_, dir, err := loadInBlocks(t, o, rapid.SampledFrom([]int64{16, 1 << 20}).Draw(r, "block"))
		if ok != (err == nil) {
			r.Fatalf("%v, want success: %t\n%s", err, ok, strings.Join(files, "\n"))
		}
		if err != nil {
			refusals++
			return
		}
		loads++
		l := loadtest.OpenDir(t, dir)
		defer l.Close()
		checkRows(r, l, withFlag, want)
	})
	if loads < 10 || refusals < 10 {
		t.Errorf("%d loads and %d refusals, want at least 10 of both", loads, refusals)
	}
}

// numbersOf returns the values of an int64 or float64 column as float64.
func numbersOf(l loadtest.Loaded, name string) []float64 {
	c, err := l.Manifest.Column(name)
	if err != nil {
		l.Fatal(err)
	}
	if c.DType == layout.Float64 {
		return loadtest.Values[float64](l, name)
	}
	var out []float64
	for _, v := range loadtest.Values[int64](l, name) {
		out = append(out, float64(v))
	}
	return out
}

// TestErrorsAfterSortingNameTheRowOfTheFile filters and sorts rows before the load finds the error.
// The message must still name the file, row and line of the source.
func TestErrorsAfterSortingNameTheRowOfTheFile(t *testing.T) {
	a := loadtest.File(t, "a.csv", "i,t,x,n\nu,5,1.5,1\nv,1,1,1\nu,4,1,1\n")
	b := loadtest.File(t, "b.csv", "i,t,x,n\nv,0,2,1\nu,7,2,1\nu,5,2,2\nw,2,3,1\n")
	o := option.Options{Sources: []string{a, b}, ItemID: []string{"i"}, Time: "t", Sort: true,
		Items: []json.RawMessage{json.RawMessage(`"u"`)}}
	for want, change := range map[string]func(o *option.Options){
		`b.csv, row 3 (line 4), column "t": two rows of item "u" have the time 5`:                               func(o *option.Options) {},
		`b.csv, row 3 (line 4), column "n": the rows of item "u" with the time 5 differ, and int64 has no mean`: func(o *option.Options) { o.Duplicates = option.DuplicatesMean },
		`b.csv, row 2 (line 3), column "t": the time 7 of item "u" is not a whole number of steps of 3 after the first, 5`: func(o *option.Options) {
			o.Duplicates, o.Regrid = option.DuplicatesLast, json.RawMessage("3")
			o.Where = whereFrom("5")
		},
		`a.csv, row 3 (line 4), column "t": time 4 of item "u" comes after 5`:                                                        func(o *option.Options) { o.Sort = false },
		`a.csv, column "t": none of the 7 rows matches: 0 are within the time bounds; all times are from 0 to 7`:                     func(o *option.Options) { o.Where = whereFrom("8") },
		`a.csv, column "t": none of the 7 rows matches: 1 are within the time bounds, but of other items; all times are from 0 to 7`: func(o *option.Options) { o.Where, o.Items = whereFrom("7"), []json.RawMessage{json.RawMessage(`"w"`)} },
		`items: no item is named "x"`:                                   func(o *option.Options) { o.Items = append(o.Items, json.RawMessage(`"x"`)) },
		`a.csv: none of the 3 items falls into bucket 5/`:               func(o *option.Options) { o.Items, o.ItemBucket = nil, "5/1000" },
		`a.csv: none of the 3 items is both named and of bucket 5/1000`: func(o *option.Options) { o.ItemBucket = "5/1000" },
	} {
		t.Run(want, func(t *testing.T) {
			o := o
			o.Items = slices.Clone(o.Items)
			change(&o)
			_, dir, err := loadInProcess(t, o)
			loadtest.Refused(t, err, want, "")
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("%v is left: %v", left, err)
			}
		})
	}
}

// whereFrom returns a filter that keeps rows from a time on.
func whereFrom(time string) *option.Where {
	return &option.Where{Time: []json.RawMessage{json.RawMessage(time), json.RawMessage("null")}}
}

// TestRegridSupportsAllIntegers inserts rows between the smallest and the largest int64. The
// distance of the two overflows int64.
func TestRegridSupportsAllIntegers(t *testing.T) {
	for _, c := range []struct {
		last, step string
		want       []int64 // nil if the load is refused
	}{
		{"9223372036854775807", "1", nil},
		{"9223372036854775806", "2", nil},
		{"9223372036854775806", "9223372036854775807",
			[]int64{math.MinInt64, -1, math.MaxInt64 - 1}},
	} {
		path := loadtest.File(t, "x.csv", "t,v\n-9223372036854775808,1\n"+c.last+",2\n")
		o := option.Options{Sources: []string{path}, Time: "t", Regrid: json.RawMessage(c.step)}
		if c.want == nil {
			_, _, err := loadInProcess(t, o)
			loadtest.Refused(t, err, "a step that makes at most 10000 rows of 2", "is a time wrong")
			continue
		}
		if got := loadtest.Values[int64](mustLoad(t, o), "t"); !slices.Equal(got, c.want) {
			t.Errorf("got %d, want %d", got, c.want)
		}
	}
}
