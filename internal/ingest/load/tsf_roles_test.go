package load

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
)

func TestRowsOfAnyFormatAreAppendedToTSF(t *testing.T) {
	base := loadTSF(t, option.Options{}, 1<<20, tsfHead("daily")+"T1:2020-01-01 00-00-00:1,2,3\n")
	for name, text := range map[string]string{
		"b.tsf": tsfHead("daily") + "T1:2020-01-04 00-00-00:4\nT2:2020-01-01 00-00-00:5,6\n",
		"b.csv": "series_name,timestamp,value\nT1,2020-01-04,4\nT2,2020-01-01,5\nT2,2020-01-02,6\n",
	} {
		l := mustAppend(t, base, loadtest.File(t, name, text))
		if got := loadtest.Values[float64](l, "value"); !slices.Equal(got, []float64{1, 2, 3, 4, 5, 6}) ||
			l.Manifest.Items.Count != 2 || l.Manifest.Time != "timestamp" {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestTSFIsAppendedWithTheRolesOfTheDataset appends to datasets of another format, whose items and time
// are those of their options.
func TestTSFIsAppendedWithTheRolesOfTheDataset(t *testing.T) {
	text := "series_name,timestamp,value\nT1,2020-01-01,1.5\nT1,2020-01-02,2\n"
	one := tsfHead("daily") + "T1:2020-01-03 00-00-00:3,4\n"
	two := one + "T2:2020-01-05 00-00-00:5\n"
	items := []string{"series_name"}
	for name, c := range map[string]struct {
		o       option.Options
		tsf     string
		refusal string
	}{
		"items and time":    {o: option.Options{ItemID: items, Time: "timestamp"}, tsf: two},
		"items":             {o: option.Options{ItemID: items}, tsf: two},
		"no roles":          {tsf: one, refusal: "no item names its series"},
		"a time":            {o: option.Options{Time: "timestamp"}, tsf: one, refusal: "no item names its series"},
		"values":            {o: option.Options{Columns: []string{"value"}}, tsf: one, refusal: "no item names its"},
		"two without items": {tsf: two, refusal: "no item names its series"},
	} {
		t.Run(name, func(t *testing.T) {
			c.o.Sources = []string{loadtest.File(t, "a.csv", text)}
			_, dir, err := loadInBlocks(t, c.o, 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			l, err := tryAppend(t, loadtest.OpenDir(t, dir), loadtest.File(t, "b.tsf", c.tsf))
			if c.refusal != "" {
				loadtest.Refused(t, err, c.refusal, "to change options")
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if m := l.Manifest; m.Time != c.o.Time || m.Items.Count != 2 {
				t.Errorf("time %q, %d items", m.Time, m.Items.Count)
			}
			if got := timesOf(l, "timestamp"); got[3] != "2020-01-04 00:00:00" || got[4] != "2020-01-05 00:00:00" {
				t.Errorf("times %q", got)
			}
		})
	}
	base := loadTSF(t, option.Options{}, 1<<20, "@attribute state string\n@data\nBE:1,2\n")
	_, err := tryAppend(t, base, loadtest.File(t, "b.tsf", "@attribute state string\n@data\nLU:3\n"))
	loadtest.Refused(t, err, "no item names its series", "name the series by attributes with")
}

// TestTimesOfTSFHaveTheUnitOfTheColumn loads and appends next to times with fractions of a second.
func TestTimesOfTSFHaveTheUnitOfTheColumn(t *testing.T) {
	head := "@attribute series_name string\n@attribute start_timestamp date\n@attribute end date\n@frequency daily\n@data\n"
	tsf := loadtest.File(t, "a.tsf", head+"T2:2020-12-31 00-00-00:2021-01-02 03-04-05:1.5,2\n")
	far := loadtest.File(t, "far.tsf", head+"T2:2262-04-11 00-00-00:2021-01-02 03-04-05:1.5,2\n")
	farEnd := loadtest.File(t, "end.tsf", head+"T2:2021-04-11 00-00-00:2300-01-02 03-04-05:1.5,2\n")
	for _, fraction := range []string{"", ".5", ".000005", ".000000005"} {
		csv := loadtest.File(t, "a.csv", "series_name,end,timestamp,value\nT1,2020-01-01T00:00:00"+fraction+
			",2020-01-01T00:00:00"+fraction+",1.5\n")
		o := option.Options{Sources: []string{csv}, ItemID: []string{"series_name"}, Time: "timestamp"}
		_, dir, err := loadInBlocks(t, o, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		base := loadtest.OpenDir(t, dir)
		o.Sources = append(o.Sources, tsf)
		_, dir, err = loadInBlocks(t, o, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range []loadtest.Loaded{mustAppend(t, base, tsf), loadtest.OpenDir(t, dir)} {
			c, err := l.Manifest.Column("timestamp")
			if err != nil {
				t.Fatal(err)
			}
			unit := map[string]time.Duration{"s": time.Second, "ms": time.Millisecond, "us": time.Microsecond,
				"ns": time.Nanosecond}[c.Unit]
			for name, want := range map[string]time.Time{
				"timestamp": time.Date(2021, 1, 1, 0, 0, 0, 0, time.UTC),
				"end":       time.Date(2021, 1, 2, 3, 4, 5, 0, time.UTC),
			} {
				if got := loadtest.Values[int64](l, name)[2]; got != int64(want.Sub(time.Unix(0, 0))/unit) {
					t.Errorf("%s with %q: %d %s, want %v", name, fraction, got, c.Unit, want)
				}
			}
		}
		if len(fraction) == len(".000000005") {
			for file, column := range map[string]string{far: "start_timestamp", farEnd: "end"} {
				_, err = tryAppend(t, base, file)
				loadtest.Refused(t, err, column+`": "2`, "")
				loadtest.Refused(t, err, "fit 64 bits of ns", "correct the time")
			}
		}
	}
}

func TestSeriesOfSeveralTSFFilesNeedNames(t *testing.T) {
	nameless := "@attribute state string\n@attribute start_timestamp date\n@frequency daily\n@data\n"
	folder := t.TempDir()
	for state, text := range map[string]string{
		"BE": nameless + "BE:2020-01-01 00-00-00:1,2\n", "LU": nameless + "LU:2020-01-03 00-00-00:3\n",
	} {
		dir := filepath.Join(folder, "series_name="+state)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "a.tsf"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, sources := range map[string][]string{
		"folders": {folder},
		"files":   {filepath.Join(folder, "series_name=BE", "a.tsf"), filepath.Join(folder, "series_name=LU", "a.tsf")},
	} {
		_, _, err := loadInProcess(t, option.Options{Sources: sources})
		loadtest.Refused(t, err, "BE/a.tsf: no item names its series",
			"name the series by attributes with `item_id=[\"state\"]`")
		_, dir, err := loadInBlocks(t, option.Options{Sources: sources, ItemID: []string{"state"}}, 1)
		if err != nil {
			t.Fatal(err)
		}
		if m := loadtest.OpenDir(t, dir).Manifest; m.Items.Count != 2 || m.Rows != 3 {
			t.Errorf("%s: %d items, %d rows", name, m.Items.Count, m.Rows)
		}
	}
	_, dir, err := loadInBlocks(t, option.Options{Sources: []string{folder}, ItemID: []string{"series_name"}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if m := loadtest.OpenDir(t, dir).Manifest; m.Items.Count != 2 {
		t.Errorf("of folders: %d items", m.Items.Count)
	}
}

// TestRolesOfTSFDoNotDependOnTheOrderOfFiles loads a .tsf file beside a CSV file.
func TestRolesOfTSFDoNotDependOnTheOrderOfFiles(t *testing.T) {
	csv := loadtest.File(t, "a.csv", "series_name,timestamp,value\nT1,2020-01-01,1\n")
	tsf := loadtest.File(t, "b.tsf", tsfHead("daily")+"T2:2020-01-01 00-00-00:2,3\n")
	for _, sources := range [][]string{{csv, tsf}, {tsf, csv}} {
		_, dir, err := loadInBlocks(t, option.Options{Sources: sources}, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		m := loadtest.OpenDir(t, dir).Manifest
		if m.Items.Count != 2 || m.Time != "timestamp" || !slices.Equal(m.ItemID, []string{"series_name"}) {
			t.Errorf("time %q, items %q: %d", m.Time, m.ItemID, m.Items.Count)
		}
	}
}

func TestTheTimeOfTSFIsNoItem(t *testing.T) {
	file := loadtest.File(t, "a.tsf", tsfHead("daily")+"T1:2020-01-01 00-00-00:1\n")
	for _, o := range []option.Options{{Time: "series_name"}, {ItemID: []string{"timestamp"}}} {
		o.Sources = []string{file}
		_, _, err := loadInProcess(t, o)
		loadtest.Refused(t, err, "time: ", "")
	}
}
