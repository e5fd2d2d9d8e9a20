package ingest

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"
	"pgregory.net/rapid"

	"github.com/tensorcache/tensorcache/layout"
)

// canonicalNames are names of items with what of them is hashed.
var canonicalNames = map[string]string{"ä\"<": `"ä\"<"`, "b": `"b"`, "c\n": `"c\n"`}

// naiveRow is a row of the sources or of the result.
type naiveRow struct {
	item string
	time int64
	x    float64
	n    float64
	flag bool
}

// naiveRows does with rows what the options say, the obvious way. ok is false where a load refuses them.
func naiveRows(rows []naiveRow, o Options, low, high, step int64, part, parts uint64) (out []naiveRow, ok bool) {
	for _, r := range rows {
		name := canonicalNames[r.item]
		if (o.Items == nil || string(o.Items[0]) == name) && (parts == 0 || xxhash.Sum64String(name)%parts == part) && (o.Where == nil || r.time >= low && r.time < high) {
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
	inOrder := func(a, b naiveRow) int {
		if a.item != b.item {
			return slices.Index(first, a.item) - slices.Index(first, b.item)
		}
		return int(a.time - b.time)
	}
	if o.Sort {
		slices.SortStableFunc(out, inOrder)
	} else if !slices.IsSortedFunc(out, inOrder) {
		return nil, false
	}
	out, ok = naiveDistinct(out, o.Duplicates)
	if !ok || step == 0 {
		return out, ok
	}
	var grid []naiveRow
	for i, r := range out {
		begins := i == 0 || out[i-1].item != r.item
		for !begins && grid[len(grid)-1].time+step < r.time {
			grid = append(grid, naiveRow{item: r.item, time: grid[len(grid)-1].time + step, x: math.NaN(), n: math.NaN()})
		}
		if !begins && grid[len(grid)-1].time+step != r.time {
			return nil, false
		}
		grid = append(grid, r)
	}
	return grid, true
}

func naiveDistinct(rows []naiveRow, how string) (out []naiveRow, ok bool) {
	for i := 0; i < len(rows); {
		end, sum, count := i, 0.0, 0.0
		for ; end < len(rows) && rows[end].item == rows[i].item && rows[end].time == rows[i].time; end++ {
			if x := rows[end].x; x == x {
				sum, count = sum+x, count+1
			}
		}
		r := rows[i]
		switch group := rows[i:end]; {
		case len(group) == 1:
		case how == "":
			return nil, false
		case how == duplicatesLast:
			r = group[len(group)-1]
		case how == duplicatesMean:
			if slices.ContainsFunc(group, func(g naiveRow) bool { return g.n != r.n || g.flag != r.flag }) {
				return nil, false
			}
			r.x = sum / count // NaN where all are
		}
		out, i = append(out, r), end
	}
	return out, true
}

// TestChosenRowsAreThoseOfANaiveComputation filters, sorts, merges and inserts rows in every combination.
func TestChosenRowsAreThoseOfANaiveComputation(t *testing.T) {
	loads, refusals := 0, 0
	rapid.Check(t, func(r *rapid.T) {
		names := slices.Sorted(maps.Keys(canonicalNames))
		var rows []naiveRow
		withFlag := rapid.Bool().Draw(r, "with truth values")
		regular := rapid.Bool().Draw(r, "on a grid")
		for range rapid.IntRange(1, 40).Draw(r, "rows") {
			v := naiveRow{item: rapid.SampledFrom(names).Draw(r, "item"), time: rapid.Int64Range(-20, 20).Draw(r, "time")}
			if regular {
				v.time *= 3
			}
			v.x = rapid.SampledFrom([]float64{1, 2.5, -3, math.NaN()}).Draw(r, "x")
			v.n = float64(rapid.IntRange(1, 2).Draw(r, "n"))
			v.flag = withFlag && rapid.Bool().Draw(r, "flag")
			rows = append(rows, v)
		}
		o := Options{ItemID: []string{"item"}, Time: "t", Columns: []string{"x", "n"}}
		if o.Sort = rapid.Bool().Draw(r, "sort"); !o.Sort && rapid.Bool().Draw(r, "in order") {
			slices.SortStableFunc(rows, func(a, b naiveRow) int {
				if a.item != b.item {
					return strings.Compare(a.item, b.item)
				}
				return int(a.time - b.time)
			})
		}
		if withFlag {
			o.Columns = append(o.Columns, "flag")
		}
		var low, high, step int64
		if rapid.Bool().Draw(r, "where") {
			low, high = rapid.Int64Range(-40, 10).Draw(r, "from"), rapid.Int64Range(-10, 60).Draw(r, "to")
			o.Where = &Where{Time: []json.RawMessage{fmt.Append(nil, low), fmt.Append(nil, high)}}
			if rapid.Bool().Draw(r, "open") {
				high, o.Where.Time[1] = math.MaxInt64, json.RawMessage("null")
			}
		}
		if rapid.Bool().Draw(r, "items") {
			o.Items = []json.RawMessage{json.RawMessage(canonicalNames[rows[len(rows)/2].item])}
		}
		var part, parts uint64
		if rapid.Bool().Draw(r, "bucket") {
			part, parts = rapid.Uint64Range(0, 1).Draw(r, "part"), 2
			o.ItemBucket = fmt.Sprintf("%d/%d", part, parts)
		}
		o.Duplicates = rapid.SampledFrom([]string{"", duplicatesFirst, duplicatesLast, duplicatesMean}).Draw(r, "duplicates")
		if rapid.Bool().Draw(r, "regrid") {
			step = rapid.SampledFrom([]int64{1, 3}).Draw(r, "step")
			o.Regrid = fmt.Append(nil, step)
		}
		o.Layout = rapid.SampledFrom([]string{layout.Columns, layout.Packed}).Draw(r, "layout")
		want, ok := naiveRows(rows, o, low, high, step, part, parts)
		if step > 0 && withFlag && slices.ContainsFunc(want, func(v naiveRow) bool { return v.n != v.n }) {
			ok = false
		}

		var text strings.Builder
		text.WriteString("flag,n,x,t,item\n")
		for _, v := range rows {
			fmt.Fprintf(&text, "%t,%v,%.1f,%d,\"%s\"\n", v.flag, v.n, v.x, v.time, strings.ReplaceAll(v.item, `"`, `""`))
		}
		o.Sources = []string{source(t, "x.csv", text.String())}
		_, dir, err := inBlocks(t, o, rapid.SampledFrom([]int64{16, 1 << 20}).Draw(r, "block"))
		if ok != (err == nil) {
			r.Fatalf("%v, want success: %t\n%s", err, ok, text.String())
		}
		if err != nil {
			refusals++
			return
		}
		loads++
		l := openDir(t, dir)
		items, times, x := texts(l, "item"), values[int64](l, "t"), values[float64](l, "x")
		n := asFloats(l, "n")
		if len(x) != len(want) {
			r.Fatalf("%d rows, want %d", len(x), len(want))
		}
		var words []string
		for i, w := range want {
			got := naiveRow{item: items[i], time: times[i], x: x[i], n: n[i]}
			if withFlag {
				got.flag = values[uint8](l, "flag")[i] == 1
			}
			if fmt.Sprint(got) != fmt.Sprint(w) {
				r.Fatalf("row %d is %v, want %v", i, got, w)
			}
			if !slices.Contains(words, w.item) {
				words = append(words, w.item)
			}
		}
		if got := l.Manifest.Vocab["item"].Count; got != int64(len(words)) {
			r.Fatalf("%d words, want %q", got, words)
		}
		for code, want := range words {
			if got, err := l.Word("item", int64(code)); err != nil || got != want {
				r.Fatalf("word %d is %q, want %q: %v", code, got, want, err)
			}
		}
	})
	if loads < 10 || refusals < 10 {
		t.Errorf("%d loads and %d refusals: the draw is no test", loads, refusals)
	}
}

// asFloats are the values of a column of int64 or float64.
func asFloats(l loaded, name string) []float64 {
	c, err := l.Manifest.Column(name)
	if err != nil {
		l.Fatal(err)
	}
	if c.DType == layout.Float64 {
		return values[float64](l, name)
	}
	var out []float64
	for _, v := range values[int64](l, name) {
		out = append(out, float64(v))
	}
	return out
}
