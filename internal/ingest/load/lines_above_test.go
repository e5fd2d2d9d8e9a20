package load

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
)

// TestLinesThatAreNoRowsAreSkipped writes lines above the header, the line for Excel, and comments
// between rows, around a table whose cells have line ends and the sign of comments in quotes. The
// values are those of the table alone.
func TestLinesThatAreNoRowsAreSkipped(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		records := [][]string{{"name", "x", "y"}}
		word := rapid.SampledFrom([]string{"a", "#b", "c\n#d", `e "#f"`, "g;h", "sep=;"})
		for i := range rapid.IntRange(1, 60).Draw(r, "rows") {
			records = append(records, []string{word.Draw(r, "word"), fmt.Sprint(i),
				fmt.Sprintf("%d.5", i%7)})
		}
		o := option.Options{}
		delimiter := ","
		var above, end string
		if end = "\n"; rapid.Bool().Draw(r, "crlf") {
			end = "\r\n"
		}
		if rapid.Bool().Draw(r, "bom") {
			above = "\ufeff"
		}
		if rapid.Bool().Draw(r, "sep") {
			delimiter = ";"
			above += rapid.SampledFrom([]string{"sep=;", `"sep=;"`, "SEP=;"}).Draw(r, "line") + end
			o.Skip = int64(rapid.IntRange(0, 1).Draw(r, "counted"))
		}
		if lines := rapid.IntRange(0, 4).Draw(r, "above"); lines > 0 {
			o.Skip = int64(strings.Count(above, "\n") + lines)
			for range lines {
				above += rapid.SampledFrom([]string{"", "a title, with commas", `"an open quote`,
					"# x", "name;x;y"}).Draw(r, "title") + end
			}
		}
		comments := rapid.Bool().Draw(r, "comments")
		if comments {
			o.Comment = "#"
		}
		comment := func() string {
			if !comments || rapid.IntRange(0, 2).Draw(r, "comment") > 0 {
				return ""
			}
			return rapid.SampledFrom([]string{"#", "# a,b", `# an "open quote`, "##"}).Draw(r, "text") + end
		}
		var with, without bytes.Buffer
		with.WriteString(above + comment())
		for _, record := range records {
			var line bytes.Buffer
			w := csv.NewWriter(&line)
			w.Comma, w.UseCRLF = rune(delimiter[0]), end == "\r\n"
			quoted := record[0] // encoding/csv leaves the sign of comments without quotes
			if strings.HasPrefix(quoted, "#") {
				record = append([]string{"HASH" + quoted}, record[1:]...)
			}
			if err := w.Write(record); err != nil {
				r.Fatal(err)
			}
			w.Flush()
			text := line.String()
			if at := strings.Index(text, "HASH"); at == 0 {
				cell, rest, _ := strings.Cut(strings.TrimPrefix(text, "HASH"), delimiter)
				text = `"` + cell + `"` + delimiter + rest
			}
			with.WriteString(text + comment())
			without.WriteString(text)
		}
		o.Sources = []string{loadtest.File(t, "with.csv", with.String())}
		_, dir, err := loadInBlocks(t, o, rapid.Int64Range(1, 300).Draw(r, "block"))
		if err != nil {
			r.Fatalf("%v\n%q", err, with.String())
		}
		got := loadtest.OpenDir(t, dir)
		want := mustLoad(t, option.Options{Delimiter: delimiter,
			Sources: []string{loadtest.File(t, "without.csv", without.String())}})
		if !cellTextsOf(got).same(cellTextsOf(want)) {
			r.Fatalf("the values differ:\n%q\n%q", with.String(), without.String())
		}
	})
}

// TestLinesThatAreNoRowsHaveHints follows the hint of each file.
func TestLinesThatAreNoRowsHaveHints(t *testing.T) {
	const fewer = ": has 3 cells, and the lines above it have fewer"
	const header, rows = "t,x,y\n", "1,2,3\n4,5,6\n"
	for name, c := range map[string]struct {
		text      string
		o         option.Options
		want      string
		hint, end string // the call, and the rest of the hint
		names     string // if not t,x,y
	}{
		"a title": {text: "Report\nfrom 2020\n\n" + header + rows, want: "line 4" + fewer,
			hint: "`skip=3`"},
		"above names that are days": {text: "Report\nid,2016/1/13,2016-01-14\na,1,2\nb,3,4\n",
			want: "line 2" + fewer, hint: "`skip=1`", names: "id,2016/1/13,2016-01-14"},
		"with another delimiter": {text: "Report, by A\nfrom\nt;x;y\n1;2;3\n4;5;6\n",
			want: "line 3" + fewer, hint: "`skip=2`", end: "; otherwise load with `delimiter=\",\"`"},
		"of several cells": {text: "station,Bonn\nunit,mm\n" + header + rows, want: "line 3" + fewer,
			hint: "`skip=2`"},
		"comments": {text: "# Report\n# from 2020, with a comma\n" + header + rows,
			want: "line 3" + fewer, hint: "`comment=\"#\"`"},
		"comments and a title": {text: "# a\nReport\n" + header + rows, want: "line 3" + fewer,
			hint: "`skip=2`"},
		"a title and comments between rows": {text: "Report\n" + header + "1,2,3\n# gap\n4,5,6\n#\n7,8,9\n",
			want: "line 2" + fewer, hint: "`skip=1` and, if lines with # are comments, `comment=\"#\"`"},
		"a title and a comment at the end": {text: "Report\n" + header + rows + "# end\n",
			want: "line 2" + fewer, hint: "`skip=1` and, if lines with # are comments, `comment=\"#\"`"},
		"a comment above and a title": {text: "Report\n# a\n" + header + rows,
			want: "line 3" + fewer, hint: "`skip=2`"},
		"as many cells": {text: "Report,by,A\nunit,m,s\n" + header + rows, o: option.Options{Time: "t"},
			want: "time: no column is named \"t\"", hint: "`skip=2`"},
		"empty cells": {text: "Report,,\n,,\n" + header + rows, o: option.Options{Time: "t"},
			want: "time: no column is named \"t\"", hint: "`skip=2`"},
		"too many skipped": {text: "Report\n" + header + rows, o: option.Options{Skip: 2},
			want: "line 3: \"1\" is a number", hint: "`skip=1`",
			end: "; otherwise load with `no_header=true`"},
	} {
		t.Run(name, func(t *testing.T) {
			o := c.o
			o.Sources = []string{loadtest.File(t, "x.csv", c.text)}
			_, _, err := loadInProcess(t, o)
			loadtest.Refused(t, err, c.want, "load with "+c.hint+c.end)
			if strings.Contains(c.hint, "comment") {
				o.Comment = "#"
			}
			if _, err := fmt.Sscanf(c.hint, "`skip=%d`", &o.Skip); err != nil && o.Comment == "" {
				t.Fatal(err)
			}
			l := mustLoad(t, o)
			if got := strings.Join(columnNames(l), ","); got != cmp.Or(c.names, "t,x,y") {
				t.Error(got)
			}
		})
	}
}

// TestFilesOfOneColumnMayHaveOtherDelimiters loads texts with the sign of a delimiter. A file that
// looks like one of several columns loads if an option gives the delimiter.
func TestFilesOfOneColumnMayHaveOtherDelimiters(t *testing.T) {
	for _, text := range []string{"text\na;b\nc;d\n", "genre\nDrama|Comedy\nAction|War\n",
		"a\nb|c\nd\n", "msg\nfoo | bar\n!wow\n5 | x\n"} {
		l := mustLoad(t, option.Options{Sources: []string{loadtest.File(t, "x.csv", text)}})
		if names := columnNames(l); len(names) != 1 {
			t.Errorf("%q: %q", text, names)
		}
	}
	o := option.Options{Sources: []string{loadtest.File(t, "x.csv", "text\na;b\nc;1\n")}}
	_, _, err := loadInProcess(t, o)
	loadtest.Refused(t, err, "has 2 cells", "otherwise load with `delimiter=\",\"`")
	o.Delimiter = ","
	mustLoad(t, o)
}

func TestFilesWithoutAHeaderBelowHaveNoHintOfOne(t *testing.T) {
	for text, want := range map[string]string{
		"a,b\n1,2,3\n4,5,6\n":                   `row 1 (line 2): "1,2,3" has 3 cells, want 2`,
		"a,b\n\"1\",x,y\n\"2\",z,y\n":           `row 1 (line 2): "\"1\",x,y" has 3 cells, want 2`,
		"a,b\n1,2\n1,5,e\n3,4,5\n":              `row 2 (line 3): "1,5,e" has 3 cells, want 2`,
		"name,kind\na,b,c\nc,d,e\n":             `row 1 (line 2): "a,b,c" has 3 cells, want 2`,
		"a\nid,x,y\n#1,2\n2,5,6\n#3,4\n4,5,6\n": `row 1 (line 2): "id,x,y" has 3 cells, want 1`,
		"a,b\n1,2\n3,4,5\n5,6\n":                `row 2 (line 3): "3,4,5" has 3 cells, want 2`,
		"a\nb\nb,c\n":                           `row 2 (line 3): "b,c" has 2 cells, want 1`,
		"a,b\n1,2\n1,2,\"3\n":                   `row 2 (line 3): "1,2,\"3" has a quoted cell that is not closed`,
	} {
		_, _, err := loadInProcess(t, option.Options{
			Sources: []string{loadtest.File(t, "x.csv", text)}})
		loadtest.Refused(t, err, want, "")
	}
}

func TestSkippedLinesAreInTheNumbersOfLines(t *testing.T) {
	for _, c := range []struct {
		text, want string
		o          option.Options
	}{
		{"title\n\na,b\n# c\n1,2\n#\nx,3\n", `row 2 (line 7), column "a": "x" is not a number`,
			option.Options{Skip: 2, Comment: "#"}},
		{"sep=;\na;b\n1;2\nx;3\n", `row 2 (line 4), column "a": "x" is not a number`, option.Options{}},
		{"a,b\n1,2\n", "has no line after the 3 lines that `skip` leaves out", option.Options{Skip: 3}},
		{"a,b\n1,2", "has no line after the 2 lines that `skip` leaves out", option.Options{Skip: 2}},
		{"a,b\n1,2\n", "has no line besides empty ones and those that are skipped", option.Options{Skip: 2}},
		{"# a\n#b\n", "has no line besides empty ones and those that are skipped", option.Options{Comment: "#"}},
		{"sep=;\n", "has no line besides empty ones and those that are skipped", option.Options{}},
		{"#a,b\n2020-01-01,1\n", `line 2: "1" is a number`, option.Options{Comment: "#"}},
		{"a;b\n;1\n2;3\n", `comment: ";": want one of the signs`, option.Options{Comment: ";"}},
		{"sep=|\na|b\n", `comment: "|": want one of the signs`, option.Options{Comment: "|"}},
		{"a,b\n1,2\n", `thousands: ".": want another sign if commas`, option.Options{Thousands: "."}},
		{"a,b\n#1,2\n", "has a header but no rows", option.Options{Comment: "#"}},
		{"a\n1\n", `skip: got -1, want the number of lines above the header, 0 or more`, option.Options{Skip: -1}},
		{"a\n1\n", `comment: "//": want one of the signs`, option.Options{Comment: "//"}},
		{"a\n1\n", `comment: "a": want one of the signs`, option.Options{Comment: "a"}},
		{"a\n1\n", `comment: ";": want one of the signs`, option.Options{Comment: ";", Delimiter: ";"}},
		{"a\n1\n", `thousands: "x": want one of the signs`, option.Options{Thousands: "x"}},
		{"a\n1\n", `thousands: ",": want another sign than the decimal`,
			option.Options{Thousands: ",", Decimal: ","}},
	} {
		c.o.Sources = []string{loadtest.File(t, "x.csv", c.text)}
		_, _, err := loadInBlocks(t, c.o, 16)
		loadtest.Refused(t, err, c.want, "")
	}
}

// TestGroupedNumbersAreThoseWithoutSigns writes numbers with a sign between their thousands, among
// others without, and compares them with the numbers.
func TestGroupedNumbersAreThoseWithoutSigns(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		sign := rapid.SampledFrom([]string{",", ".", "'", "’", "_", " ", "\u00a0", "\u202f"}).Draw(r, "sign")
		decimal := rapid.SampledFrom([]string{".", ","}).Filter(func(d string) bool {
			return d != sign
		}).Draw(r, "decimal")
		with, without := "i;x;y\n", "i;x;y\n"
		for i := range rapid.IntRange(1, 40).Draw(r, "rows") {
			x := rapid.Int64().Draw(r, "x")
			y := fmt.Sprintf("%d.%02d", rapid.Int64Range(-1e12, 1e12).Draw(r, "y"),
				rapid.IntRange(0, 99).Draw(r, "hundredths"))
			without += fmt.Sprintf("%d;%d;%s\n", i, x, y)
			whole, fraction, _ := strings.Cut(y, ".")
			with += fmt.Sprintf("%d;%s;\"%s%s%s\"\n", i, grouped(r, fmt.Sprint(x), sign),
				grouped(r, whole, sign), decimal, fraction)
		}
		o := option.Options{Sources: []string{loadtest.File(t, "with.csv", with)},
			Delimiter: ";", Decimal: decimal, Thousands: sign}
		if sign == "\u00a0" || sign == "\u202f" {
			o.Thousands = " "
		}
		if (sign == "," || sign == ".") && rapid.Bool().Draw(r, "implied") {
			o.Decimal = ""
		}
		want := mustLoad(t, option.Options{Delimiter: ";",
			Sources: []string{loadtest.File(t, "without.csv", without)}})
		if got := mustLoad(t, o); !cellTextsOf(got).same(cellTextsOf(want)) {
			r.Fatalf("the values differ:\n%q\n%q", with, without)
		}
	})
}

// grouped returns the digits of an integer in groups of three, sometimes without signs.
func grouped(r *rapid.T, digits, sign string) string {
	if rapid.IntRange(0, 3).Draw(r, "plain") == 0 {
		return digits
	}
	minus := ""
	if strings.HasPrefix(digits, "-") {
		minus, digits = "-", digits[1:]
	}
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + sign + digits[at:]
	}
	return minus + digits
}

func TestSignsBetweenOtherGroupsAreRefused(t *testing.T) {
	for _, cell := range []string{"12,34", "1,2345", "1234,567", ",123", "1,,234", "12,34,567", "1,234,",
		"1.5,000", "1,234e5,000", "+,123", "0,123", "000,123", "-0,123", "0,123,456"} {
		_, _, err := loadInProcess(t, option.Options{Delimiter: ";", Thousands: ",",
			Sources: []string{loadtest.File(t, "x.csv", "a;b\n1;2\n"+cell+";3\n")}})
		loadtest.Refused(t, err, fmt.Sprintf("%q is not a number", cell), "")
	}
}

// TestTimesAndIndexesMayBeGrouped loads integers with signs between thousands as times, wherever they
// begin, and leaves out such an index.
func TestTimesAndIndexesMayBeGrouped(t *testing.T) {
	for first := range int64(1100) {
		if first%100 != 0 && first < 995 {
			continue
		}
		text := ";t;v\n"
		for i := range int64(1200) {
			n := strings.TrimPrefix(fmt.Sprintf("%d,%03d", (first+i)/1000, (first+i)%1000), "0,")
			n = strings.TrimLeft(n, "0")
			text += fmt.Sprintf("%s;%s;1\n", n, n)
		}
		l := mustLoad(t, option.Options{Time: "t", Thousands: ",",
			Sources: []string{loadtest.File(t, "x.csv", strings.Replace(text, ";;", "0;0;", 1))}})
		if got := columnNames(l); !slices.Equal(got, []string{"t", "v"}) {
			t.Fatalf("from %d: %q", first, got)
		}
	}
}
