package load

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	_ "github.com/tensorcache/tensorcache/internal/testseed" // for rapid
	"github.com/tensorcache/tensorcache/layout"
)

// tryAppend appends sources to a generation. It returns the new generation.
func tryAppend(t *testing.T, to loadtest.Loaded, sources ...string) (loadtest.Loaded, error) {
	t.Helper()
	o, err := AppendOptions(to.Manifest, sources)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if _, err := Run(context.Background(),
		Request{Dir: dir, Options: o, Append: &Append{Dir: to.Dir}},
		&progress.Meter{}); err != nil {
		return loadtest.Loaded{}, err
	}
	return loadtest.OpenDir(t, dir), nil
}

func mustAppend(t *testing.T, to loadtest.Loaded, sources ...string) loadtest.Loaded {
	t.Helper()
	l, err := tryAppend(t, to, sources...)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Verify(); err != nil {
		t.Error(err)
	}
	return l
}

// TestAppendedRowsFollowThoseOfTheirItems appends rows of random items twice. The generation must
// have the rows of a stable sort of all rows by item.
func TestAppendedRowsFollowThoseOfTheirItems(t *testing.T) {
	draws := 0
	rapid.Check(t, func(r *rapid.T) {
		if draws++; draws > 60 && testing.Short() {
			r.Skip()
		}
		type row struct {
			item string
			t    int64
			v    float64
		}
		names := []string{"b", "a", "c", "längster", "d d"}
		var parts [3][]row
		last := map[string]int64{}
		for p := range parts {
			for _, item := range rapid.Permutation(
				names[:rapid.IntRange(1, len(names)).Draw(r, "items")]).Draw(r, "order") {
				for range rapid.IntRange(1, 4).Draw(r, "rows") {
					last[item] += int64(rapid.IntRange(1, 3).Draw(r, "step"))
					parts[p] = append(parts[p],
						row{item, last[item], float64(rapid.IntRange(-9, 9).Draw(r, "v"))})
				}
			}
		}
		o := option.Options{ItemID: []string{"i"}, Time: "t",
			Layout: rapid.SampledFrom([]string{"", layout.Packed}).Draw(r, "layout")}
		write := func(rows []row) string {
			var b strings.Builder
			b.WriteString("w,v,i,t,n\n")
			for _, x := range rows {
				fmt.Fprintf(&b, "%v,%v.5,%s,%d,%d\n", x.v*2+0.25, x.v, x.item, x.t, x.t*3)
			}
			return loadtest.File(t, "x.csv", b.String())
		}
		var l loadtest.Loaded
		var want []row
		for p, rows := range parts {
			if p == 0 {
				l = mustLoad(t, option.Options{Sources: []string{write(rows)}, ItemID: o.ItemID,
					Time: o.Time, Layout: o.Layout})
			} else {
				l = mustAppend(t, l, write(rows))
			}
			want = append(want, rows...)
		}
		var order []string
		for _, x := range want {
			if !slices.Contains(order, x.item) {
				order = append(order, x.item)
			}
		}
		slices.SortStableFunc(want,
			func(a, b row) int { return slices.Index(order, a.item) - slices.Index(order, b.item) })
		vs, ws, ts, ns, codes := loadtest.Values[float64](l, "v"), loadtest.Values[float64](l, "w"),
			loadtest.Values[int64](l, "t"), loadtest.Values[int64](l, "n"),
			loadtest.Values[int32](l, "i")
		if len(vs) != len(want) {
			r.Fatalf("%d rows, want %d", len(vs), len(want))
		}
		for i, x := range want {
			item, err := l.Word("i", int64(codes[i]))
			if v := x.v; err != nil || item != x.item || ts[i] != x.t ||
				math.Abs(vs[i]) != math.Abs(v)+0.5 || ws[i] != v*2+0.25 || ns[i] != x.t*3 {
				r.Fatalf("row %d is %s %d %v %v %d (%v), want %+v", i, item, ts[i], vs[i], ws[i],
					ns[i], err, x)
			}
		}
		offsets, err := l.ItemOffsets()
		if err != nil || len(offsets) != len(order)+1 {
			r.Fatalf("offsets %v, want %d items, %v", offsets, len(order), err)
		}
		for i, name := range order {
			got, err := l.Item(int64(i))
			if err != nil || got[0] != name || want[offsets[i]].item != name {
				r.Fatalf("item %d is %v at row %d, want %s, %v", i, got, offsets[i], name, err)
			}
		}
		if m := l.Manifest; len(m.Sources) != 3 || len(m.Appended) != 2 ||
			m.Appended[1].Rows != int64(len(parts[2])) || m.Appended[1].Sources != 1 {
			r.Fatalf("sources %v, appended %v", m.Sources, m.Appended)
		}
	})
}

// TestAppendKeepsTheFittedParameters appends values that would change the scale and the fill mean
// of every item, if they were fitted again. Only new items have new parameters.
func TestAppendKeepsTheFittedParameters(t *testing.T) {
	for _, per := range []string{option.ScalePerColumn, option.ScalePerItem} {
		for _, layoutName := range []string{layout.Columns, layout.Packed} {
			o := option.Options{ItemID: []string{"i"}, Time: "t",
				Scale: option.All(option.ScaleStandard), ScalePer: per, Layout: layoutName,
				Fill: option.ByColumn(map[string]option.Fill{"b": {How: option.FillMean}})}
			o.Sources = []string{loadtest.File(t, "a.csv",
				"i,t,a,b\n1,1,2,10\n1,2,4,\n2,1,10,30\n2,2,30,50\n")}
			old := mustLoad(t, o)
			l := mustAppend(t, old,
				loadtest.File(t, "b.csv", "i,t,a,b\n2,3,1000,\n3,1,7,1\n3,2,9,5\n1,5,-50,\n"))
			before, after := loadtest.Values[float32](old, "a"), loadtest.Values[float32](l, "a")
			if oldRows := []float32{after[0], after[1], after[3], after[4]}; !slices.Equal(
				oldRows, before) {
				t.Errorf("%s: the old rows are %v, want %v", per, oldRows, before)
			}
			scale, oldScale := columnOf(l, "a").Scale, columnOf(old, "a").Scale
			if n := len(oldScale.Shift); !slices.Equal(scale.Shift[:n], oldScale.Shift) ||
				!slices.Equal(scale.Scale[:n], oldScale.Scale) {
				t.Errorf("%s: scaled by %+v, want %+v", per, scale, oldScale)
			}
			raw := []float64{2, 4, -50, 10, 30, 1000, 7, 9}
			items := []int{0, 0, 0, 1, 1, 1, 2, 2}
			for row, x := range raw {
				at := 0
				if per == option.ScalePerItem {
					at = items[row]
				}
				if want := float32((x - scale.Shift[at]) / scale.Scale[at]); after[row] != want {
					t.Errorf("%s: row %d is %v, want %v", per, row, after[row], want)
				}
			}
			if per == option.ScalePerItem && (len(scale.Shift) != 3 || scale.Shift[2] != 8 ||
				scale.Scale[2] != 1) {
				t.Errorf("the new item has the fit %+v", scale)
			}
			b, prepared := loadtest.Values[float32](l, "b"), columnOf(l, "b").Prepared
			mean, at, s := 30.0, 0, columnOf(l, "b").Scale
			if per == option.ScalePerItem {
				mean, at = 40, 1
			}
			if want := float32((mean - s.Shift[at]) / s.Scale[at]); b[5] != want ||
				prepared.FillValue[at] != mean {
				t.Errorf("%s: a gap is filled with %v (%v), want %v", per, b[5],
					prepared.FillValue, want)
			}
		}
	}
}

func columnOf(l loadtest.Loaded, name string) *layout.ManifestColumn {
	l.Helper()
	c, err := l.Manifest.Column(name)
	if err != nil {
		l.Fatal(err)
	}
	return c
}

// TestStepsContinueInAppendedRows compares an append with a load of all rows at once. Gaps and
// differences at the first appended rows must depend on the last rows before them.
func TestStepsContinueInAppendedRows(t *testing.T) {
	a := loadtest.File(t, "a.csv", "i,t,v\nx,1,1\nx,2,\nx,3,4\ny,1,2\ny,2,8\n")
	b := loadtest.File(t, "b.csv", "i,t,v\ny,3,\ny,4,3\nx,4,\nx,5,\nx,6,10.5\nz,1,\nz,2,6\nx,7,\n")
	for name, o := range map[string]option.Options{
		"forward":  {Fill: option.All(option.Fill{How: option.FillForward})},
		"linear":   {Fill: option.All(option.Fill{How: option.FillLinear})},
		"backward": {Fill: option.All(option.Fill{How: option.FillBackward})},
		"value":    {Fill: option.All(option.FillWith(-1))},
		"diff":     {Diff: option.All(true)},
		"forward, log1p, diff": {Fill: option.All(option.Fill{How: option.FillForward}),
			Log1p: option.All(true), Diff: option.All(true), DType: option.Floats("float64")},
		"linear, log1p": {Fill: option.All(option.Fill{How: option.FillLinear}),
			Log1p: option.All(true), DType: option.Floats("float64")},
		"forward, clip": {Fill: option.All(option.Fill{How: option.FillForward}),
			Clip: option.All(option.Clip{High: 5, HasHigh: true})},
		"calendar":     {},
		"none, packed": {Layout: layout.Packed},
		"forward in float32, packed": {Fill: option.All(option.Fill{How: option.FillForward}),
			DType: option.Floats("float32"), Layout: layout.Packed},
	} {
		t.Run(name, func(t *testing.T) {
			o.ItemID, o.Time, o.Sort = []string{"i"}, "t", true
			whole, first := o, o
			whole.Sources, first.Sources = []string{a, b}, []string{a}
			want, got := mustLoad(t, whole), mustAppend(t, mustLoad(t, first), b)
			w, g := floatsOf(want, "v"), floatsOf(got, "v")
			if len(w) != len(g) {
				t.Fatalf("%v, want %v", g, w)
			}
			for i := range w {
				if d := math.Abs(w[i] - g[i]); d > 1e-6 || (w[i] != w[i]) != (g[i] != g[i]) {
					t.Errorf("row %d is %v, want %v", i, g[i], w[i])
				}
			}
			gm, gerr := got.BeforeFill(columnOf(got, "v"))
			wm, werr := want.BeforeFill(columnOf(want, "v"))
			if gerr != nil || werr != nil || !slices.Equal(gm, wm) || !o.Fill.IsZero() &&
				len(gm) == 0 {
				t.Errorf("rows missing before the fill: %v, want %v (%v, %v)", gm, wm, gerr, werr)
			}
			if s, x := got.Manifest.TimeStep, want.Manifest.TimeStep; *s != *x {
				t.Errorf("step %+v, want %+v", s, x)
			}
			if p, x := columnOf(got, "v").Prepared, columnOf(want, "v").Prepared; p != nil &&
				o.Log1p.IsZero() && fmt.Sprint(p.First, p.Last) != fmt.Sprint(x.First, x.Last) {
				t.Errorf("first values %v and last values %v, want %v and %v", p.First, p.Last,
					x.First, x.Last)
			}
		})
	}
}

func TestAppendToEveryKindOfDataset(t *testing.T) {
	// An integer in a float column. New rows continue the grid.
	old := mustLoad(t,
		option.Options{Sources: []string{loadtest.File(t, "a.csv",
			"i,t,v\nx,2020-01-01,1.5\nx,2020-01-02,2\ny,2020-01-01,1\n")}, ItemID: []string{"i"},
			Time: "t", Regrid: []byte(`"1d"`)})
	l := mustAppend(t, old, loadtest.File(t, "b.csv", "i,t,v\nx,2020-01-03,7\nx,2020-01-05,8\n"))
	if got := loadtest.Values[float64](l, "v"); len(got) != 6 || got[2] != 7 || got[3] == got[3] ||
		got[4] != 8 || got[5] != 1 {
		t.Errorf("got %v", got)
	}
	if _, err := tryAppend(t, l,
		loadtest.File(t, "c.csv", "i,t,v\nx,2020-01-07,7.5\n")); err == nil {
		t.Error("a gap in the grid was accepted")
	} else {
		loadtest.Refused(t, err,
			`time 2020-01-07 00:00:00 of item "x" is not one step of 1d after 2020-01-05 00:00:00`,
			"the rows between")
	}
	// Without a time, rows go to the end.
	plain := mustLoad(t, option.Options{Sources: []string{loadtest.File(t, "a.csv", "v\n1\n2\n")}})
	if got := loadtest.Values[int64](mustAppend(t, plain, loadtest.File(t, "b.csv", "v\n1\n")),
		"v"); !slices.Equal(got, []int64{1, 2, 1}) {
		t.Errorf("got %v", got)
	}
	// Only the item and time columns are loaded. The types of other columns are not compared.
	keysOnly := mustLoad(t,
		option.Options{Sources: []string{loadtest.File(t, "a.csv", "i,t,v\n1,1,x\n1,2,y\n")},
			ItemID: []string{"i"}, Time: "t", Columns: []string{"t"}})
	if got := loadtest.Values[int64](mustAppend(t, keysOnly,
		loadtest.File(t, "b.csv", "i,t,v\n1,3,z\n")), "t"); !slices.Equal(got, []int64{1, 2, 3}) {
		t.Errorf("only keys: %v", got)
	}
	// A melted table: one series has no new rows, and one is new.
	wide := mustLoad(t,
		option.Options{Sources: []string{loadtest.File(t, "a.csv", "t,x,y\n1,1.5,2\n2,3,4\n")},
			Time: "t", Melt: option.MeltColumns})
	long := mustAppend(t, wide, loadtest.File(t, "b.csv", "t,z,x\n3,5,6\n"))
	if got := loadtest.Values[float64](long, "value"); !slices.Equal(got,
		[]float64{1.5, 3, 6, 2, 4, 5}) {
		t.Errorf("melted: %v", got)
	}
	// Texts as values, one of them missing.
	texts := mustLoad(t,
		option.Options{Sources: []string{loadtest.File(t, "a.csv", "v,w\n1,b\n2,\n3,a\n")}})
	if got := loadtest.Values[int32](mustAppend(t, texts,
		loadtest.File(t, "b.csv", "v,w\n1,c\n2,a\n3,\n")), "w"); !slices.Equal(got,
		[]int32{0, -1, 1, 2, 1, -1}) {
		t.Errorf("texts: %v", got)
	}
	// Item names keep their codes.
	items := mustLoad(t,
		option.Options{Sources: []string{loadtest.File(t, "a.csv", "i,v\nb,1\na,2\n")},
			ItemID: []string{"i"}})
	grown := mustAppend(t, items, loadtest.File(t, "b.csv", "i,v\nc,1\na,2\n"))
	if got := loadtest.Values[int32](grown, "i"); !slices.Equal(got, []int32{0, 1, 1, 2}) {
		t.Errorf("codes %v", got)
	}
}

func TestRowsThatCannotBeAppendedAreRefused(t *testing.T) {
	old := mustLoad(t,
		option.Options{Sources: []string{loadtest.File(t, "a.csv",
			"i,t,v,n\nx,1,1.5,1\nx,2,2.5,2\ny,5,1.5,3\n")}, ItemID: []string{"i"}, Time: "t"})
	for name, c := range map[string]struct{ text, want, hint string }{
		"the same time": {"i,t,v,n\nz,1,1,1\nx,2,3.5,2\n",
			`b.csv, row 2 (line 3), column "t": time 2 of item "x" is not after 2, the last one in the dataset`, "append newer rows only"},
		"an earlier time": {"i,t,v,n\ny,4,3.5,2\n",
			`b.csv, row 1 (line 2), column "t": time 4 of item "y" is not after 5`,
			"load all rows again"},
		"a column less": {"i,t,v\nx,3,1\n",
			`b.csv, column "n": is in the dataset but not here`, "load all rows again"},
		"a column more": {"i,t,v,n,m\nx,3,1,1,1\n",
			`b.csv, column "m": is here but not in the dataset`, "load all rows again"},
		"decimals": {"i,t,v,n\nx,3,1,1.5\n",
			`b.csv, column "n": is float64 here but int64 in the dataset`, "load all rows again"},
		"decimals far below": {"i,t,v,n\n" + rowsOf("x,%d,1,1\n", 3, 5000) + "x,9000,1,1.5\n",
			`b.csv, column "n": is float64 here but int64 in the dataset`, ""},
		"texts": {"i,t,v,n\nx,3,one,1\n",
			`column "v": is text here but float64 in the dataset`, "load all rows again"},
		"times": {"i,t,v,n\nx,2020-01-01,1,1\n",
			`column "t": is timestamp[s] here but int64 in the dataset`, ""},
		"unsorted": {"i,t,v,n\nx,4,1,1\nx,3,1,1\n",
			`time 3 of item "x" comes after 4`, ""},
		"nothing": {"i,t,v,n\n", "no rows", ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := tryAppend(t, old, loadtest.File(t, "b.csv", c.text))
			loadtest.Refused(t, err, c.want, c.hint)
		})
	}
	if err := old.Verify(); err != nil {
		t.Error(err)
	}
}

// rowsOf formats a row for each integer from `from` to `to` - 1.
func rowsOf(format string, from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

func TestAnAppendThatNeedsMoreSpaceIsRefused(t *testing.T) {
	old := mustLoad(t, option.Options{Sources: []string{loadtest.File(t, "a.csv", "v\n1\n")}})
	b, err := openBase(old.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Data.Close()
	need := b.need(3)
	for _, have := range []int64{need - 1, need, -1} { // -1: not known
		err := b.checkSpace("/cache", 3, func(string) int64 { return have })
		var s *loaderr.NoSpaceError
		if have == need-1 && (!errors.As(err, &s) || s.Need != need || s.Have != have) ||
			have != need-1 && err != nil {
			t.Errorf("with %d bytes: %v", have, err)
		}
	}
}
