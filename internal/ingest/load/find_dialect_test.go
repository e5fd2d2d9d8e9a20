package load

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/layout"
)

// TestDialectsAreFoundAsOptionsSay writes a random table in a random dialect, and loads it without
// and with the options. Both have the same values; the first has a note whose options are not plain.
func TestDialectsAreFoundAsOptionsSay(t *testing.T) {
	seen := map[string]int{}
	rapid.Check(t, func(r *rapid.T) {
		delimiter := rapid.SampledFrom([]string{",", ";", "\t", "|"}).Draw(r, "delimiter")
		decimal := "."
		if delimiter != "," && rapid.Bool().Draw(r, "comma") {
			decimal = ","
		}
		suffix, plain := ".csv", ","
		if rapid.IntRange(0, 3).Draw(r, "tsv") == 0 {
			suffix, plain = ".tsv", "\t"
		}
		records := [][]string{{"name", "x", "n", "y, in €"}}
		word := rapid.SampledFrom([]string{"a", "b c", `d "e"`, "f,g", "h;i", "j|k", "line\nbreak"})
		for i := range rapid.IntRange(1, 250).Draw(r, "rows") {
			x := fmt.Sprintf("%d.%d", i%7, rapid.IntRange(0, 99).Draw(r, "x"))
			y := fmt.Sprintf("-0.%d", rapid.IntRange(0, 9999).Draw(r, "y"))
			if i > 0 && rapid.IntRange(0, 9).Draw(r, "missing") == 0 {
				x = ""
			}
			records = append(records, []string{word.Draw(r, "word"),
				strings.Replace(x, ".", decimal, 1), fmt.Sprint(i), strings.Replace(y, ".", decimal, 1)})
		}
		var b bytes.Buffer
		w := csv.NewWriter(&b)
		w.Comma = rune(delimiter[0])
		w.UseCRLF = rapid.Bool().Draw(r, "crlf")
		if err := w.WriteAll(records); err != nil {
			r.Fatal(err)
		}
		text := b.String()
		if rapid.Bool().Draw(r, "bom") {
			text = "\ufeff" + text
		}
		o := option.Options{Sources: []string{loadtest.File(t, "x"+suffix, text)},
			DType: option.DTypes{By: map[string]string{"name": "text"}}}
		found := mustLoad(t, o)
		o.Delimiter, o.Decimal = delimiter, decimal
		given := mustLoad(t, o)
		for i, c := range given.Manifest.Columns {
			if got := found.Manifest.Columns[i]; got.Name != c.Name || got.XXH64 != c.XXH64 {
				r.Fatalf("column %q has other values than %q of the options\n%s", got.Name, c.Name, text)
			}
		}
		if len(given.Manifest.Notes) > 0 || given.Manifest.Dialect != nil {
			r.Errorf("with options: %q, %+v", noteTexts(given.Manifest.Notes), given.Manifest.Dialect)
		}
		var want layout.Dialect
		var options []string
		if delimiter != plain {
			want.Delimiter = delimiter
			name := strings.Replace(delimiter, "\t", "tab", 1)
			options = append(options, fmt.Sprintf("`delimiter=%q`", name))
		}
		if decimal != "." {
			want.Decimal = decimal
			options = append(options, fmt.Sprintf("`decimal=%q`", decimal))
		}
		notes := found.Manifest.Notes
		if want == (layout.Dialect{}) {
			if len(notes) > 0 || found.Manifest.Dialect != nil {
				r.Errorf("a plain file has %q, %+v", noteTexts(notes), found.Manifest.Dialect)
			}
			seen["plain"]++
			return
		}
		if hint := "to say so, load with " + strings.Join(options, " and "); len(notes) != 1 ||
			notes[0].Hint != hint || *found.Manifest.Dialect != want {
			r.Errorf("got %+v, %+v, want the hint %q", notes, found.Manifest.Dialect, hint)
		}
		seen[strings.Join(options, " ")]++
	})
	// with a comma between cells only in .tsv files
	if len(seen) != 9 {
		t.Errorf("only these were drawn: %v", seen)
	}
}

// TestDialectsOfFiles loads files that are found to have another dialect, or whose plain reading stays.
func TestDialectsOfFiles(t *testing.T) {
	text := func(names ...string) option.Options {
		o := option.Options{DType: option.DTypes{By: map[string]string{}}}
		for _, name := range names {
			o.DType.By[name] = "text"
		}
		return o
	}
	for name, c := range map[string]struct {
		text string
		o    option.Options
		want string // the delimiter and the decimal mark that are found, or the refusal
	}{
		"header of two delimiters":       {"a;b|c\n1;2|3\n", option.Options{}, "is text, not a number"},
		"one column of words":            {"only\nx;y\nz\n", option.Options{}, ""},
		"one column, all rows alike":     {"x;y\na;b\n", option.Options{Delimiter: ","}, ""},
		"one column that options name":   {"x;y\na;b\n", text("x;y"), ""},
		"a damaged row":                  {"a;b\n1;2\n3\n", option.Options{}, "is text, not a number"},
		"a damaged row of a plain file":  {"a,b\n1,2\n3\n", option.Options{}, "has 1 cell, want 2"},
		"comma in the header":            {"price, net;n\n1,5;2\n2;3\n", option.Options{}, ";,"},
		"commas in all rows":             {"price, net;n\n1,5;2\n2,5;3\n", option.Options{}, `"5;2" is text, not a number`},
		"decimals without a header":      {"1;2,5\n3;4\n", option.Options{NoHeader: true}, ";,"},
		"a list in each row":             {"city,lat;lon\nBerlin,52.5;13.4\nParis,48.8;2.3\n", text("lat;lon"), ""},
		"a list without a header":        {"Berlin,52;13\nParis,48;2\n", option.Options{NoHeader: true, DType: text("c1").DType}, ""},
		"thousands or decimals":          {"a;b\n1,234;2\n", option.Options{}, `"1,234" is text, not a number`},
		"thousands, and surely decimals": {"a;b\n1,234;2\n0,123;2\n", option.Options{}, ";,"},
		"thousands beside decimals":      {"a;b\n1,234;5,6\n", option.Options{}, `"1,234" is text, not a number`},
		"thousands beside a text":        {"a;b\n1,234;5,6\n", text("b"), `"1,234" is text, not a number`},
		"thousands beside an item":       {"a;b\n1,234;5,6\n", option.Options{ItemID: []string{"b"}}, `"1,234" is text, not a number`},
		"decimals of a text":             {"a;b\n1.5;5,6\n", text("b"), ";"},
		"decimals that are not loaded":   {"a;b\n1.5;5,6\n", option.Options{Columns: []string{"a"}}, ";"},
		"decimals of words":              {"a;b\n1.5;5,6\n2.5;x\n", text("b"), ";"},
		"a word for a missing value":     {"a;b\n-9,99;1\n3.5;2\n", option.Options{NA: []string{"-9,99"}}, ";"},
		"four digits before the comma":   {"a;b\n1234,567;2\n", option.Options{}, ";,"},
		"points and commas":              {"a;b\n1,25;2\n0.5;2\n", option.Options{}, `"1,25" is text, not a number`},
		"points in times":                {"a;b\n1,25;2024-01-01 00:00:00.5\n", option.Options{Time: "b"}, ";,"},
		"comma only in the header":       {"a;b,c\n1;2\n", option.Options{}, ";"},
		"decimal, but no delimiter":      {"a;b\n1,5;2\n", option.Options{Decimal: ","}, ";"},
		"delimiter, but no decimal":      {"a;b\n1,5;2\n", option.Options{Delimiter: ";"}, ","},
		"decimal point given":            {"a;b\n1,5;2\n", option.Options{Delimiter: ";", Decimal: "."}, `"1,5" is text, not a number`},
		"comma after the first rows":     {"a;b\n" + strings.Repeat("1;2\n", 100) + "0,5;2\n", option.Options{}, `"0,5" is not a number`},
		"comma in the 90th, wide row":    {wideRows(300, 90, "1,5"), option.Options{}, ";,"},
		"quoted delimiters":              {"x,y\n\"1;2\",a\n", text("x"), ""},
		"a long first row":               {"a;" + strings.Repeat("b", 70<<10) + "\n" + strings.Repeat("1", 10) + ";2\n", option.Options{}, ";"},
		"series in rows":                 {"id;1;2\na;1,5;2,5\nb;3,5;\n", option.Options{Melt: option.MeltRows, Delimiter: ";"}, ","},
	} {
		t.Run(name, func(t *testing.T) {
			c.o.Sources = []string{loadtest.File(t, "a.csv", c.text)}
			m, _, err := loadInProcess(t, c.o)
			if err != nil {
				loadtest.Refused(t, err, c.want, "")
				return
			}
			got := layout.Dialect{}
			if m.Dialect != nil {
				got = *m.Dialect
			}
			if got.Delimiter+got.Decimal != c.want || got.Encoding != "" || got.Mixed {
				t.Errorf("found %+v, want %s", got, c.want)
			}
		})
	}
}

// wideRows returns a file with a row of numbers in the last row and whole numbers above.
func wideRows(columns, rows int, number string) string {
	var b strings.Builder
	for i := range rows + 1 {
		for j := range columns {
			cell := fmt.Sprint("c", j)
			if i > 0 {
				cell = "1000"
			}
			if i == rows {
				cell = number
			}
			b.WriteString(cell)
			b.WriteByte(";\n"[min(1, (j+1)/columns)])
		}
	}
	return b.String()
}

// TestAWordForAMissingValueMayHaveADecimalComma compares a load that finds decimal commas with one that
// has the option.
func TestAWordForAMissingValueMayHaveADecimalComma(t *testing.T) {
	o := option.Options{
		Sources: []string{loadtest.File(t, "a.csv", "a;b\n-9,99;1\n3,5;2\n")}, NA: []string{"-9,99"},
	}
	for range 2 {
		if got := loadtest.Texts(mustLoad(t, o), "a"); got[0] != "nan" || got[1] != loadtest.FloatText(3.5) {
			t.Errorf("with decimal %q: %q", o.Decimal, got)
		}
		o.Delimiter, o.Decimal = ";", ","
	}
}

// TestEachFileHasItsOwnDialect loads files of several dialects in every order, and appends them.
func TestEachFileHasItsOwnDialect(t *testing.T) {
	files := []string{
		loadtest.File(t, "plain.csv", "a,b\n1.5,2\n"), loadtest.File(t, "semi.csv", "a;b\n1,5;2\n"),
		loadtest.File(t, "tab.tsv", "a\tb\n1.5\t2\n"), loadtest.File(t, "points.csv", "a;b\n1.5;2\n"),
	}
	const note = `delimiter: in some files cells are separated by ";", in some files numbers have "," before their decimals, by the first rows of the text files`
	check := func(l loadtest.Loaded) {
		t.Helper()
		for _, v := range loadtest.Values[float64](l, "a") {
			if v != 1.5 {
				t.Errorf("%v in a, want 1.5", v)
			}
		}
		if got := noteTexts(l.Manifest.Notes); len(got) != 1 || got[0] != note {
			t.Errorf("notes %q, want %q", got, note)
		}
	}
	rapid.Check(t, func(r *rapid.T) {
		check(mustLoad(t, option.Options{Sources: rapid.Permutation(files).Draw(r, "files")}))
	})
	l := mustLoad(t, option.Options{Sources: files[:1]})
	if len(l.Manifest.Notes) > 0 || l.Manifest.Dialect != nil {
		t.Errorf("a plain file has %q", l.Manifest.Notes)
	}
	for _, name := range files[1:] {
		l = mustAppend(t, l, name)
		check(l)
	}
	unclear := loadtest.File(t, "c.csv", "a;b\n1,234;2\n")
	l = mustAppend(t, l, unclear)
	if got := loadtest.Values[float64](l, "a"); got[len(got)-1] != 1.234 {
		t.Errorf("a is %v", got)
	}
}

// TestPointsBesideDecimalCommasAreRefused loads numbers such as 1.234 and files with decimal commas, in
// both orders and as appends.
func TestPointsBesideDecimalCommasAreRefused(t *testing.T) {
	comma, points := loadtest.File(t, "a.csv", "t;x\n1;1,5\n"), loadtest.File(t, "b.csv", "t;x\n1;1.234\n2;5.678\n")
	const want, hint = "b.csv: has numbers such as 1.234, which may be 1234: a file beside it has decimal commas", "same decimal sign"
	for _, sources := range [][]string{{comma, points}, {points, comma}} {
		_, _, err := loadInProcess(t, option.Options{Sources: sources})
		loadtest.Refused(t, err, want, hint)
	}
	_, err := tryAppend(t, mustLoad(t, option.Options{Sources: []string{comma}}), points)
	loadtest.Refused(t, err, want, hint)
	mustLoad(t, option.Options{Sources: []string{points}})
	mustLoad(t, option.Options{Sources: []string{comma, loadtest.File(t, "c.csv", "t;x\n1;1.234\n2;5.5\n")}})
	mustLoad(t, option.Options{Sources: []string{comma, loadtest.File(t, "d.csv", "t,x\n1,1.234\n")}})
}

// TestAppendsToOneColumnStayPlain appends to a column whose name has a delimiter.
func TestAppendsToOneColumnStayPlain(t *testing.T) {
	l := mustLoad(t, option.Options{Delimiter: ",", Sources: []string{loadtest.File(t, "a.csv", "k;l\na;b\n")}})
	o := option.Options{Sources: []string{loadtest.File(t, "b.csv", "k;l\nc;d\n")}}
	dir := t.TempDir()
	if _, err := Run(t.Context(), Request{Dir: dir, Options: o, Append: &Append{Dir: l.Dir}},
		&progress.Meter{}); err != nil {
		t.Fatal(err)
	}
	if got := loadtest.Texts(loadtest.OpenDir(t, dir), "k;l"); !slices.Equal(got, []string{"a;b", "c;d"}) {
		t.Errorf("got %q", got)
	}
}

// TestFilesBeforeDecideAboutThousands loads and appends files whose decimal commas may stand between
// thousands: the first file of the load decides.
func TestFilesBeforeDecideAboutThousands(t *testing.T) {
	unclear := loadtest.File(t, "b.csv", "x;y\n1,234;2,345\n")
	l := mustLoad(t, option.Options{
		Sources: []string{loadtest.File(t, "a.csv", "x;y\n0,5;1,25\n"), unclear},
	})
	want := `delimiter: cells are separated by ";" and numbers have "," before their decimals, by the first rows of the text files`
	for range 2 {
		if got := strings.Join(noteTexts(l.Manifest.Notes), "\n"); got != want {
			t.Errorf("notes %q, want %q", got, want)
		}
		if got := loadtest.Values[float64](l, "x"); got[len(got)-1] != 1.234 {
			t.Errorf("x is %v, want 1.234 at last", got)
		}
		l = mustAppend(t, l, loadtest.File(t, "c.csv", "x;y\n1,234;2,345\n"))
	}
}
