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
)

// TestDialectsEqualEncodingCSV writes a table in a random dialect with encoding/csv, and compares
// the loaded values with its cells.
func TestDialectsEqualEncodingCSV(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		comma := rapid.SampledFrom([]rune{',', ';', '\t', '|', ' ', ':'}).Draw(r, "delimiter")
		point := rapid.SampledFrom([]string{".", ","}).Filter(
			func(p string) bool { return p != string(comma) }).Draw(r, "decimal")
		na := rapid.SampledFrom([][]string{nil, {"-"}, {"n/a", "-7"}, {"1e5"}}).Draw(r, "na")
		header := rapid.Bool().Draw(r, "header")
		records := drawTable(r)
		for _, record := range records[1:] {
			for i := range record[1:] {
				if len(na) > 0 && rapid.IntRange(0, 5).Draw(r, "missing") == 0 {
					record[i+1] = na[0]
				} else {
					record[i+1] = strings.Replace(record[i+1], ".", point, 1)
				}
			}
		}
		names := slices.Clone(records[0])
		id := "id"
		if !header {
			records = records[1:]
			for i := range names {
				names[i] = fmt.Sprintf("c%d", i)
			}
			id = "c0"
		}
		var b bytes.Buffer
		w := csv.NewWriter(&b)
		w.Comma = comma
		if err := w.WriteAll(records); err != nil {
			r.Fatal(err)
		}
		o := option.Options{Sources: []string{loadtest.File(t, "x.csv", b.String())},
			ItemID: []string{id}, Delimiter: string(comma), Decimal: point, NA: na,
			NoHeader: !header}
		_, dir, err := loadInBlocks(t, o, rapid.Int64Range(1, 300).Draw(r, "block"))
		if err != nil {
			r.Fatalf("%v\n%s", err, b.String())
		}
		l := loadtest.OpenDir(t, dir)
		defer l.Close()
		if header {
			records = records[1:]
		}
		for c, name := range names {
			got := loadtest.Texts(l, name)
			if len(got) != len(records) {
				r.Fatalf("%d rows, want %d", len(got), len(records))
			}
			for i, record := range records {
				cell := record[c]
				if c > 0 {
					cell = strings.Replace(cell, point, ".", 1)
				}
				if slices.Contains(na, cell) && c > 0 {
					cell = "NaN"
				}
				if !sameCell(l, name, got[i], cell) {
					r.Fatalf("column %q, row %d: %s, want %q", name, i+1, got[i], cell)
				}
			}
		}
	})
}

func TestInvalidDialectsAreRefused(t *testing.T) {
	for _, c := range []struct {
		name, text, want, hint string
		o                      option.Options
	}{
		{"decimal is the delimiter", "a,b\n1,2\n",
			`decimal: ",": want another sign than the delimiter`, "`delimiter",
			option.Options{Decimal: ","}},
		{"both named", "a,b\n1,2\n", `decimal: ",": want another sign than the delimiter`,
			"`delimiter", option.Options{Decimal: ",", Delimiter: ","}},
		{"point with a decimal comma", "a;b\n1,5;2\n1.5;2\n",
			`row 2 (line 3), column "a": "1.5" is not a number`, "`decimal=\".\"`",
			option.Options{Decimal: ",", Delimiter: ";"}},
		{"thousands", "a;b\n1.234,5;2\n", `"1.234,5" is text, not a number`, "",
			option.Options{Decimal: ",", Delimiter: ";"}},
		{"two commas", "a;b\n1;2\n1,2,3;2\n", `"1,2,3" is not a number`, "",
			option.Options{Decimal: ",", Delimiter: ";"}},
		{"another delimiter", "a;b\n1;2\n", `columns: no column is named "a"`, "",
			option.Options{Columns: []string{"a"}, Delimiter: ","}},
		{"ragged without header", "1,2\n3\n", "row 2 (line 2): \"3\" has 1 cell, want 2",
			"`delimiter", option.Options{NoHeader: true}},
		{"line without header", "\n1,2\n\n3,x\n",
			`row 2 (line 4), column "c1": "x" is not a number`, "", option.Options{NoHeader: true}},
		{"header as values", "a,b\n1,2\n", `row 2 (line 2), column "c0": "1" looks like a number`,
			"`na`", option.Options{NoHeader: true}},
		{"unknown c2", "1,2\n", `columns: no column is named "c2"; near: c0, c1`, "",
			option.Options{NoHeader: true, Columns: []string{"c2"}}},
		{"missing item", "i,a\nx,1\n-,1\n",
			`row 2 (line 3), column "i": "-" is missing, but an item needs a name`, "",
			option.Options{NA: []string{"-"}, ItemID: []string{"i"}}},
		{"missing number of an item", "i,a\n5,1\n7,1\n",
			`row 2 (line 3), column "i": "7" is missing, but an item needs a name`, "",
			option.Options{NA: []string{"7"}, ItemID: []string{"i"}}},
		{"missing time", "t,a\n1,1\n-1,1\n",
			`row 2 (line 3), column "t": "-1" is missing, but every row needs a time`, "",
			option.Options{NA: []string{"-1"}, Time: "t"}},
		{"missing boolean", "t,a\n1,true\n2,?\n",
			`row 2 (line 3), column "a": "?" is missing, but only float columns have missing values`, "",
			option.Options{NA: []string{"?"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, block := range []int64{16, 1 << 20} {
				c.o.Sources = []string{loadtest.File(t, "x.csv", c.text)}
				_, _, err := loadInBlocks(t, c.o, block)
				loadtest.Refused(t, err, c.want, c.hint)
			}
		})
	}
	for _, o := range []option.Options{{Delimiter: ";"}, {NoHeader: true}, {Decimal: ","},
		{NA: []string{"x"}}} {
		o.Sources = []string{"testdata/flat-v2-zstd.parquet"}
		_, _, err := loadInProcess(t, o)
		loadtest.Refused(t, err,
			"want it only for CSV and TSV files, not for testdata/flat-v2-zstd.parquet", "")
	}
	for want, o := range map[string]option.Options{
		`delimiter: "ab": want one sign`:                     {Delimiter: "ab"},
		`delimiter: "1": want one sign`:                      {Delimiter: "1"},
		`delimiter: "\n": want one sign`:                     {Delimiter: "\n"},
		`delimiter: "\"": want one sign`:                     {Delimiter: `"`},
		`delimiter: "ö": want one sign`:                      {Delimiter: "ö"},
		`decimal: "x": want . or ,`:                          {Decimal: "x"},
		`na: want words without blanks around them`:          {NA: []string{""}},
		`na: " x": want words without blanks around them`:    {NA: []string{" x"}},
		`na: "x": want each word once`:                       {NA: []string{"x", "x"}},
		`decimal: ",": want another sign than the delimiter`: {Delimiter: ",", Decimal: ","},
	} {
		loadtest.Refused(t, o.Validate(), want, "")
	}
}

func TestEqualDialectsHaveOneRecipe(t *testing.T) {
	for _, pair := range [][2]option.Options{
		{{Delimiter: "\t"}, {Delimiter: "tab"}}, {{Delimiter: "\t"}, {Delimiter: `\t`}},
		{{NA: []string{"a", "b"}}, {NA: []string{"b", "a"}}},
		{{NA: []string{}}, {}},
	} {
		a, _ := pair[0].Recipe()
		b, _ := pair[1].Recipe()
		if string(a) != string(b) {
			t.Errorf("%s and %s", a, b)
		}
	}
	plain, _ := option.Options{}.Recipe()
	for _, o := range []option.Options{{NA: []string{"x"}}, {Decimal: "."}, {Delimiter: ","}} {
		if a, _ := o.Recipe(); string(a) == string(plain) {
			t.Errorf("%+v has the recipe of no options", o)
		}
	}
}
