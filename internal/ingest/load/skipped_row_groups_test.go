package load

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/layout"
)

// groupedSource describes the rows of a folder of Parquet files with row groups.
type groupedSource struct {
	itemNames []map[string]string // of each row: the JSON of its item names, by column
	times     []string            // the JSON of the times of all rows, and one before them
}

// drawGroupedSource writes a file for each folder name. If partitioned is true, the names are
// values of the partition part.
func drawGroupedSource(t *testing.T, r *rapid.T, dir string, partitioned bool) groupedSource {
	folders := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"7", "8", "x"}), 1, 3,
		rapid.ID).Draw(r, "folders")
	ids := []string{"a", "b", "c", "7"}
	s := groupedSource{times: []string{`"1969-12-31T23:59:59Z"`}}
	for f, folder := range folders {
		var rows []loadtest.GroupedRow
		item, at := 0, int64(0)
		for range rapid.IntRange(6, 40).Draw(r, "rows") {
			if rapid.IntRange(0, 6).Draw(r, "step") == 0 {
				item, at = rapid.IntRange(0, 3).Draw(r, "item"),
					int64(rapid.IntRange(-3, 3).Draw(r, "start")*1000)
			}
			at += 500
			rows = append(rows, loadtest.NewGroupedRow(ids[item], int32(item)-1, at,
				uint32(item)+1<<31, float64(at)+float64(item)/3))
			s.itemNames = append(s.itemNames,
				map[string]string{"id": `"` + ids[item] + `"`, "site": fmt.Sprint(item - 1),
					"n": fmt.Sprint(item + 1<<31), "part": `"` + folder + `"`})
			s.times = append(s.times, time.UnixMilli(at).UTC().Format(`"`+time.RFC3339Nano+`"`))
		}
		path := filepath.Join(dir, fmt.Sprintf("%d.parquet", f))
		if partitioned {
			path = filepath.Join(dir, "part="+folder, "0.parquet")
		}
		loadtest.ParquetGroups(t, path, rows, rapid.IntRange(1, 6).Draw(r, "group"))
	}
	return s
}

// drawFilters adds random filters to o: a range of time, items, a bucket, or several of them.
func drawFilters(t *testing.T, r *rapid.T, o *option.Options, s groupedSource) {
	const byTime, byItem, byBucket = 1, 2, 4
	filters := rapid.SampledFrom([]int{1, 2, 4, 3, 1, 2, 5, 6, 7}).Draw(r, "filters")
	if filters&byTime != 0 {
		slices.SortFunc(s.times, func(a, b string) int {
			return parseTime(t, a).Compare(parseTime(t, b))
		})
		from := rapid.IntRange(-1, len(s.times)-1).Draw(r, "from")
		to := rapid.IntRange(from+1, len(s.times)).Draw(r, "to")
		bound := func(i int) json.RawMessage {
			if i < 0 || i == len(s.times) {
				return json.RawMessage("null")
			}
			return json.RawMessage(s.times[i])
		}
		o.Where = &option.Where{Time: []json.RawMessage{bound(from), bound(to)}}
	}
	if filters&byItem != 0 {
		for range rapid.IntRange(1, 3).Draw(r, "items") {
			names := rapid.SampledFrom(s.itemNames).Draw(r, "item of")
			name := names[o.ItemID[0]]
			if rapid.IntRange(0, 9).Draw(r, "no item") == 7 {
				name = `"q"`
			}
			if len(o.ItemID) == 2 {
				name = "[" + name + "," + names[o.ItemID[1]] + "]"
			}
			o.Items = append(o.Items, json.RawMessage(name))
		}
	}
	if filters&byBucket != 0 {
		o.ItemBucket = fmt.Sprintf("%d/2", rapid.IntRange(0, 1).Draw(r, "bucket"))
	}
}

// loadManifest loads with or without skipping row groups. It returns the manifest as JSON, without
// its creation time, or the message of the error. skipped is the number of rows that a load skips.
func loadManifest(t *testing.T, r *rapid.T, o option.Options, readAll bool) (text string,
	skipped int64) {
	out, err := os.MkdirTemp("", "out")
	if err != nil {
		r.Fatal(err)
	}
	defer os.RemoveAll(out)
	l := newLoad(out, o, &progress.Meter{})
	l.readAll = readAll
	m, err := l.run(t.Context())
	if err != nil {
		return l.cleanUp(err).Error(), 0
	}
	m.Created, m.XXH64 = time.Time{}, "" // XXH64 covers Created
	b, err := json.Marshal(m)
	if err != nil {
		r.Fatal(err)
	}
	for _, source := range l.readers {
		skipped += source.Rows() - l.prune(source).Rows
	}
	return string(b), skipped
}

// TestSkippedRowGroupsDoNotChangeTheGeneration compares loads that skip row groups and folders with
// loads that read all of them. Both must have the same generation or the same error.
func TestSkippedRowGroupsDoNotChangeTheGeneration(t *testing.T) {
	pruned, complete, refused := 0, 0, 0 // loads
	rapid.Check(t, func(r *rapid.T) {
		dir, err := os.MkdirTemp("", "groups")
		if err != nil {
			r.Fatal(err)
		}
		defer os.RemoveAll(dir)
		o := option.Options{Sources: []string{dir}, Time: "t", Sort: true}
		columns := []string{"id", "site", "n"}
		partitioned := rapid.Bool().Draw(r, "partitioned")
		if partitioned {
			columns = append(columns, "part")
		}
		s := drawGroupedSource(t, r, dir, partitioned)
		o.ItemID = rapid.SliceOfNDistinct(rapid.SampledFrom(columns), 1, 2, rapid.ID).
			Draw(r, "item_id")
		drawFilters(t, r, &o, s)
		o.Duplicates = rapid.SampledFrom([]string{option.DuplicatesFirst, option.DuplicatesLast,
			option.DuplicatesFirst, option.DuplicatesLast, option.DuplicatesFirst, ""}).Draw(r,
			"duplicates")
		if all := 1.0; o.Duplicates != "" {
			o.MaxDuplicates = &all
		}
		if to := rapid.SampledFrom([]string{"", "float16", "float32"}).Draw(r, "dtype"); to != "" {
			o.DType = option.Floats(to)
		}
		want, _ := loadManifest(t, r, o, true)
		got, skipped := loadManifest(t, r, o, false)
		if got != want {
			r.Fatalf("%+v:\n%s\nwant, from all row groups,\n%s", o, got, want)
		}
		switch {
		case want[0] != '{':
			refused++
		case skipped > 0:
			pruned++
		default:
			complete++
		}
	})
	t.Logf("%d loads skipped rows, %d read all, %d were refused", pruned, complete, refused)
	if pruned < (pruned+complete+refused)/4 || complete == 0 || refused == 0 {
		t.Error("want a quarter of the loads to skip rows, some to read all, and some refused")
	}
}

// parseTime returns the time of a bound, which is JSON.
func parseTime(t testing.TB, bound string) (when time.Time) {
	t.Helper()
	if err := json.Unmarshal([]byte(bound), &when); err != nil {
		t.Fatal(err)
	}
	return when
}

// TestNarrowingErrorsAreThoseOfTheFilteredRows loads the rows before a time as float32. The
// recorded error and the refusal must depend on these rows only, whether the load reads other rows
// or not.
func TestNarrowingErrorsAreThoseOfTheFilteredRows(t *testing.T) {
	parquetPath := filepath.Join(t.TempDir(), "x.parquet")
	rows := []loadtest.GroupedRow{loadtest.NewGroupedRow("a", 0, 1000, 0, 0.1),
		loadtest.NewGroupedRow("a", 0, 2000, 0, 1e300),
		loadtest.NewGroupedRow("a", 0, 3000, 0, 1e30)}
	text := "t,x\n"
	for _, row := range rows {
		text += fmt.Sprintf("%s,%v\n", time.UnixMilli(row.T).UTC().Format(time.RFC3339), row.X)
	}
	until := func(when string) *option.Where {
		return &option.Where{Time: []json.RawMessage{json.RawMessage("null"),
			json.RawMessage(when)}}
	}
	for _, group := range []int{1, 3} {
		loadtest.ParquetGroups(t, parquetPath, rows, group)
		for _, path := range []string{parquetPath, loadtest.File(t, "x.csv", text)} {
			o := option.Options{Sources: []string{path}, Time: "t", Columns: []string{"x"},
				DType: option.Floats("float32"), Where: until(`"1970-01-01T00:00:02Z"`)}
			l := mustLoad(t, o)
			c, err := l.Manifest.Column("x")
			if err != nil {
				t.Fatal(err)
			}
			if e := c.DTypeError; e == nil || e.Abs != math.Abs(float64(float32(0.1))-0.1) ||
				!slices.Equal(loadtest.Values[float32](l, "x"), []float32{0.1}) {
				t.Errorf("%s in groups of %d: %+v", path, group, e)
			}
			o.Where = until(`"1970-01-01T00:00:03Z"`)
			_, _, err = loadInProcess(t, o)
			loadtest.Refused(t, err, `row 2`, "wider dtype")
			loadtest.Refused(t, err, `column "x": "1e+300" does not fit float32`, "wider dtype")
		}
	}
}

// TestDTypesAreInferredFromFilteredFolders loads one of two folders, of which only one has a float.
// The dtype must be float64 for both items, so that machines that load different items agree.
func TestDTypesAreInferredFromFilteredFolders(t *testing.T) {
	dir := t.TempDir()
	for folder, last := range map[string]string{"a": "7", "b": "0.5"} {
		path := filepath.Join(dir, "part="+folder, "0.csv")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("t,v\n"+strings.Repeat("1,2\n", 1000+1)+"2,"+last+"\n"),
			0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, item := range []string{`"a"`, `"b"`} {
		l := mustLoad(t, option.Options{Sources: []string{dir}, ItemID: []string{"part"},
			Columns: []string{"v"}, Items: []json.RawMessage{json.RawMessage(item)}})
		if c, err := l.Manifest.Column("v"); err != nil || c.DType != layout.Float64 {
			t.Error(item, c.DType, err)
		}
	}
}
