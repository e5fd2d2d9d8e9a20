package layout

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
)

// writeEdgeCases writes columns of every dtype with some missing, infinite and extreme values, and
// opens the generation.
func writeEdgeCases(t testing.TB, layout string, rows int64) *Data {
	t.Helper()
	dir := t.TempDir()
	w, err := Create(dir, Table{Layout: layout, Rows: rows, Columns: everyDType})
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, uint64(rows)))
	for i, c := range everyDType {
		switch d := w.Column(i, Random); c.DType.Plain() {
		case Float16:
			scatter(d, r, HalfOf(math.NaN()), func() Half { return HalfOf(r.NormFloat64() * 100) })
		case Float32:
			scatter(d, r, float32(math.NaN()), func() float32 { return float32(r.NormFloat64()) })
		case Float64:
			scatter(d, r, math.NaN(), func() float64 {
				return []float64{r.NormFloat64(), math.Inf(1), math.Inf(-1),
					0}[max(0, r.IntN(40)-36)]
			})
		case Int32:
			scatter(d, r, -1, func() int32 { return int32(r.IntN(2)) })
		case Int64:
			scatter(d, r, math.MinInt64, func() int64 { return int64(r.Uint64()) })
		default:
			fill(d, i)
		}
	}
	if _, err := w.Finish(Final{
		ItemID: []string{"symbol"}, Time: "t",
		Vocab: map[string][]string{"symbol": {"MSFT", "AAPL"}, "q": {"tech", "food"}},
		Items: Items{Offsets: []int64{0, rows / 2, rows},
			Values: []ItemValues{{Name: "symbol", Texts: []string{"MSFT", "AAPL"}}}},
	}); err != nil {
		t.Fatal(err)
	}
	d, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// scatter stores values of draw, of which single ones and ranges of rows are replaced by missing.
func scatter[T Native](d ColumnWriter, r *rand.Rand, missing T, draw func() T) {
	v := Values[T](d)
	for row, missingRows := int64(0), 0; row < v.Rows; row++ {
		if missingRows--; r.IntN(500) == 0 {
			missingRows = r.IntN(3000)
		}
		for j := range v.Row(row) {
			if v.Row(row)[j] = draw(); missingRows > 0 || r.IntN(9) == 0 {
				v.Row(row)[j] = missing
			}
		}
	}
}

// bruteForce compares the values of a feature in rows from to to-1, one by one. It returns the
// extremes, and the number of missing values.
func bruteForce(t testing.TB, d *Data, c *ManifestColumn, feature, from, to int64) (least,
	greatest any, missing int64) {
	b, err := d.Dense(c, from, to)
	if err != nil {
		t.Fatal(err)
	}
	width := max(c.Width(), 1)
	value := func(v any) (f float64, i int64, u uint64) {
		switch x := reflect.ValueOf(v); {
		case v == "Infinity":
			return math.Inf(1), 0, 0
		case v == "-Infinity":
			return math.Inf(-1), 0, 0
		case x.CanFloat():
			return x.Float(), 0, 0
		case x.CanInt():
			return 0, x.Int(), 0
		default:
			return 0, 0, x.Uint()
		}
	}
	less := func(a, b any) bool {
		f, i, u := value(a)
		g, j, v := value(b)
		return f < g || i < j || u < v
	}
	dtype := c.DType
	if dtype == Bool {
		dtype = Uint8
	}
	for i, v := range Cells(dtype, b) {
		if int64(i)%width != feature {
			continue
		}
		if v == nil || c.DType == Text && v == any(int32(-1)) {
			missing++
			continue
		}
		if least == nil || less(v, least) {
			least = v
		}
		if greatest == nil || less(greatest, v) {
			greatest = v
		}
	}
	return least, greatest, missing
}

// TestExtremesEqualThoseOfARowByRowSearch summarises different ranges of rows, and compares the
// extremes of random ranges with bruteForce.
func TestExtremesEqualThoseOfARowByRowSearch(t *testing.T) {
	const rows = 7*summaryRows + 123
	for _, layout := range []string{Columns, Packed} {
		d := writeEdgeCases(t, layout, rows)
		r := rand.New(rand.NewPCG(3, 4))
		for i := range d.Manifest.Columns {
			c := &d.Manifest.Columns[i]
			for _, summary := range [][2]int64{{0, 0}, {0, rows}, {100, 100 + 5*summaryRows},
				{rows - 2*summaryRows - 1, rows}} {
				feature := r.Int64N(max(c.Width(), 1))
				f, err := d.Feature(c, feature)
				if err != nil {
					t.Fatal(err)
				}
				f.Summarise(summary[0], summary[1])
				for range 8 {
					bounds := []int64{r.Int64N(rows + 1)}
					for bounds[len(bounds)-1] < rows && len(bounds) < 6 {
						last := bounds[len(bounds)-1]
						bounds = append(bounds, last+r.Int64N(rows-last+1))
					}
					e := f.Extremes(bounds)
					for k := range len(bounds) - 1 {
						least, greatest, missing := bruteForce(t, d, c, feature, bounds[k],
							bounds[k+1])
						got := fmt.Sprintln(e.Min[k], e.Max[k], e.Missing[k])
						if want := fmt.Sprintln(least, greatest, missing); got != want {
							t.Fatalf("%s, column %q, feature %d, summary of %v, rows %d to %d: "+
								"%s want %s", layout, c.Name, feature, summary, bounds[k],
								bounds[k+1], got, want)
						}
					}
				}
			}
		}
	}
}

func TestNoRowsHaveNoExtremes(t *testing.T) {
	d := writeEdgeCases(t, Columns, 0)
	f, err := d.Feature(&d.Manifest.Columns[2], 0)
	if err != nil {
		t.Fatal(err)
	}
	f.Summarise(0, 0)
	if e := f.Extremes([]int64{0, 0}); e.Min[0] != nil || e.Max[0] != nil || e.Missing[0] != 0 {
		t.Errorf("%+v", e)
	}
}
