package calendar

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	_ "github.com/tensorcache/tensorcache/internal/testseed" // for rapid
	"github.com/tensorcache/tensorcache/internal/timezone"
)

// naive computes a feature with package time.
func naive(name string, t time.Time) float64 {
	_, week := t.ISOWeek()
	switch name {
	case "second":
		return float64(t.Second())
	case "minute":
		return float64(t.Minute())
	case "hour":
		return float64(t.Hour())
	case "dayofweek":
		return float64((t.Weekday() + 6) % 7)
	case "day":
		return float64(t.Day())
	case "dayofyear":
		return float64(t.YearDay())
	case "weekofyear":
		return float64(week)
	case "month":
		return float64(t.Month())
	case "quarter":
		return float64((t.Month() + 2) / 3)
	}
	return float64(t.Year())
}

// lists returns n lists for the values of rows.
func lists(n, rows int) [][]float32 {
	out := make([][]float32, n)
	for i := range out {
		out[i] = make([]float32, rows)
	}
	return out
}

func TestFeaturesEqualThoseOfPackageTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := []string{"", "Europe/Berlin", "America/New_York", "Asia/Kolkata",
			"+05:30", "-0800"}
		name := rapid.SampledFrom(names).Draw(t, "zone")
		zone, ok := timezone.Find(name)
		if !ok {
			t.Fatalf("zone %q is unknown", name)
		}
		unit := rapid.SampledFrom([]string{"s", "ms", "us", "ns"}).Draw(t, "unit")
		perSecond := units[unit]
		seconds := rapid.SliceOfN(rapid.Int64Range(-5e9, 5e9), 1, 20).Draw(t, "times")
		near := rapid.SliceOfN(rapid.Int64Range(0, 2e5), 0, 400).Draw(t, "times of some days")
		slices.Sort(near)
		for _, s := range near {
			seconds = append(seconds, seconds[0]+s)
		}
		times := make([]int64, len(seconds))
		for i, s := range seconds {
			times[i] = s*perSecond + rapid.Int64Range(0, perSecond-1).Draw(t, "fraction")
		}
		var columns []Column
		for _, f := range features {
			names := []string{f.name}
			if f.period > 0 {
				names = append(names, f.name+"_sin", f.name+"_cos", f.name+"_unit")
			}
			for _, name := range names {
				c, ok := Of(name)
				if !ok {
					t.Fatalf("%s is no feature", name)
				}
				columns = append(columns, c)
			}
		}
		var clock Clock
		values, out := NewValues(columns, unit, zone), lists(len(columns), len(times))
		values.Of(&clock, times, 0, out)
		for row, s := range seconds {
			for i, c := range columns {
				want := naive(c.feature.name, time.Unix(s, 0).In(zone))
				from, period := want-float64(c.feature.least), float64(c.feature.period)
				switch _, form, _ := strings.Cut(c.Name, "_"); form {
				case "sin":
					want = math.Sin(2 * math.Pi * from / period)
				case "cos":
					want = math.Cos(2 * math.Pi * from / period)
				case "unit":
					want = from/(period-1) - 0.5
				}
				if got := out[i][row]; got != float32(want) {
					t.Errorf("%s of %d s in %q is %v, want %v", c.Name, s, name, got, want)
				}
			}
		}
	})
}

func TestNamesOfNoFeature(t *testing.T) {
	for _, name := range []string{"", "millisecond", "year_sin", "year_unit", "age_unit", "hour_",
		"hour_sin_sin", "_unit", "hour_sincos", "Hour"} {
		if _, ok := Of(name); ok {
			t.Errorf("%q is a feature", name)
		}
	}
}

func TestAgeIsTheNearestFloat(t *testing.T) {
	c, _ := Of(Age)
	var clock Clock
	values, out := NewValues([]Column{c}, "s", time.UTC), lists(1, 1)
	for row, want := range map[int64]float32{0: 0.30103, 1: 0.47712126, 98: 2, 99: 2.0043213} {
		if values.Of(&clock, []int64{0}, row, out); out[0][0] != want || c.IsOfTime() {
			t.Errorf("the age of row %d is %v, want %v", row, out[0][0], want)
		}
	}
}
