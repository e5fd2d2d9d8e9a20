package ingest

import (
	mathbits "math/bits"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
)

func TestSamplesAreDrawnFromTheFitRows(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		f := &fitting{}
		var row, all int64
		for range rapid.IntRange(1, 5).Draw(r, "items") {
			low := row + rapid.Int64Range(0, 5).Draw(r, "before")
			high := low + rapid.Int64Range(0, 90).Draw(r, "rows")
			f.low, f.high, row, all = append(f.low, low), append(f.high, high), high+2, all+high-low
		}
		f.sampled = make([]uint64, row/64+1)
		n, perItem := rapid.Int64Range(1, 100).Draw(r, "n"), rapid.Bool().Draw(r, "per item")
		f.draw(n, rapid.Int64().Draw(r, "seed"), perItem)
		total, inside := 0, int64(0)
		for _, word := range f.sampled {
			total += mathbits.OnesCount64(word)
		}
		for i := range f.low {
			own := int64(0)
			for at := f.low[i]; at < f.high[i]; at++ {
				own += int64(f.sampled[at/64] >> (at % 64) & 1)
			}
			if want := min(n, f.high[i]-f.low[i]); perItem && own != want {
				r.Fatalf("item %d: %d rows, want %d", i, own, want)
			}
			inside += own
		}
		if inside != int64(total) || !perItem && inside != min(n, all) {
			r.Fatalf("%d rows, %d of them fit rows; want %d of %d", total, inside, n, all)
		}
	})
}

func TestEveryRowIsAsLikelyInASample(t *testing.T) {
	var hits [8]int
	for seed := range int64(4000) {
		f := &fitting{low: []int64{0}, high: []int64{8}, sampled: make([]uint64, 1)}
		f.draw(2, seed, false)
		for row := range hits {
			hits[row] += int(f.sampled[0] >> row & 1)
		}
	}
	for row, n := range hits { // 1000 expected, deviation 27
		if n < 850 || n > 1150 {
			t.Errorf("row %d was drawn %d times of 4000, want about 1000", row, n)
		}
	}
}

func TestTimesOfARecipeHaveOneForm(t *testing.T) {
	recipe := func(before string) string {
		b, err := option.Options{Time: "t", Scale: option.All(option.ScaleStandard), FitBefore: []byte(before)}.Recipe()
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for _, same := range []string{`"2020-01-03T00:00:00"`, `"2020-01-03 00:00:00Z"`, `"2020-01-03T01:00:00+01:00"`} {
		if got, want := recipe(same), recipe(`"2020-01-03"`); got != want {
			t.Errorf("%s gives %s, want %s", same, got, want)
		}
	}
	if recipe(`5`) == recipe(`6`) || recipe(`null`) != recipe(``) {
		t.Error("integers, or none, are taken for others")
	}
	_, _, err := inProcess(t, option.Options{Sources: []string{loadtest.File(t, "x.csv", "t,a\n1,2\n")}, Time: "t", Scale: option.All(option.ScaleStandard), FitBefore: []byte(`"2020-01-03"`)})
	loadtest.Refused(t, err, `fit_before: "2020-01-03T00:00:00Z": want an integer`, "")
	if err := (option.Options{Time: "t", Scale: option.All(option.ScaleStandard), FitBefore: []byte(`"yesterday"`)}).Validate(); err == nil || !strings.Contains(err.Error(), `fit_before: "yesterday": want a time like`) {
		t.Errorf("%v", err)
	}
}
