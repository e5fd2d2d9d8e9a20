package load

import (
	"strings"
	"testing"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
)

func TestBadJSONLinesAreRefused(t *testing.T) {
	for _, c := range []struct {
		name, text, want, hint string
		o                      option.Options
	}{
		{"array", `{"a":1}` + "\n" + `{"a":[1, 2]}`,
			`x.jsonl, row 2 (line 2), column "a": "[1, 2]" is an array, want a number`,
			"`columns`", option.Options{}},
		{"object", `{"a":{"b":1}}`,
			`x.jsonl, row 1 (line 1), column "a": "{\"b\":1}" is an object`, "`columns`",
			option.Options{}},
		{"NaN", `{"a":1}` + "\n\n" + `{"a":NaN}`,
			`x.jsonl, row 2 (line 3), column "a": "NaN" is not a value of JSON`, "null",
			option.Options{}},
		{"Infinity", `{"a":Infinity}`, `column "a": "Infinity" is not a value of JSON`, "null",
			option.Options{}},
		{"-Infinity", `{"a":-Infinity}`, `column "a": "-Infinity" is not a number of JSON`, "null",
			option.Options{}},
		{"no digit before the point", `{"a":1.5}` + "\n" + `{"a":.5}`,
			`row 2 (line 2), column "a": ".5" is not a value of JSON`, "such as -0.5",
			option.Options{}},
		{"plus sign", `{"a":+5}`, `column "a": "+5" is not a value of JSON`, "numbers",
			option.Options{}},
		{"word of Python", `{"a":None}`, `column "a": "None" is not a value of JSON`,
			"null for a missing", option.Options{}},
		{"boolean of Python", `{"a":True}`, `column "a": "True" is not a value of JSON`,
			"booleans are true and false", option.Options{}},
		{"single quotes", `{"a":'x'}`, `column "a": "'" is not a value of JSON`,
			"text is in double quotes", option.Options{}},
		{"no value", `{"a":,"b":1}`, `column "a": "," stands where a value is expected`, "",
			option.Options{}},
		{"leading zero", `{"a":1}` + "\n" + `{"a":01}`, `"01" is not a number of JSON`, "numbers",
			option.Options{}},
		{"no digit after the point", `{"a":1.0}` + "\n" + `{"a":1.}`,
			`"1." is not a number of JSON`, "numbers", option.Options{}},
		{"two keys", `{"a":1,"b":2,"a":3}`,
			`row 1 (line 1), column "a": the value is of a key that the row has twice`, "once",
			option.Options{}},
		{"two keys, one in escapes", `{"a":1}` + "\n" + `{"a":1,"\u0061":2}`,
			`row 2 (line 2), column "a": the value is of a key that the row has twice`, "once",
			option.Options{}},
		{"not UTF-8", `{"a":"x` + "\xff" + `"}`, `column "a": "\xff" is not UTF-8`, "UTF-8",
			option.Options{}},
		{"key not UTF-8", `{"a` + "\xff" + `":1}`, `row 1 (line 1): "\xff" is not UTF-8`, "UTF-8",
			option.Options{}},
		{"half a pair", `{"a":"\ud83d"}`, `column "a": the value has half of a surrogate pair`,
			"both halves", option.Options{}},
		{"control character", `{"a":"x` + "\x01" + `"}`, `"\x01" is a control character`, "escape",
			option.Options{}},
		{"escape", `{"a":"\x"}`, `"\\x" is not an escape of JSON`, `\\`, option.Options{}},
		{"cut off in the row", `{"a":1}` + "\n" + `{"a":2,"b"`,
			`x.jsonl, row 2 (line 2): the row ends where a colon is expected: the file is cut off`,
			"damaged", option.Options{}},
		{"cut off in a text", `{"a":"1"}` + "\n" + `{"a":"2`,
			`column "a": "\"2" is a string that is not closed: the file is cut off`, "damaged",
			option.Options{}},
		{"cut off in a word", `{"a":true}` + "\n" + `{"a":fal`, `: the file is cut off`, "damaged",
			option.Options{}},
		{"cut off after a number", `{"a":1}` + "\n" + `{"a":2`,
			`the row ends where a comma or a closing brace is expected: the file is cut off`,
			"damaged", option.Options{}},
		{"several lines", "{\n\"a\": 1\n}\n",
			`row 1 (line 1): the row ends where a key in quotes is expected`, "line of its own",
			option.Options{}},
		{"an array of rows", `[{"a":1}]`, `"[" stands where an object is expected`,
			"line of its own", option.Options{}},
		{"two objects", `{"a":1}{"a":2}`, `"{" stands after the object of the row`,
			"line of its own", option.Options{}},
		{"trailing comma", `{"a":1,}`, `"}" stands where a key in quotes is expected`, "",
			option.Options{}},
		{"comment", `{"a":1} // one`, `"/" stands after the object`, "", option.Options{}},
		{"carriage returns", `{"a":1}` + "\r" + `{"a":2}`, "stands after the object", "",
			option.Options{}},
		{"text in numbers", `{"a":1}` + "\n" + `{"a":"x"}`,
			`row 2 (line 2), column "a": "x" is text, but the values above it are numbers`,
			"`dtype={\"a\":\"text\"}`", option.Options{}},
		{"true in integers", `{"a":1}` + "\n" + `{"a":true}`,
			`"true" is a boolean, but the values above it are numbers`, "0 and 1",
			option.Options{}},
		{"number in text", `{"a":"x"}` + "\n" + `{"a":1}`,
			`"1" is a number, but the values above it are text`, "`dtype={\"a\":\"text\"}`",
			option.Options{}},
		{"number in booleans", `{"a":true}` + "\n" + `{"a":1}`,
			`"1" is a number, but the values above it are booleans`, "0 and 1", option.Options{}},
		{"missing boolean", `{"a":true}` + "\n" + `{"b":1}`,
			`row 2 (line 2), column "a": the value is missing, but only float columns`, "`fill={\"a\":0}`",
			option.Options{}},
		{"too large", `{"a":1e999}`, `"1e999" is beyond the range of float64`, "`dtype={\"a\":\"text\"}`",
			option.Options{}},
		{"too large for float32", `{"a":0.5}` + "\n" + `{"a":1e99}`,
			`"1e99" does not fit float32`, "wider",
			option.Options{DType: option.Floats("float32")}},
		{"missing time", `{"a":1,"t":1}` + "\n" + `{"a":1}`,
			`row 2 (line 2), column "t": the value is missing, but every row needs a time`,
			"leave the rows out", option.Options{Time: "t"}},
		{"missing item", `{"a":1,"t":null}`,
			`column "t": the value is missing, but an item needs a name`, "leave the rows out",
			option.Options{ItemID: []string{"t"}}},
		{"empty item", `{"a":1,"t":""}`, `the value is an empty text, but an item needs a name`,
			"leave the rows out", option.Options{ItemID: []string{"t"}}},
		{"item of a decimal", `{"t":1.5}`, `"1.5" is not an item: want an integer`,
			"`dtype={\"t\":\"text\"}`",
			option.Options{ItemID: []string{"t"}}},
		{"items of two types", `{"t":1}` + "\n" + `{"t":"x"}`,
			`"x" is text, but the values above it are numbers`, "`dtype={\"t\":\"text\"}`",
			option.Options{ItemID: []string{"t"}}},
		{"time of two types", `{"t":1}` + "\n" + `{"t":"2020-01-01"}`,
			`"2020-01-01" is text, but the values above it are numbers`, "all as integers",
			option.Options{Time: "t"}},
		{"time as a decimal", `{"t":1.5}`, `"1.5" is not a time`, "2016-07-01T",
			option.Options{Time: "t"}},
		{"ambiguous time", `{"t":"03/04/2020"}`, `"03/04/2020" is not a time in an unambiguous`,
			"2016-07-01T", option.Options{Time: "t"}},
		{"zones", `{"t":"2020-01-01T00:00:00Z"}` + "\n" + `{"t":"2020-01-02T00:00:00"}`,
			"some have a time zone and some do not", "every time or in none",
			option.Options{Time: "t"}},
		{"no keys", "{}\n{}\n", "x.jsonl: its first 1000 objects have no keys", "",
			option.Options{}},
		{"empty", "", "x.jsonl: the file is empty", "", option.Options{}},
		{"blank", " \n\r\n\t", "x.jsonl: holds nothing but empty lines", "", option.Options{}},
		{"UTF-16", "\xff\xfe{\x00\"\x00", "x.jsonl: is UTF-16 text", "UTF-8", option.Options{}},
		{"binary", "\x01\x00\x02", "x.jsonl: is a binary file, want CSV, TSV", "",
			option.Options{}},
		{"unknown column", `{"alpha":1}`, `columns: no column is named "alfa"; near: alpha`, "",
			option.Options{Columns: []string{"alfa"}}},
		{"delimiter", `{"a":1}`, "delimiter: want it only for CSV and TSV files, not for ", "",
			option.Options{Delimiter: ";"}},
		{"time format", `{"a":1}`, "time_format: want it only for CSV and TSV files", "",
			option.Options{Time: "a", TimeFormat: "%Y-%m-%d"}},
		{"nested in a wanted key", `{"a":1,"b":[1]}`, `column "b": "[1]" is an array`, "",
			option.Options{Columns: []string{"b"}}},
		{"not well-formed in an ignored key", `{"a":1,"b":[1,]}`, `"]" stands where a value`, "",
			option.Options{Columns: []string{"a"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, block := range []int64{3, 1 << 20} {
				c.o.Sources = []string{loadtest.File(t, "x.jsonl", c.text)}
				_, _, err := loadInBlocks(t, c.o, block)
				loadtest.Refused(t, err, c.want, c.hint)
			}
		})
	}
}

// TestFilesThatAreCutOffAreRefused cuts a file at each byte of its last row.
func TestFilesThatAreCutOffAreRefused(t *testing.T) {
	const first = `{"s":"x"}` + "\n"
	const last = ` {"s" : "ä😀\u00e4\ud83d\ude00\n", "n":-1.5e-3, "b":false, "x":[{"y":null}, {}]}`
	o := option.Options{Columns: []string{"s"}}
	for n := 2; n < len(last); n++ {
		o.Sources = []string{loadtest.File(t, "x.jsonl", first+last[:n])}
		_, _, err := loadInProcess(t, o)
		loadtest.Refused(t, err, "x.jsonl, row 2 (line 2)", "")
		loadtest.Refused(t, err, ": the file is cut off", "damaged")
	}
	o.Sources = []string{loadtest.File(t, "x.jsonl", first+last)}
	if _, _, err := loadInProcess(t, o); err != nil {
		t.Error(err)
	}
}

// TestFaultsAfterTheFirstRowsAreRefused repeats faults after the rows from which columns and types
// are inferred.
func TestFaultsAfterTheFirstRowsAreRefused(t *testing.T) {
	before := strings.Repeat(`{"a":1,"s":"x","b":true}`+"\n", 1200) + "\n"
	for _, c := range []struct{ row, want, hint string }{
		{`{"a":1,"s":"x","b":true,"z":1}`,
			`column "z": the value is of a key that the first 1000 rows do not have`, "`columns`"},
		{`{"a":[],"s":"x","b":true}`, `column "a": "[]" is an array`, "`columns`"},
		{`{"a":"x","s":"x","b":true}`, `column "a": "x" is text, but`, "`dtype={\"a\":\"text\"}`"},
		{`{"a":1,"s":2,"b":true}`, `column "s": "2" is a number, but`, "`dtype={\"s\":\"text\"}`"},
		{`{"a":1,"s":"x","b":0}`, `column "b": "0" is a number, but`, "0 and 1"},
		{`{"a":1,"s":"x"}`, `column "b": the value is missing`, "`fill={\"b\":0}`"},
		{`{"a":1,"s":"x","b":true,"a":2}`, `column "a": the value is of a key that the row has`,
			"once"},
		{`{"a":1,"s":"\udc00","b":true}`, `column "s": the value has half of a surrogate pair`, ""},
		{`{"a":1,"s":"` + "\xc3" + `","b":true}`, `column "s": "\xc3" is not UTF-8`, "UTF-8"},
		{`{"a":NaN,"s":"x","b":true}`, `column "a": "NaN" is not a value of JSON`, "null"},
		{`{"a":1,"s":"x","b":true}}`, `"}" stands after the object of the row`, ""},
		{`{"a":1,"s":"x","b":tru`, `the file is cut off`, "damaged"},
		{`{"a":1 "s":"x"}`, `"\"" stands where a comma or a closing brace is expected`, ""},
	} {
		for _, block := range []int64{64, 1 << 20} {
			o := option.Options{Sources: []string{loadtest.File(t, "x.jsonl", before+c.row)}}
			_, _, err := loadInBlocks(t, o, block)
			loadtest.Refused(t, err, "x.jsonl, row 1201 (line 1202)", "")
			loadtest.Refused(t, err, c.want, c.hint)
		}
	}
}

// TestTypesOfLateValuesAreCheckedAgainstOptions loads columns whose first value comes after the
// rows from which types are inferred.
func TestTypesOfLateValuesAreCheckedAgainstOptions(t *testing.T) {
	lines := loadtest.File(t, "x.jsonl", strings.Repeat(`{"b":1}`+"\n", 1500)+`{"a":"x"}`)
	cells := loadtest.File(t, "x.csv", "a,b\n"+strings.Repeat(",1\n", 1<<18)+"x,1\n")
	for _, path := range []string{lines, cells} {
		for want, o := range map[string]option.Options{
			`column "a": is text, which is stored as nothing else`: {
				DType: option.DTypes{By: map[string]string{"a": "float32"}}},
			`clip: "a": want value columns of numbers, not text`: {
				Clip: option.ByColumn(map[string]option.Clip{"a": {High: 1, HasHigh: true}})},
		} {
			o.Columns, o.Sources = []string{"a"}, []string{path}
			_, _, err := loadInProcess(t, o)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, want %s", path, err, want)
			}
		}
	}
}
