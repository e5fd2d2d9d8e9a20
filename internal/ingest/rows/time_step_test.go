package rows

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/tensorcache/tensorcache/internal/testseed" // for rapid
	"github.com/tensorcache/tensorcache/layout"
)

// timesOf returns keys with a time column and no item_id column.
func timesOf(times []int64) *Keys {
	return &Keys{Time: &layout.Strided[int64]{Data: times, Step: 1, Width: 1,
		Rows: int64(len(times))}}
}

func TestTimeStepEqualsANaiveCount(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var times []int64
		offsets := []int64{0}
		counts := map[int64]int64{}
		var pairs, largest int64
		for range rapid.IntRange(1, 5).Draw(r, "items") {
			times = append(times, rapid.Int64Range(-50, 50).Draw(r, "first"))
			for _, d := range rapid.SliceOfN(rapid.Int64Range(1, 4), 0, 20).Draw(r, "steps") {
				times = append(times, times[len(times)-1]+d)
				counts[d]++
				pairs, largest = pairs+1, max(largest, d)
			}
			offsets = append(offsets, int64(len(times)))
		}
		got := TimeStep(timesOf(times), offsets)
		if pairs == 0 {
			if got != nil {
				r.Fatalf("%+v of items with one row each, want nil", got)
			}
			return
		}
		want := layout.TimeStep{Largest: largest}
		for d := int64(4); d > 0; d-- {
			if counts[d] >= counts[want.Step] {
				want.Step = d
			}
		}
		want.Jumps = pairs - counts[want.Step]
		if *got != want {
			r.Fatalf("%+v, want %+v", *got, want)
		}
	})
}

// TestTimeStepOfManyRowsCountsEveryJump uses more rows than the sample has. Two thirds of the
// differences are 1.
func TestTimeStepOfManyRowsCountsEveryJump(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	times := make([]int64, 4*samples*sampleRows)
	var jumps int64
	for i := range times[1:] {
		d := int64(1)
		if random.IntN(3) == 0 {
			d = 2 + random.Int64N(1000)
			jumps++
		}
		times[i+1] = times[i] + d
	}
	if got := TimeStep(timesOf(times), []int64{0, int64(len(times))}); got.Step != 1 ||
		got.Jumps != jumps || got.Largest > 1001 {
		t.Errorf("%+v, want a step of 1 and %d jumps", got, jumps)
	}
	// Items of one row, and at the end one item of two rows that no sample contains.
	single := make([]int64, len(times)+1)
	single[len(times)-1], single[len(times)] = math.MinInt64, math.MaxInt64
	offsets := make([]int64, 0, len(single))
	for i := range len(times) {
		offsets = append(offsets, int64(i))
	}
	got := TimeStep(timesOf(single), append(offsets, int64(len(single))))
	if want := (layout.TimeStep{Step: math.MaxInt64, Largest: math.MaxInt64}); *got != want {
		t.Errorf("%+v, want %+v", *got, want)
	}
}
