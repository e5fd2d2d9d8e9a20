package load

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/layout"
)

// tsfHead are the lines above the data of a file whose series have a name and a start.
func tsfHead(frequency string) string {
	return "# of a test\n@relation test\n@attribute series_name string\n@attribute start_timestamp date\n" +
		"@frequency " + frequency + "\n@horizon 2\n@missing true\n@equallength false\n@data\n"
}

// loadTSF loads files of these texts, in blocks of the given number of bytes.
func loadTSF(t *testing.T, o option.Options, block int64, texts ...string) loadtest.Loaded {
	t.Helper()
	for i, text := range texts {
		o.Sources = append(o.Sources, loadtest.File(t, fmt.Sprintf("%d.tsf", i), text))
	}
	_, dir, err := loadInBlocks(t, o, block)
	if err != nil {
		t.Fatal(err)
	}
	return loadtest.OpenDir(t, dir)
}

// timesOf returns a column of timestamps as text.
func timesOf(l loadtest.Loaded, name string) (out []string) {
	l.Helper()
	for _, v := range loadtest.Values[int64](l, name) {
		out = append(out, time.Unix(v, 0).UTC().Format("2006-01-02 15:04:05"))
	}
	return out
}

func TestSeriesOfTSFAreItems(t *testing.T) {
	l := loadTSF(t, option.Options{}, 1<<20,
		"@attribute series_name string\r\n@attribute state string\r\n@attribute size numeric\r\n"+
			"@attribute start_timestamp date\r\n@attribute end date\r\n@frequency monthly\r\n@data\r\n"+
			"T1:Köln:3:1996-01-31 00-00-00:1997-1-2 3-4-5:1,2.5,?\r\n"+
			"  # a comment: 1,2\r\n\r\n"+
			"T2::4.5:2000-02-01 06-00-00:2001-01-01 00-00-00: 1e3 , -0.125\r\n")
	m := l.Manifest
	if m.Time != "timestamp" || !slices.Equal(m.ItemID, []string{"series_name"}) || m.Items.Count != 2 {
		t.Errorf("time %q, items %q: %d", m.Time, m.ItemID, m.Items.Count)
	}
	if strings.Contains(string(m.Recipe), "series_name") {
		t.Errorf("the recipe has options that nobody gave: %s", m.Recipe)
	}
	for name, want := range map[string][]string{
		"series_name": {"T1", "T1", "T1", "T2", "T2"},
		"state":       {"Köln", "Köln", "Köln", "", ""},
	} {
		if got := loadtest.Texts(l, name); !slices.Equal(got, want) {
			t.Errorf("%s: %q", name, got)
		}
	}
	for name, want := range map[string][]float64{
		"size": {3, 3, 3, 4.5, 4.5}, "value": {1, 2.5, math.NaN(), 1000, -0.125},
	} {
		if got := loadtest.Values[float64](l, name); !slices.EqualFunc(got, want,
			func(a, b float64) bool { return a == b || a != a && b != b }) {
			t.Errorf("%s: %v", name, got)
		}
	}
	for name, want := range map[string][]string{
		"timestamp": {"1996-01-31 00:00:00", "1996-02-29 00:00:00", "1996-03-31 00:00:00",
			"2000-02-01 06:00:00", "2000-03-01 06:00:00"},
		"end": {"1997-01-02 03:04:05", "1997-01-02 03:04:05", "1997-01-02 03:04:05", "2001-01-01 00:00:00",
			"2001-01-01 00:00:00"},
	} {
		if got := timesOf(l, name); !slices.Equal(got, want) {
			t.Errorf("%s: %q", name, got)
		}
	}
	for _, c := range m.Columns {
		if c.InDefaultWindows() != (c.Name == "value") {
			t.Errorf("windows have %s by default: %v", c.Name, c.InDefaultWindows())
		}
	}
}

func TestTimesOfTSFFollowTheFrequency(t *testing.T) {
	for frequency, want := range map[string]string{
		"secondly": "2024-02-29 23:59:58", "4_seconds": "2024-03-01 00:00:04",
		"minutely": "2024-03-01 00:01:56", "10_minutes": "2024-03-01 00:19:56",
		"half_hourly": "2024-03-01 00:59:56", "hourly": "2024-03-01 01:59:56",
		"daily": "2024-03-02 23:59:56", "half_daily": "2024-03-01 23:59:56",
		"weekly": "2024-03-14 23:59:56", "monthly": "2024-04-29 23:59:56",
		"quarterly": "2024-08-29 23:59:56", "yearly": "2026-02-28 23:59:56",
		"2_years": "2028-02-29 23:59:56", "5_days": "2024-03-10 23:59:56",
	} {
		l := loadTSF(t, option.Options{}, 1<<20, tsfHead(frequency)+"T1:2024-02-29 23-59-56:1,2,3\n")
		if got := timesOf(l, "timestamp")[2]; got != want {
			t.Errorf("%s: the third value is at %s, want %s", frequency, got, want)
		}
	}
}

// naiveTSF is a series as text.
type naiveTSF struct {
	name   string
	start  time.Time
	values []string
}

// TestRandomTSFFilesAreReadInAnyBlocks compares with the series that made the file.
func TestRandomTSFFilesAreReadInAnyBlocks(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	numbers := []string{"0", "-1", "17", "0.1", "-2.5e-3", "1e22", "123456789.123456789", "?", "NaN", " 3",
		"4 ", "1E5", "0.30000000000000004", "9007199254740993", "5e-324", "179769313486231570000e288"}
	for range 200 {
		var series []naiveTSF
		text := tsfHead("hourly")
		for i := range 1 + r.IntN(5) {
			s := naiveTSF{fmt.Sprintf("T%d", i), time.Unix(int64(r.IntN(1<<31)), 0).UTC(), nil}
			for range 1 + r.IntN(40) {
				s.values = append(s.values, numbers[r.IntN(len(numbers))])
			}
			text += fmt.Sprintf("%s:%s:%s", s.name, s.start.Format("2006-01-02 15-04-05"),
				strings.Join(s.values, ","))
			text += []string{"\n", "\r\n", "\n\n", " \n# x: 1,2\n"}[r.IntN(4)]
			series = append(series, s)
		}
		if r.IntN(2) == 0 {
			text = strings.TrimRight(text, "\r\n")
		}
		l := loadTSF(t, option.Options{}, 1+int64(r.IntN(400)), text)
		var row int
		values, times, items := loadtest.Values[float64](l, "value"), loadtest.Values[int64](l, "timestamp"),
			loadtest.Texts(l, "series_name")
		for _, s := range series {
			for k, v := range s.values {
				want, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
				if err != nil {
					want = math.NaN()
				}
				if got := values[row]; got != want && (got == got || want == want) ||
					times[row] != s.start.Unix()+int64(k)*3600 || items[row] != s.name {
					t.Fatalf("row %d is %v at %d of %s, want %s of %v\n%s", row, got, times[row], items[row], v,
						s, text)
				}
				row++
			}
		}
		if row != len(values) {
			t.Fatalf("%d rows, want %d", len(values), row)
		}
	}
}

// TestALongSeriesIsReadInSegments loads a series that is longer than a block.
func TestALongSeriesIsReadInSegments(t *testing.T) {
	const n = 200_000
	var b strings.Builder
	b.WriteString(tsfHead("4_seconds") + "long:2020-01-01 00-00-00:")
	for i := range n {
		b.WriteString(strconv.Itoa(i) + ".5,")
	}
	b.WriteString("?\nshort:2020-01-01 00-00-00:7")
	l := loadTSF(t, option.Options{}, 1, b.String())
	values, times := loadtest.Values[float64](l, "value"), loadtest.Values[int64](l, "timestamp")
	if len(values) != n+2 || values[n] == values[n] || values[n+1] != 7 {
		t.Fatalf("%d values: … %v", len(values), values[len(values)-2:])
	}
	for i, v := range values[:n] {
		if v != float64(i)+0.5 || times[i] != times[0]+4*int64(i) {
			t.Fatalf("row %d is %v at %d", i, v, times[i])
		}
	}
}

func TestOptionsOfLoadsApplyToTSF(t *testing.T) {
	one := tsfHead("daily") + "T1:2020-01-01 00-00-00:1,2,3\nT2:2020-01-01 00-00-00:4,?\n"
	two := tsfHead("daily") + "T3:2020-01-05 00-00-00:5\n"
	l := loadTSF(t, option.Options{DType: option.DTypes{By: map[string]string{"value": "float32"}}}, 64, one, two)
	if got := loadtest.Values[float32](l, "value"); !slices.Equal(got[:4], []float32{1, 2, 3, 4}) ||
		got[4] == got[4] || got[5] != 5 || l.Manifest.Items.Count != 3 {
		t.Errorf("%v of %d items", got, l.Manifest.Items.Count)
	}
	l = loadTSF(t, option.Options{Columns: []string{"value"}, Time: "timestamp",
		Where: &option.Where{Time: []json.RawMessage{[]byte(`"2020-01-02"`), nil}}}, 1<<20, one)
	if got := loadtest.Values[float64](l, "value"); got[0] != 2 || got[1] != 3 || len(got) != 3 {
		t.Errorf("filtered: %v", got)
	}
	// Without a start there is no time, and one series needs no name.
	l = loadTSF(t, option.Options{}, 1<<20, "@attribute state string\n@data\nBE:1,2\n")
	if m := l.Manifest; m.Time != "" || len(m.ItemID) > 0 || m.Rows != 2 {
		t.Errorf("time %q, items %q, %d rows", m.Time, m.ItemID, m.Rows)
	}
	l = loadTSF(t, option.Options{ItemID: []string{"state", "store"}}, 1<<20,
		"@attribute state string\n@attribute store numeric\n@data\nBE:1:1,2\nBE:2:3\n")
	if m := l.Manifest; m.Items.Count != 2 {
		t.Errorf("%d items", m.Items.Count)
	}
}

func TestRefusedTSF(t *testing.T) {
	head := tsfHead("daily")
	const at = "T1:2020-01-01 00-00-00:"
	for _, c := range []struct{ text, message, hint string }{
		{"@data\nT1:1\n", "has no line @attribute before @data", "a .tsf file has lines such as"},
		{"a,b\n1,2\n", `0.tsf, line 1: "a,b" is not a header line; want a line that begins with @`, "needs its suffix"},
		{"", "the file is empty", "write its rows"},
		{"\n", "has no line @data", "a .tsf file"},
		{"@attribute a string\n@attribute a string\n@data\n", `line 2: "@attribute a string" names an attribute for`, ""},
		{"@attribute a\n@data\n", `line 1: "@attribute a" is not an attribute`, ""},
		{"@frequency\n@data\n", `line 1: "@frequency" is not a frequency`, "write a line such as @frequency daily"},
		{"@attribute value string\n@data\n", `column "value": is an attribute, and has the name`, "rename"},
		{strings.Repeat("#", 70_000) + "\n", "line 1: the line has more than 65536 bytes before @data", ""},
		{head, "has no series", "write its rows"},
		{head + "T1:2020-01-01 00-00-00\n", `line 10: "T1:2020-01-01 00-00-00" has 1 attribute before its values, want 2`,
			"separate"},
		{head + strings.Repeat("x", 70_000), "line 10: the attributes of the series take more than 65536 bytes",
			"shorten them"},
		{"\xff\xfe@\x00", "line 1: the text is UTF-16", "save it as UTF-8"},
		{"@attribute a string\r@data\n", "line 1: a carriage return is within the line", "end lines with a line feed"},
		{head + at + "1\r" + at + "2\n", "line 10: a carriage return is within the line", ""},
		{head + at + "1," + strings.Repeat(" ", 1<<20-len(at)-3) + "\r" + "2\n", "line 10: a carriage return", ""},
		{head + "T1:2020-01-01 00-00-00.5:1\n", `"2020-01-01 00-00-00.5" is not a time`, ""},
		{head + "T1:0000-01-01 00-00-00:1\n", `"0000-01-01 00-00-00" is not a time`, ""},
		{"@attribute a string\n@data\nx:1\ny:2\n", "has 2 series, and no attribute is an item",
			"name the series by attributes with `item_id=[\"a\"]`"},
		{"@attribute end date\n@data\n2020-01-01 00-00-00:1\n2020-01-01 00-00-00:1\n",
			"has 2 series, and no attribute is an item", "give the series names in an @attribute series_name string"},
		{head + "T1:2020-01-32 00-00-00:1\n", `row 1 (line 10), column "start_timestamp": "2020-01-32 00-00-00" is not a time`,
			"write it as"},
		{head + at + "1,x,2\n", `row 1 (line 10), column "value": "x" is not a number`, "write ? for a missing value"},
		{head + at + "1,\n", `row 1 (line 10), column "value": a value is empty`, "write ?"},
		{head + at + "1,0x1p3\n", `"0x1p3" is not a number`, ""},
		{head + at + "1,1e999\n", `"1e999" is not a number`, ""},
		{head + at + "1\n\nT2:x:2020-01-01 00-00-00:1\n", `"x" is not a time`, ""},
		{head + at + "1,2:3\n", `"2:3" has a colon, so that the line has more attributes`, ""},
		{tsfHead("1000000_weeks") + "T1:2020-01-01 00-00-00:1,2\n",
			`column "start_timestamp": "2020-01-01 00-00-00" leads to times after the year 9999`, "correct"},
		{tsfHead("monthly") + "T1:9999-06-01 00-00-00:1,2,3,4,5,6,7,8\n", "after the year 9999", ""},
		{tsfHead("+5_minutes") + "T1:9999-06-01 00-00-00:1\n", `"+5_minutes" is not a frequency`, ""},
		{head + ":2020-01-01 00-00-00:1\n", `column "series_name": the text is empty, but an item needs a name`, ""},
		{head + "T\xff1:2020-01-01 00-00-00:1\n", `row 1 (line 10), column "series_name": "T\xff1" is not UTF-8`, ""},
		{head + at + "1\n" + at + "2\n", `row 2 (line 11), column "series_name": "T1" names the series of line 10, too`, "of its own"},
		{head + at + "1\nT2:2020-01-01 00-00-00:1\n" + at + "2\n", `row 3 (line 12), column "series_name": "T1" names the series of line 10, too`,
			"give each series a name of its own"},
	} {
		for _, block := range []int64{1, 1 << 20} {
			o := option.Options{Sources: []string{loadtest.File(t, "0.tsf", c.text)}}
			_, _, err := loadInBlocks(t, o, block)
			loadtest.Refused(t, err, c.message, c.hint)
		}
	}
	text := "@attribute series_name numeric\n@data\n1:1\n 01:2\n"
	_, _, err := loadInBlocks(t, option.Options{Sources: []string{loadtest.File(t, "n.tsf", text)}}, 1<<20)
	loadtest.Refused(t, err, `row 2 (line 4), column "series_name": "01" names the series of line 3, too`, "")
	text = "@attribute n numeric\n@attribute state string\n@data\n1.5:BE:1\n1.5:LU:2\n"
	byNumber := option.Options{Sources: []string{loadtest.File(t, "n.tsf", text)}, ItemID: []string{"n"},
		DType: option.DTypes{By: map[string]string{"n": "text"}}}
	_, _, err = loadInProcess(t, byNumber)
	loadtest.Refused(t, err, `"1.5" names the series of line 4, too`, "")
	text = "@attribute n numeric\n@data\n1:1,2\n01:3\n1:4\n"
	byNumber.Sources, byNumber.Sort = []string{loadtest.File(t, "n.tsf", text)}, true
	_, _, err = loadInProcess(t, byNumber)
	loadtest.Refused(t, err, `row 3 (line 5), column "n": "1" names the series of line 3, too`, "")
	text = "@attribute series_name string\n@attribute state string\n@data\nT1:BE:1\nT2:BE:2\nT1:LU:3\n"
	apart := option.Options{Sources: []string{loadtest.File(t, "n.tsf", text)}, ItemID: []string{"series_name"},
		Items: []json.RawMessage{[]byte(`"T1"`)}, Sort: true}
	_, _, err = loadInProcess(t, apart)
	loadtest.Refused(t, err, `"T1" names the series of line 4, too`,
		"or name the series by attributes with `item_id=[\"series_name\",\"state\"]`")
	o := option.Options{Sources: []string{loadtest.File(t, "0.tsf", head+at+"1,1e39\n")},
		DType: option.DTypes{By: map[string]string{"value": "float32"}}}
	_, _, err = loadInProcess(t, o)
	loadtest.Refused(t, err, `row 1 (line 10), column "value": "1e39" does not fit float32`, "wider dtype")
	o = option.Options{Sources: []string{loadtest.File(t, "0.tsf", head+at+"1,2\n")}, Melt: option.MeltColumns}
	_, _, err = loadInProcess(t, o)
	loadtest.Refused(t, err, "has one value a row already", "load it without `melt`")
	o = option.Options{Sources: o.Sources, DType: option.DTypes{By: map[string]string{"value": string(layout.Text)}}}
	if _, _, err = loadInProcess(t, o); err == nil || !strings.Contains(err.Error(), "a dtype of numbers") {
		t.Errorf("values as text: %v", err)
	}
}

// naiveValues returns the values of all series of a file, as the reader of GluonTS finds them: line by
// line, after the last attribute. ok is false if the lines are not as that reader expects.
func naiveValues(text string) (values []float64, ok bool) {
	attributes, inData := 0, false
	for _, line := range strings.Split(text, "\n") {
		line = strings.Trim(line, " \t\r\v\f")
		switch {
		case line == "" || line[0] == '#':
		case inData:
			cells := strings.Split(line, ":")
			if len(cells) != attributes+1 {
				return nil, false
			}
			for _, v := range strings.Split(cells[attributes], ",") {
				x, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
				if strings.TrimSpace(v) == "?" {
					x, err = math.NaN(), nil
				}
				if err != nil {
					return nil, false
				}
				values = append(values, x)
			}
		default:
			inData = strings.Fields(line)[0] == "@data"
			if strings.Fields(line)[0] == "@attribute" {
				attributes++
			}
		}
	}
	return values, true
}

// FuzzTSF loads any text as a .tsf file. If it is accepted, its values are those of another reader, in
// blocks of any size.
func FuzzTSF(f *testing.F) {
	f.Add(tsfHead("daily") + "T1:2020-01-01 00-00-00:1,?\n\nT2:2020-01-01 00-00-00: 2.5 ,-1e3")
	f.Add("@attribute series_name string\r\n@data\r\na:NaN,1\r\n")
	f.Add("@attribute n numeric\n@data\n1:2,3\n#x\n")
	f.Fuzz(func(t *testing.T, text string) {
		var first []float64
		for _, block := range []int64{1, 1 << 20} {
			o := option.Options{Sources: []string{loadtest.File(t, "x.tsf", text)}}
			_, dir, err := loadInBlocks(t, o, block)
			if (err == nil) != (first != nil) && block > 1 {
				t.Fatalf("in blocks of %d bytes: %v", block, err)
			}
			if err != nil {
				continue
			}
			got := loadtest.Values[float64](loadtest.OpenDir(t, dir), "value")
			want, ok := naiveValues(text)
			same := func(a, b float64) bool { return a == b || a != a && b != b }
			if !ok || !slices.EqualFunc(got, want, same) {
				t.Fatalf("%v, want %v, %v", got, want, ok)
			}
			first = got
		}
	})
}
