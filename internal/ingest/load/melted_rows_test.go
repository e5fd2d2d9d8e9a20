package load

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
)

// TestSeriesInRowsAreReadInBlocksOfAnySize compares loads with the rows that the text was made of.
func TestSeriesInRowsAreReadInBlocksOfAnySize(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		width := rapid.IntRange(1, 6).Draw(r, "width")
		cells := rapid.SampledFrom([]string{"", "NA", "1", "-2", "0.5", `"7"`, " 8 "})
		var text strings.Builder
		text.WriteString("id")
		for i := range width {
			fmt.Fprintf(&text, ",v%d", i)
		}
		text.WriteString("\n")
		var names []string
		var values []float64
		var rows, lines []int
		line := 2
		for row := range rapid.IntRange(1, 12).Draw(r, "rows") {
			name := fmt.Sprintf("s%d", row)
			begins := line
			if rapid.Bool().Draw(r, "a name of two lines") {
				name += "\nx"
				line++
			}
			line++
			series := []float64{float64(row)}
			written := []string{fmt.Sprint(row)}
			missing := 0
			for range width - 1 {
				cell := cells.Draw(r, "cell")
				written = append(written, cell)
				v, ok := map[string]float64{"1": 1, "-2": -2, "0.5": 0.5, `"7"`: 7, " 8 ": 8}[cell]
				if !ok {
					missing++
					continue
				}
				for ; missing > 0; missing-- {
					series = append(series, math.NaN())
				}
				series = append(series, v)
			}
			kept := len(series) + rapid.IntRange(0, missing).Draw(r, "empty cells")
			fmt.Fprintf(&text, "%q,%s\n", "", strings.Join(written[:kept], ","))
			replaced := strings.Replace(text.String(), `"",`, `"`+name+`",`, 1)
			text.Reset()
			text.WriteString(replaced)
			if rapid.Bool().Draw(r, "an empty line") {
				text.WriteString("\n")
				line++
			}
			for _, v := range series {
				names, values = append(names, name), append(values, v)
				rows, lines = append(rows, row+1), append(lines, begins)
			}
		}
		path := loadtest.File(t, "x.csv", text.String())
		o := option.Options{Sources: []string{path}, Melt: option.MeltRows}
		for _, block := range []int64{3, 40, 1 << 20} {
			_, dir, err := loadInBlocks(t, o, block)
			if err != nil {
				t.Fatal(err)
			}
			l := loadtest.OpenDir(t, dir)
			c, err := l.Manifest.Column(column.MeltedValue)
			if err != nil {
				t.Fatal(err)
			}
			var got []float64
			if c.DType == "int64" {
				for _, v := range loadtest.Values[int64](l, c.Name) {
					got = append(got, float64(v))
				}
			} else {
				got = loadtest.Values[float64](l, c.Name)
			}
			equal := func(a, b float64) bool { return a == b || a != a && b != b }
			if !slices.EqualFunc(got, values, equal) ||
				!slices.Equal(loadtest.Texts(l, "id"), names) {
				r.Fatalf("blocks of %d: %v\nof %v, want %v\nof %v\n%s", block, got,
					loadtest.Texts(l, "id"), values, names, text.String())
			}
		}
		// The first value that is refused afterwards has the place of its cell.
		o.DType.By = map[string]string{column.MeltedValue: "uint8"}
		at := slices.IndexFunc(values, func(v float64) bool { return !(v >= 0) || v == 0.5 })
		if at < 0 {
			return
		}
		want := fmt.Sprintf("row %d (line %d), column %q", rows[at], lines[at], column.MeltedValue)
		if _, _, err := loadInBlocks(t, o, 40); err == nil || !strings.Contains(err.Error(), want) {
			r.Fatalf("got %v, want an error at %s\n%s", err, want, text.String())
		}
	})
}

func TestAColumnOfNumbersNamesSeriesOnlyWhereItIsNamed(t *testing.T) {
	path := loadtest.File(t, "x.csv", "id,a\n1,2\n5,3\n")
	o := option.Options{Sources: []string{path}, Melt: option.MeltRows}
	_, _, err := loadInProcess(t, o)
	loadtest.Refused(t, err, `column "id": the first column is int64`, "item_id")
	o.ItemID = []string{"id"}
	if got := loadtest.Values[int64](mustLoad(t, o), "id"); !slices.Equal(got, []int64{1, 5}) {
		t.Error(got)
	}
}

// TestIntegersThatMeltedRowsRoundAreRefusedWithTheirRemedy loads integers of a typed file, which
// are read as floats because one may be missing.
func TestIntegersThatMeltedRowsRoundAreRefusedWithTheirRemedy(t *testing.T) {
	type row struct {
		ID string `parquet:"id"`
		A  int64  `parquet:"a"`
	}
	o := option.Options{Melt: option.MeltRows,
		Sources: []string{loadtest.File(t, "x.parquet", parquetOf(t, row{"x", 1<<53 + 1}))}}
	_, _, err := loadInProcess(t, o)
	loadtest.Refused(t, err, `column "a": "9007199254740993" does not fit float64`,
		"convert the values to floats")
	o.Sources = []string{loadtest.File(t, "x.parquet", parquetOf(t, row{"x", 1 << 53}))}
	if got := loadtest.Values[int64](mustLoad(t, o), "value"); got[0] != 1<<53 {
		t.Error(got)
	}
}

// TestSortDoesNotJoinSeriesOfOneSource sorts rows of which two, not one after the other, have the
// same name. In two sources the series goes on.
func TestSortDoesNotJoinSeriesOfOneSource(t *testing.T) {
	path := loadtest.File(t, "x.csv", "id,a,b\nx,1,2\ny,3\nx,4\nz,6,7\n")
	o := option.Options{Sources: []string{path}, Melt: option.MeltRows, Sort: true}
	_, _, err := loadInProcess(t, o)
	loadtest.Refused(t, err, `row 3 (line 4), column "id": item "x" appears again`, "item_id")
	o.Sources = []string{loadtest.File(t, "a.csv", "id,a,b\nx,1,2\ny,3\n"),
		loadtest.File(t, "b.csv", "id,a,b\nz,5\nx,4\n")}
	if got := loadtest.Values[int64](mustLoad(t, o), "value"); !slices.Equal(got,
		[]int64{1, 2, 4, 3, 5}) {
		t.Error(got)
	}
	o.ItemBucket = "0/1" // selects all rows
	mustLoad(t, o)
	o.Sources = append(o.Sources, path)
	_, _, err = loadInProcess(t, o)
	loadtest.Refused(t, err, `row 3 (line 4), column "id": item "x" appears again`, "item_id")
}

func TestSeriesOfOneNameInTwoBlocksAreRefused(t *testing.T) {
	path := loadtest.File(t, "x.csv", "id,a\nx,1\nx,2\n")
	o := option.Options{Sources: []string{path}, Melt: option.MeltRows}
	for _, block := range []int64{3, 1 << 20} {
		_, _, err := loadInBlocks(t, o, block)
		loadtest.Refused(t, err,
			`row 2 (line 3), column "id": "x" names the series of the row before`, "item_id")
	}
}
