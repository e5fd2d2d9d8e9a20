package load

import (
	"slices"
	"testing"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/layout"
)

func TestTimesAreParsedWithATimeFormat(t *testing.T) {
	for _, c := range []struct {
		format, cells string
		unit          string
		want          []int64
	}{
		{"%d/%m/%Y", "t,a\n03/04/2020,1\n4/4/2020,2\n", "s", []int64{1585872000, 1585958400}},
		{"%m/%d/%Y", "t,a\n03/04/2020,1\n3/5/2020,2\n", "s", []int64{1583280000, 1583366400}},
		{"%Y%m%d", "t,a\n20200304,1\n20200305,2\n", "s", []int64{1583280000, 1583366400}},
		{"%F %T.%f",
			"t,a\n2020-03-04 00:00:00,1\n2020-03-04 00:00:00.25,2\n2020-03-04 00:00:01.000001,3\n",
			"us", []int64{1583280000000000, 1583280000250000, 1583280001000001}},
		{"", "t,a\n2020-03,1\n2020-04,2\n2020-05-02,3\n", "s",
			[]int64{1583020800, 1585699200, 1588377600}},
		{"", "t,a\n2020/3/1 0:00,1\n2020/4/1,2\n2020.05.02 00:00:00.5,3\n", "ms",
			[]int64{1583020800000, 1585699200000, 1588377600500}},
		{"%b-%y", "t,a\nMar-20,1\nApr-20,2\n", "s", []int64{1583020800, 1585699200}},
		{"%b  %d %Y", "t,a\nMar  1 2020,1\nApr 1 2020,2\n", "s", []int64{1583020800, 1585699200}},
		{"%m/%d/%Y", "t,a\n03/ 1/2020,1\n04/01/2020,2\n", "s", []int64{1583020800, 1585699200}},
		{"%m.%Y", "t,a\n3.2020,1\n04.2020,2\n", "s", []int64{1583020800, 1585699200}},
		{"%Y%m", "t,a\n202003,1\n202004,2\n", "s", []int64{1583020800, 1585699200}},
		{"%Y", "t,a\n2020,1\n2021,2\n", "s", []int64{1577836800, 1609459200}},
		{"%s", "t,a\n-1,1\n 5 ,2\n", "s", []int64{-1, 5}},
		{"%FT%T%z", "t,a\n2020-03-04T01:00:00+0100,1\n2020-03-04T00:00:01Z,2\n", "s",
			[]int64{1583280000, 1583280001}},
	} {
		l := mustLoad(t, option.Options{Sources: []string{loadtest.File(t, "x.csv", c.cells)},
			Time: "t", TimeFormat: c.format})
		if got := loadtest.Values[int64](l, "t"); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v", c.format, got)
		}
		if col, _ := l.Manifest.Column("t"); col.Unit != c.unit || col.DType != layout.Timestamp {
			t.Errorf("%s: %s, %s", c.format, col.Unit, col.DType)
		}
	}
}

func TestInvalidTimesAreRefused(t *testing.T) {
	for _, c := range []struct{ cells, format, want, hint string }{
		{"t,a\n03/04/2020,1\n", "",
			`x.csv, row 1 (line 2), column "t": "03/04/2020" is not a time in an unambiguous format`, "say which number is the day: `time_format=\"%d/%m/%Y\"` or `time_format=\"%m/%d/%Y\"`"},
		{"t,a\n13.04.20 10:00:00.5,1\n", "", `"13.04.20 10:00:00.5" is not a time`,
			"say which number is the day: `time_format=\"%d.%m.%y %H:%M:%S.%f\"` or `time_format=\"%y.%m.%d %H:%M:%S.%f\"`"},
		{"t,a\n7/13/2016T1:30 PM,1\n", "", `"7/13/2016T1:30 PM" is not a time`,
			"say how times are written: `time_format=\"%m/%d/%YT%I:%M %p\"`"},
		{"t,a\n2016/07,1\n", "", `"2016/07" is not a time`,
			"say how times are written: `time_format=\"%Y/%m\"`"},
		{"t,a\nJan-49,1\n", "", `"Jan-49" is not a time`,
			"say how times are written: `time_format=\"%b-%y\"`"},
		{"t,a\n7 May 2016 1:30 pm,1\n", "", `"7 May 2016 1:30 pm" is not a time`,
			"say how times are written: `time_format=\"%d %b %Y %I:%M %p\"`"},
		{"t,a\n2016/7/1T10:00:00 PM,1\n", "", `"2016/7/1T10:00:00 PM" is not a time`,
			"say how times are written: `time_format=\"%Y/%m/%dT%I:%M:%S %p\"`"},
		{"t,a\n31/02/2020,1\n", "", `"31/02/2020" is not a time`,
			"write times like"},
		{"t,a\nyesterday,1\n", "", `"yesterday" is not a time`, "`time_format`"},
		{"t,a\n1,1\n03/04/2020,1\n", "", `"03/04/2020" is neither an integer nor a time`,
			"`time_format`"},
		{"t,a\n30/02/2020,1\n", "%d/%m/%Y",
			`x.csv, row 1 (line 2), column "t": "30/02/2020" is not a time in the given format`, ""},
		{"t,a\n03/04/2020,1\n2020-04-04,1\n", "%d/%m/%Y",
			`x.csv, row 2 (line 3), column "t": "2020-04-04" is not a time in the given format`, ""},
		{"t,a\n2020-01-01 00:00:00.5,1\n", "%F %T", "is not a time in the given format", ""},
		{"t,a\n2020-01-01 00:00:00.1234567890,1\n", "%F %T.%f", "is not a time in the given format", ""},
		{"t,a\n1.5,1\n", "%s", "is not a time in the given format", ""},
		{"t,a\n1,1\n", "%H", `time_format: "%H": want a format that has the year`, ""},
		{"t,a\n31.10.2021 02:00 - 31.10.2021 03:00,1\n", "%d.%m.%Y %H:%M - %d.%m.%Y %H:%M",
			`time_format: "%d.%m.%Y %H:%M - %d.%m.%Y %H:%M": want a format that names the day once`, ""},
		{"t,a\n1,1\n", "%d/%m/%Y %Z", `want a format without names of zones`, ""},
	} {
		_, _, err := loadInProcess(t,
			option.Options{Sources: []string{loadtest.File(t, "x.csv", c.cells)}, Time: "t",
				TimeFormat: c.format})
		loadtest.Refused(t, err, c.want, c.hint)
	}
	// Without time=, the form of one row is not that of all rows.
	_, _, err := loadInProcess(t, option.Options{
		Sources: []string{loadtest.File(t, "x.csv", "t,a\n2016-01-01,1\n2016/1/2,2\n")}})
	loadtest.Refused(t, err, `row 2 (line 3), column "t": "2016/1/2" is not a time`,
		"if these are the times of the rows, load with `time=\"t\"`")
	// A load has one time column: the hint for another one names `dtype` and `columns`.
	for _, c := range []struct {
		cells string
		o     option.Options
		hint  string
	}{
		{"t,a\n1,2016/1/2\n", option.Options{Time: "t"}, `dtype={"a":"text"}`},
		{"t,a\n1,8/1/2016\n", option.Options{Time: "t"}, `dtype={"a":"text"}`},
		{"t,a\n1,2016-01-01\n2,2016/1/2\n", option.Options{Time: "t"}, `dtype={"a":"text"}`},
		{"y,m,a\n2016,1,2016/1/2\n", option.Options{TimeParts: []string{"y", "m"}}, `dtype={"a":"text"}`},
		{"t,a,b\n1,2016/1/2,2016/1/2\n", option.Options{Time: "t", Melt: option.MeltColumns}, `dtype={"value":"text"}`},
	} {
		c.o.Sources = []string{loadtest.File(t, "x.csv", c.cells)}
		_, _, err = loadInProcess(t, c.o)
		loadtest.Refused(t, err, `"a": "`,
			"correct the cell, load all cells as text with `"+c.hint+"`, or leave the column out with `columns`")
	}
	old := mustLoad(t, option.Options{Time: "t", Sources: []string{loadtest.File(t, "x.csv", "t,a\n1,2\n")}})
	_, err = tryAppend(t, old, loadtest.File(t, "y.csv", "t,a\n2,2016/1/2\n"))
	loadtest.Refused(t, err, `"2016/1/2" is`, "load all rows again: correct the cell, load all cells as text")
	_, _, err = loadInProcess(t, option.Options{TimeFormat: "%F",
		Sources: []string{loadtest.File(t, "x.csv", "a\n1\n")}})
	loadtest.Refused(t, err, `time_format: "%F": want it only together with time`, "")
	_, _, err = loadInProcess(t, option.Options{Sources: []string{"testdata/flat-none.parquet"},
		Time: "t", TimeFormat: "%F"})
	loadtest.Refused(t, err, "time_format: want it only for CSV and TSV files", "")
}
