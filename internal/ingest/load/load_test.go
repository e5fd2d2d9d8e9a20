package load

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/layout"
)

func TestPathsThatAreNotSourcesAreRefused(t *testing.T) {
	dir := t.TempDir()
	socket := filepath.Join(dir, "s.sock")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, c := range []struct{ path, want, hint string }{
		{filepath.Join(dir, "none.csv"), "no such file", ""},
		{dir, "is a directory without " + files.FormatNames() + " files",
			"recognized by their suffix"},
		{socket, "is a socket, want a file", "put"},
		{"/dev/null", "is a device, want a file", ""},
		{loadtest.File(t, "empty.csv", ""), "the file is empty", ""},
	} {
		_, err := files.AllowedRoots{}.Stat([]string{c.path})
		loadtest.Refused(t, err, c.path+": "+c.want, c.hint)
		_, _, err = loadInProcess(t, option.Options{Sources: []string{c.path}})
		loadtest.Refused(t, err, c.path+": "+c.want, c.hint)
	}
}

func TestInvalidTextFilesAreRefused(t *testing.T) {
	rows := func(n int) string { return "date,close\n" + strings.Repeat("2016-07-01,1\n", n) }
	long := rows(48212) + "2016-07-01,n/a\n" + "2016-07-01,1\n"
	for _, c := range []struct {
		name, text, want, hint string
		o                      option.Options
	}{
		{"header only", "a,b\n", "x.csv: has a header but no rows", "", option.Options{}},
		{"empty lines", "\n\n\n", "x.csv: holds nothing but empty lines", "", option.Options{}},
		{"no header", "1,2\n3,4\n", `x.csv, line 1: "1" is a number, want a header line`,
			"first line", option.Options{}},
		{"ragged", "a,b\n1,2\n3,4\n5\n", "x.csv, row 3 (line 4): \"5\" has 1 cell, want 2",
			"`delimiter`", option.Options{}},
		{"too many", "a,b\n1,2\n3,4,5\n", "x.csv, row 2 (line 3): \"3,4,5\" has 3 cells, want 2",
			"`delimiter`", option.Options{}},
		{"late text", long, `x.csv, row 48213 (line 48214), column "close": "n/a" is not a number`,
			"`columns`", option.Options{}},
		{"early text", "a,b\n1,2\n3,n/a\n",
			`x.csv, row 2 (line 3), column "b": "n/a" is not a number`, "`columns`",
			option.Options{}},
		{"lines between", "a,b\n\n1,2\r\n\n\n3,x\n",
			`x.csv, row 2 (line 6), column "b": "x" is not a number`, "`columns`",
			option.Options{}},
		{"number in a text column", "a,b\nMSFT,2\n7,2\n",
			`row 2 (line 3), column "a": "7" looks like a number, but the cells before it are text`,
			"`na`", option.Options{}},
		{"date with slashes", "a,b\n01/02/2020,2\n",
			`row 1 (line 2), column "a": "01/02/2020" is text, not a number`,
			"load with `time=\"a\"` and `time_format=\"%d/%m/%Y\"` or `time_format=\"%m/%d/%Y\"`",
			option.Options{}},
		{"late text in integers after a decimal", "a\n1\n2.5\nx\n",
			`row 3 (line 4), column "a": "x" is not a number`, "`columns`", option.Options{}},
		{"boolean and number", "a\ntrue\n1\n", `"1" is neither true nor false`, "",
			option.Options{}},
		{"missing boolean", "a,b\ntrue,1\n,1\n",
			`row 2 (line 3), column "a": the cell is missing, but only float columns have missing values`,
			"", option.Options{}},
		{"thousands", "a;b\n1,234.5;1\n", `"1,234.5" is text, not a number`,
			"if \",\" is between thousands, load it with `thousands=\",\"`",
			option.Options{Delimiter: ";"}},
		{"per cent below numbers", "a\n1\n5%\n", `"5%" is not a number`,
			"write it without the per cent sign in all rows: 5", option.Options{}},
		{"decimal comma", "a;b\n0;1\n0,5;2\n", `"0,5" is not a number`,
			"if the comma is the decimal sign, load it with `decimal=\",\"`",
			option.Options{Delimiter: ";", Decimal: "."}},
		{"hexadecimal", "a\n1\n0x10\n", `"0x10" is not a number`, "", option.Options{}},
		{"bare quote", "a,b\n1,2\n3\"4,5\n", `row 2 (line 3): "3\"4,5" has a quote within a cell`,
			"write each one within it twice", option.Options{}},
		{"after quote", "a,b\n\"1\"2,3\n",
			`row 1 (line 2): "\"1\"2,3" has a quoted cell that goes on`,
			"write each one within it twice", option.Options{}},
		{"open quote", "a,b\n1,2\n3,\"4\n",
			`row 2 (line 3): "3,\"4" has a quoted cell that is not closed`,
			"write each one within it twice", option.Options{}},
		{"bytes", "a,b\n\xef\xf0\xe8,2\n", `row 1 (line 2), column "a": "\xef\xf0\xe8" is not UTF-8`, "UTF-8",
			option.Options{ItemID: []string{"a"}}},
		{"a name by place twice", "column_2,,b\n3,0,2\n", `column "column_2": 2 columns have this name`, "",
			option.Options{}},
		{"one name twice", "b,b\n1,2\n", `column "b": 2 columns have this name`, "",
			option.Options{}},
		{"unknown column", "close,open\n1,2\n", `columns: no column is named "clsoe"; near: close`,
			"", option.Options{Columns: []string{"clsoe"}}},
		{"another delimiter", "close;open|x\n1;2|3\n", `time: no column is named "close"`,
			"there is one column, \"close;open|x\": say with `delimiter`",
			option.Options{Time: "close"}},
		{"another delimiter without options", "close;open|x\n1;2|3\n", `"1;2|3" is text, not a number`,
			"if that separates cells, load it with `delimiter=\";\"`", option.Options{}},
		{"carriage returns", "a,b\r1,2\r3,4\r", "x.csv: ends its lines with carriage returns alone",
			"line feeds", option.Options{}},
		{"unknown item", "close,open\n1,2\n", `item_id: no column is named "id"`, "",
			option.Options{ItemID: []string{"id"}}},
		{"unknown time", "date,open\n1,2\n", `time: no column is named "dat"; near: date`, "",
			option.Options{Time: "dat"}},
		{"other time", "t,a\nJan 1 2000,2\n",
			`row 1 (line 2), column "t": "Jan 1 2000" is not a time in an unambiguous format`, "", option.Options{Time: "t"}},
		{"day or month", "t,a\n01/02/2016,2\n", `"01/02/2016" is not a time`, "`time_format",
			option.Options{Time: "t"}},
		{"no such day", "t,a\n2016-02-30,2\n", `"2016-02-30" is not a time`, "",
			option.Options{Time: "t"}},
		{"missing time", "t,a\n1,2\n,2\n",
			`row 2 (line 3), column "t": the cell is missing, but every row needs a time`,
			"leave the rows out", option.Options{Time: "t"}},
		{"missing item", "i,a\nx,2\n,2\n",
			`row 2 (line 3), column "i": the cell is missing, but an item needs a name`, "",
			option.Options{ItemID: []string{"i"}}},
		{"zones", "t,a\n2016-07-01 00:00:00,2\n2016-07-01 00:00:00Z,2\n",
			"some have a time zone and some do not", "in every cell or in none",
			option.Options{Time: "t"}},
		{"float time", "t,a\n1.5,2\n", `"1.5" is not a time`, "", option.Options{Time: "t"}},
		{"another format", "t,a\n01.02.2016,2\n2016-02-02,2\n",
			`row 2 (line 3), column "t": "2016-02-02" is not a time in the given format`, "correct the cell", option.Options{Time: "t", TimeFormat: "%d.%m.%Y"}},
		{"boolean as time", "t,a\ntrue,2\n", `row 1 (line 2), column "t": "true" is not a time`, "",
			option.Options{Time: "t"}},
		{"same time", "t,a\n1,2\n2,2\n2,3\n",
			`row 3 (line 4), column "t": two rows have the time 2`, "`item_id`",
			option.Options{Time: "t"}},
		{"same time of an item", "i,t,a\nx,2016-07-01,2\nx,2016-07-01,2\n",
			`row 2 (line 3), column "t": two rows of item "x" have the time 2016-07-01 00:00:00`,
			"one row for each time", option.Options{Time: "t", ItemID: []string{"i"}}},
		{"falling time", "i,t,a\nx,2,2\nx,1,2\n",
			`row 2 (line 3), column "t": time 1 of item "x" comes after 2`, "`sort",
			option.Options{Time: "t", ItemID: []string{"i"}}},
		{"scattered item", "i,j,a\nx,7,2\ny,7,2\nx,7,1\n",
			`row 3 (line 4), column "i, j": item "x", 7 appears again after another item`, "`sort",
			option.Options{ItemID: []string{"i", "j"}}},
		{"same time sorted", "t,a\n2,2\n1,2\n2,3\n", `column "t": two rows have the time 2`, "",
			option.Options{Time: "t", Sort: true}},
		{"too large", "a\n1\n1e300\n", `row 2 (line 3), column "a": "1e300" does not fit float32`,
			"", option.Options{DType: option.Floats("float32")}},
		{"nothing to fit", "a\nNA\n1\n", "the fit rows hold no value to fit on", "`fit_rows`",
			option.Options{Scale: option.All("standard"), FitRows: fitRows(0, 1)}},
		{"infinite", "a\n1\ninf\n",
			`row 2 (line 3), column "a": +Inf is not finite, nothing can be fitted to it`,
			"`clip={\"a\":", option.Options{Scale: option.All("standard")}},
		{"infinite in a mean", "a\n1\nNA\n-inf\n", `row 3 (line 4), column "a": -Inf is not finite`,
			"choose other rows to fit on",
			option.Options{Fill: option.All(option.Fill{How: option.FillMean}),
				FitRows: fitRows(1, 3)}},
		{"too far apart", "a\n1e308\n-1e308\n",
			`column "a": values from -1e+308 to 1e+308 are too far apart to be fitted to`,
			"`columns`", option.Options{Scale: option.All("standard")}},
		{"too close", "a\n1e-310\n3e-310\n",
			`column "a": values from 1e-310 to 3e-310 are too close to each other to be fitted to`,
			"`columns`", option.Options{Scale: option.All("standard")}},
		{"binary", "a\x00b", "is a binary file", "gzip or zstd", option.Options{}},
		{"gzip", "\x1f\x8b\x08", "is cut off: its gzip data does not end", "damaged",
			option.Options{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, block := range []int64{16, 1 << 20} {
				c.o.Sources = []string{loadtest.File(t, "x.csv", c.text)}
				_, _, err := loadInBlocks(t, c.o, block)
				loadtest.Refused(t, err, c.want, c.hint)
			}
		})
	}
}

// fitRows returns the option fit_rows for rows a to b - 1.
func fitRows(a, b int64) *[2]*int64 { return &[2]*int64{&a, &b} }

func TestInvalidOptionsAreRefused(t *testing.T) {
	for want, o := range map[string]option.Options{
		`dtype: "float8": want float16 or float32 or float64`: {DType: option.Floats(
			"float8")},
		`dtype: "int16": want float16 or float32 or float64`: {DType: option.Floats(
			"int16")},
		`dtype: "a=bool": want a dtype of numbers`: {DType: option.DTypes{By: map[string]string{"a": "bool"}}},
		`layout: "rows": want columns or packed`:   {Layout: "rows"},
		`scale: "quantile": want standard, minmax, robust`: {Scale: option.All(
			"quantile")},
		`fill: "median": want a number, mean, forward`: {Fill: option.All(
			option.Fill{How: "median"})},
		`clip: got [2, 1], want the lower bound first`: {Clip: option.All(
			option.Clip{Low: 2, High: 1, HasLow: true, HasHigh: true})},
		`winsorize: got [0.9, 0.1], want two quantiles from 0 to 1, the lower one first`: {
			Winsorize: winsorizeAt(0.9, 0.1)},
		`winsorize: got [0, 0], want two quantiles`:    {Winsorize: winsorizeAt(0, 0)},
		`winsorize: got [-0.1, 0.5], want`:             {Winsorize: winsorizeAt(-0.1, 0.5)},
		`winsorize: got [0.5, 99], want two quantiles`: {Winsorize: winsorizeAt(0.5, 99)},
		`fit_fraction: got 1.5, want a share above 0`: {Scale: option.All(
			"minmax"), FitFraction: new(1.5)},
		`fit_sample: got -1, want a number of rows from 1`: {Scale: option.All(
			"minmax"), FitSample: -1},
		`fit_seed: got 3, want it only together with fit_sample`: {FitSeed: 3},
		`fit_before: got 5, want it only together with time`: {Scale: option.All(
			"minmax"), FitBefore: []byte("5")},
		`scale_per: "window": want column or item`: {Scale: option.All(
			"minmax"), ScalePer: "window"},
		`scale_per: "item": want it only together with fill mean or winsorize or scale`: {
			ScalePer: "item"},
		`fit_rows: got [0,1], want it only together with fill mean or winsorize or scale`: {
			FitRows: fitRows(0, 1)},
		`fit_rows: got [5,5], want a first row before the second`: {Scale: option.All(
			"minmax"), FitRows: fitRows(5, 5)},
		`columns: "a": want each column once`: {Columns: []string{"a",
			"a"}},
		`item_id: want names that are not empty`: {ItemID: []string{""}},
		`time: "a": want a column that is not an item_id`: {ItemID: []string{"a"},
			Time: "a"},
		`sort: want it only together with time or item_id`: {Sort: true},
	} {
		err := o.Validate()
		loadtest.Refused(t, err, want, "")
		if !errors.Is(err, loaderr.ErrOption) {
			t.Errorf("%v does not wrap ErrOption", err)
		}
	}
}

func TestEqualOptionsHaveOneRecipe(t *testing.T) {
	zero := int64(0)
	for _, pair := range [][2]option.Options{
		{{Sources: []string{"a"}}, {Sources: []string{"b"}, Layout: "columns"}},
		{{Scale: option.All("minmax")}, {Scale: option.All("minmax"), ScalePer: "column",
			FitRows: &[2]*int64{&zero, nil}}},
		{{Scale: option.All("none")}, {}},
		{{Winsorize: winsorizeAt(0.1, 0.9)}, {ScalePer: "column", Winsorize: option.ByColumn(
			map[string]option.Winsorize{"*": {Low: 0.1, High: 0.9, On: true}})}},
		{{Scale: option.All("minmax"), FitFraction: new(1.0)}, {Scale: option.All("minmax")}},
		{{Scale: option.ByColumn(map[string]string{"a": "none", "b": "robust"})},
			{Scale: option.ByColumn(map[string]string{"b": "robust", "*": "none"})}},
		{{Scale: option.ByColumn(map[string]string{"a": "", "*": "robust"})},
			{Scale: option.ByColumn(map[string]string{"a": "none", "*": "robust"})}},
		{{Time: "t", Calendar: []string{"hour_sincos", "day"}},
			{Time: "t", Calendar: []string{"hour_sin", "hour_cos", "day"}}},
		{{Fill: option.ByColumn(map[string]option.Fill{"a": {}})},
			{Clip: option.ByColumn(map[string]option.Clip{"*": {}})}},
	} {
		a, _ := pair[0].Recipe()
		b, _ := pair[1].Recipe()
		if string(a) != string(b) {
			t.Errorf("%s and %s", a, b)
		}
		if c, err := pair[0].Recipe(); err != nil || string(c) != string(a) {
			t.Errorf("%s, then %s: %v", a, c, err)
		}
	}
}

func TestRowsOfSeveralSourcesAreConcatenated(t *testing.T) {
	a := loadtest.File(t, "a.csv", "i,t,x,y\nu,1,1,1\nu,2,2,2\n")
	b := loadtest.File(t, "b.csv", "t,i,y,x\n3,u,3.5,3\n1,v,4,4\n")
	l := mustLoad(t, option.Options{Sources: []string{a, b}, ItemID: []string{"i"}, Time: "t"})
	if x, y := loadtest.Values[int64](l, "x"), loadtest.Values[float64](l, "y"); !slices.Equal(x,
		[]int64{1, 2, 3, 4}) || !slices.Equal(y, []float64{1, 2, 3.5, 4}) {
		t.Errorf("x %v, y %v", x, y)
	}
	if o, _ := l.ItemOffsets(); !slices.Equal(o, []int64{0, 3, 4}) {
		t.Errorf("items at %v", o)
	}
	if n := len(l.Manifest.Sources); n != 2 {
		t.Errorf("%d sources in the manifest", n)
	}
	for _, c := range []struct{ text, want string }{
		{"i,t,x\nv,1,1\n", `b.csv, column "y": is not in this file but in `},
		{"i,t,x,y,z\nv,1,1,1,1\n", `b.csv, column "z": is in this file but not in `},
		{"i,t,x,y\nv,1,true,1\n", `b.csv, column "x": is bool here but int64 in `},
		{"i,t,x,y\nu,3,1,1\nu,3,1,1\n",
			`b.csv, row 2 (line 3), column "t": two rows of item "u" have the time 3`},
	} {
		_, _, err := loadInProcess(t,
			option.Options{Sources: []string{a, loadtest.File(t, "b.csv", c.text)},
				ItemID: []string{"i"}, Time: "t"})
		loadtest.Refused(t, err, c.want, "")
	}
}

func TestSourceEditedDuringTheLoadIsRefused(t *testing.T) {
	path := loadtest.File(t, "x.csv", "a\n1\n2\n")
	before, err := files.AllowedRoots{}.Stat([]string{path})
	if err != nil {
		t.Fatal(err)
	}
	if err := (files.AllowedRoots{}).Unchanged(before); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(path, []byte("a\n1\n2\n3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	loadtest.Refused(t, files.AllowedRoots{}.Unchanged(before),
		path+": the file was changed while it was loaded", "complete")
}

// TestSortedRowsEqualAStableSort loads shuffled rows with sort, and compares them with a stable
// sort by item, in the order of first appearance, and by time.
func TestSortedRowsEqualAStableSort(t *testing.T) {
	type row struct {
		a, b string
		t, v int
	}
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(1, 200).Draw(r, "rows")
		timed := rapid.Bool().Draw(r, "with time")
		var rows []row
		var b strings.Builder
		b.WriteString("a,b,t,v,w,s\n")
		times := map[[2]string]int{}
		for i := range n {
			x := row{a: rapid.SampledFrom([]string{"1", "2", "3"}).Draw(r, "a"),
				b: rapid.SampledFrom([]string{"p", "q"}).Draw(r, "b"), v: i}
			times[[2]string{x.a, x.b}]++
			x.t = times[[2]string{x.a, x.b}]
			rows = append(rows, x)
		}
		perm := rapid.Permutation(rows).Draw(r, "order")
		first := map[[2]string]int{}
		for _, x := range perm {
			if _, ok := first[[2]string{x.a, x.b}]; !ok {
				first[[2]string{x.a, x.b}] = len(first)
			}
			fmt.Fprintf(&b, "%s,%s,%d,%d,%d.5,%t\n", x.a, x.b, x.t, x.v, x.v, x.v%2 == 0)
		}
		want := slices.Clone(perm)
		slices.SortStableFunc(want, func(x, y row) int {
			if d := first[[2]string{x.a, x.b}] - first[[2]string{y.a, y.b}]; d != 0 || !timed {
				return d
			}
			return x.t - y.t
		})
		o := option.Options{Sources: []string{loadtest.File(t, "x.csv", b.String())},
			ItemID: []string{"a", "b"}, Sort: true, Columns: []string{"v", "w", "s"}}
		if timed {
			o.Time = "t"
		}
		o.Layout = rapid.SampledFrom([]string{layout.Columns, layout.Packed}).Draw(r, "layout")
		l := mustLoad(t, o)
		defer l.Close()
		v, w, s, words := loadtest.Values[int64](l, "v"), loadtest.Values[float64](l, "w"),
			loadtest.Values[uint8](l, "s"), loadtest.Texts(l, "b")
		for i, x := range want {
			if v[i] != int64(x.v) || w[i] != float64(x.v)+0.5 || s[i] == uint8(x.v%2) ||
				words[i] != x.b {
				r.Fatalf("row %d is %d, want %d", i, v[i], x.v)
			}
		}
		if got := int(l.Manifest.Items.Count); got != len(first) {
			r.Fatalf("%d items, want %d", got, len(first))
		}
	})
}
