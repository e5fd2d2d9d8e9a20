package calendar

import (
	"context"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	_ "github.com/tensorcache/tensorcache/internal/testseed" // for rapid
	"github.com/tensorcache/tensorcache/internal/timezone"
	"github.com/tensorcache/tensorcache/layout"
)

// naive computes a feature with package time.
func naive(name string, t time.Time) float64 {
	_, week := t.ISOWeek()
	switch name {
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

func TestFeaturesEqualThoseOfPackageTime(t *testing.T) {
	units := map[string]int64{"s": 1, "ms": 1e3, "us": 1e6, "ns": 1e9}
	rapid.Check(t, func(t *rapid.T) {
		names := []string{"", "Europe/Berlin", "America/New_York", "Asia/Kolkata",
			"+05:30", "-0800"}
		name := rapid.SampledFrom(names).Draw(t, "zone")
		zone, ok := timezone.Find(name)
		if !ok {
			t.Fatalf("zone %q is unknown", name)
		}
		perSecond := units[rapid.SampledFrom([]string{"s", "ms", "us", "ns"}).Draw(t, "unit")]
		seconds := rapid.SliceOfN(rapid.Int64Range(-5e9, 5e9), 1, 20).Draw(t, "times")
		times := make([]int64, len(seconds))
		for i, s := range seconds {
			times[i] = s*perSecond + rapid.Int64Range(0, perSecond-1).Draw(t, "fraction")
		}
		var featureNames []string
		for _, f := range features {
			if featureNames = append(featureNames, f.name); f.period > 0 {
				featureNames = append(featureNames, f.name+"_sincos")
			}
		}
		columns, err := Parse(featureNames)
		if err != nil {
			t.Fatal(err)
		}
		rows := int64(len(times))
		to := make([]layout.Strided[float32], len(columns))
		for i := range to {
			to[i] = layout.Strided[float32]{Data: make([]float32, rows), Step: 1,
				Width: 1, Rows: rows}
		}
		in := layout.Strided[int64]{Data: times, Step: 1, Width: 1, Rows: rows}
		if err := Fill(context.Background(), 2, columns, to, in, perSecond, zone); err != nil {
			t.Fatal(err)
		}
		for i, c := range columns {
			for row, s := range seconds {
				want := naive(c.feature.name, time.Unix(s, 0).In(zone))
				if c.wave != nil {
					want = c.wave(2 * math.Pi * (want - float64(c.feature.least)) / float64(
						c.feature.period))
				}
				if got := to[i].Data[row]; got != float32(want) {
					t.Errorf("%s of %d s in %q is %v, want %v", c.Name, s, name, got, want)
				}
			}
		}
	})
}

func TestUnknownFeaturesAreRefused(t *testing.T) {
	for _, names := range [][]string{{"second"}, {"year_sin"}, {"hour", "hour"},
		{"hour_sin", "hour_sincos"}, {""}} {
		if c, err := Parse(names); err == nil {
			t.Errorf("%q is accepted with %d columns", names, len(c))
		}
	}
}
