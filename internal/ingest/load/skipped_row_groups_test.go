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

// TestSkippedRowGroupsDoNotChangeTheGeneration compares loads that skip row groups and folders with
// loads that read all of them. Both must have the same generation or the same error.
func TestSkippedRowGroupsDoNotChangeTheGeneration(t *testing.T) {
	left, kept, refusedLoads := 0, 0, 0
	rapid.Check(t, func(r *rapid.T) {
		dir, err := os.MkdirTemp("", "groups")
		if err != nil {
			r.Fatal(err)
		}
		defer os.RemoveAll(dir)
		folders := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"7", "8", "x"}), 1, 3,
			rapid.ID).Draw(r, "folders")
		hive := rapid.Bool().Draw(r, "hive")
		ids := []string{"a", "b", "c", "7"}
		var names []map[string]string // the item names of each row, by column
		times := []string{`"1969-12-31T23:59:59Z"`}
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
				names = append(names,
					map[string]string{"id": `"` + ids[item] + `"`, "site": fmt.Sprint(item - 1),
						"n": fmt.Sprint(item + 1<<31), "part": `"` + folder + `"`})
				times = append(times, time.UnixMilli(at).UTC().Format(`"`+time.RFC3339Nano+`"`))
			}
			path := filepath.Join(dir, fmt.Sprintf("%d.parquet", f))
			if hive {
				path = filepath.Join(dir, "part="+folder, "0.parquet")
			}
			loadtest.ParquetGroups(t, path, rows, rapid.IntRange(1, 6).Draw(r, "group"))
		}
		o := option.Options{Sources: []string{dir}, Time: "t"}
		columns := []string{"id", "site", "n"}
		if hive {
			columns = append(columns, "part")
		}
		o.ItemID = rapid.SliceOfNDistinct(rapid.SampledFrom(columns), 1, 2, rapid.ID).
			Draw(r, "item_id")
		// bits: time, items, bucket
		which := rapid.SampledFrom([]int{1, 2, 4, 3, 1, 2, 5, 6, 7}).Draw(r, "filters")
		if which&1 != 0 {
			slices.SortFunc(times, func(a, b string) int { return parseTime(t, a).Compare(parseTime(t, b)) })
			from := rapid.IntRange(-1, len(times)-1).Draw(r, "from")
			to := rapid.IntRange(from+1, len(times)).Draw(r, "to")
			bound := func(i int) json.RawMessage {
				if i < 0 || i == len(times) {
					return json.RawMessage("null")
				}
				return json.RawMessage(times[i])
			}
			o.Where = &option.Where{Time: []json.RawMessage{bound(from), bound(to)}}
		}
		if which&2 != 0 {
			for range rapid.IntRange(1, 3).Draw(r, "items") {
				of := rapid.SampledFrom(names).Draw(r, "item of")
				name := of[o.ItemID[0]]
				if rapid.IntRange(0, 9).Draw(r, "no item") == 7 {
					name = `"q"`
				}
				if len(o.ItemID) == 2 {
					name = "[" + name + "," + of[o.ItemID[1]] + "]"
				}
				o.Items = append(o.Items, json.RawMessage(name))
			}
		}
		if which&4 != 0 {
			o.ItemBucket = fmt.Sprintf("%d/2", rapid.IntRange(0, 1).Draw(r, "bucket"))
		}
		o.Sort, o.Duplicates = true,
			rapid.SampledFrom([]string{option.DuplicatesFirst, option.DuplicatesLast,
				option.DuplicatesFirst, option.DuplicatesLast, option.DuplicatesFirst, ""}).Draw(r,
				"duplicates")
		if to := rapid.SampledFrom([]string{"", "float16", "float32"}).Draw(r, "dtype"); to != "" {
			o.DType = option.Floats(to)
		}
		run := func(whole bool) (string, int64) {
			out, err := os.MkdirTemp("", "out")
			if err != nil {
				r.Fatal(err)
			}
			defer os.RemoveAll(out)
			l := newLoad(out, o, &progress.Meter{})
			l.readAll = whole
			m, err := l.run(t.Context())
			if err != nil {
				return l.cleanUp(err).Error(), 0
			}
			m.Created, m.XXH64 = time.Time{}, "" // XXH64 covers Created
			b, err := json.Marshal(m)
			if err != nil {
				r.Fatal(err)
			}
			var left int64
			for _, source := range l.readers {
				left += source.Rows() - l.prune(source).Rows
			}
			return string(b), left
		}
		all, _ := run(true)
		some, pruned := run(false)
		if all != some {
			r.Fatalf("%+v:\n%s\nwithout leaving out\n%s", o, some, all)
		}
		switch {
		case all[0] != '{':
			refusedLoads++
		case pruned > 0:
			left++
		default:
			kept++
		}
	})
	t.Logf("%d loads left rows out, %d read all, %d were refused", left, kept, refusedLoads)
	if left < (left+kept+refusedLoads)/4 || kept == 0 || refusedLoads == 0 {
		t.Error("a case is not drawn, or loads that leave rows out are few")
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

// TestDTypesAreInferredFromFoldersWithoutRows filters by item two folders, of which only one has a
// float. The dtype must be float64 for both items, so that machines that load different items
// agree.
func TestDTypesAreInferredFromFoldersWithoutRows(t *testing.T) {
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
