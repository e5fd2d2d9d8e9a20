package sampler_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/tensorcache/tensorcache/internal/testseed"
	"github.com/tensorcache/tensorcache/sampler"
	"github.com/tensorcache/tensorcache/window"
	"pgregory.net/rapid"
)

var _ sampler.Windows = (*window.Index)(nil)

var (
	orders = sampler.Orders()
	tails  = []string{"short", "wrap", "drop"}
)

// TestMain makes rapid check 500 cases of each property.
func TestMain(m *testing.M) {
	testseed.Checks(500)
	m.Run()
}

// drawList draws runs of windows, several of which may be of one item, and jumps.
func drawList(t *rapid.T) list {
	x := list{contiguous: true}
	item, begins := int64(0), int64(0)
	for range rapid.IntRange(1, 6).Draw(t, "runs") {
		count := rapid.Int64Range(1, 20).Draw(t, "windows")
		step := rapid.Int64Range(1, 2).Draw(t, "step")
		begins += rapid.Int64Range(0, 4).Draw(t, "begins")
		x.runs = append(x.runs, run{item, count})
		x.times = append(x.times, [2]int64{begins, step})
		next := rapid.Int64Range(0, 2).Draw(t, "next item")
		if item += next; next == 0 {
			begins += count * step // times ascend within an item
		} else {
			begins = 0
		}
	}
	x.jumps = rapid.SliceOfN(rapid.Int64Range(0, x.Len()-1), 0, 4).Draw(t, "jumps")
	return x
}

func drawSize(t *rapid.T) sampler.BatchSize {
	return sampler.BatchSize(rapid.Int64Range(1, 9).Draw(t, "batch_size"))
}

// drawOptions draws valid options for the windows of x.
func drawOptions(t *rapid.T, x list) sampler.Options {
	o := sampler.Options{
		Order:       rapid.SampledFrom(orders).Draw(t, "order"),
		Seed:        rapid.Uint64().Draw(t, "seed"),
		BatchSize:   drawSize(t),
		NumReplicas: rapid.Int64Range(1, 4).Draw(t, "num_replicas"),
		Tail:        rapid.SampledFrom(tails).Draw(t, "tail"),
	}
	if isOfGroups(o.Order) {
		if rapid.Bool().Draw(t, "whole groups") {
			o.BatchSize = sampler.WholeGroups
		}
		largest := 0
		for _, group := range x.byTime() {
			largest = max(largest, len(group))
		}
		o.MinItems = rapid.Int64Range(0, int64(largest)).Draw(t, "min_items")
	}
	if o.Order == "bootstrap" && rapid.Bool().Draw(t, "weighted") {
		o.Weights.Name = rapid.SampledFrom([]string{"", sampler.EvenWeights}).Draw(t, "name")
	}
	if o.Order == "bootstrap" && o.Weights.Name == "" && rapid.Bool().Draw(t, "by item") {
		for range x.runs[len(x.runs)-1].item + 1 {
			o.Weights.Items = append(o.Weights.Items,
				rapid.SampledFrom([]float64{0, 0.5, 1, 3}).Draw(t, "weight"))
		}
		o.Weights.Items[x.runs[0].item] = 2
	}
	return o
}

// everyRank returns one sampler for each rank, or nil if an epoch may have no step.
func everyRank(t *rapid.T, x list, o sampler.Options) []*sampler.Sampler {
	var ranks []*sampler.Sampler
	for o.Rank = range o.NumReplicas {
		s, err := sampler.New(x, o)
		if errors.Is(err, sampler.ErrNoBatches) && o.Tail == "drop" {
			return nil
		}
		if err != nil {
			t.Fatal(err)
		}
		ranks = append(ranks, s)
	}
	return ranks
}

// TestBatchesEqualThoseOfTheOracle reads an epoch from any entry, and compares every batch of
// every rank with the oracle. Steps and End must be those of the batches.
func TestBatchesEqualThoseOfTheOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawList(t)
		o := drawOptions(t, x)
		epoch := rapid.Uint64Range(0, 5).Draw(t, "epoch")
		ranks := everyRank(t, x, o)
		if ranks == nil {
			return
		}
		entries := epochWindows(x, o, epoch)
		consumed := int64(0)
		if o.Order != "lanes" {
			consumed = rapid.Int64Range(0, int64(len(entries))).Draw(t, "consumed")
		}
		steps := make([]int64, len(ranks))
		for r, s := range ranks {
			steps[r] = s.Steps(epoch, consumed)
		}
		end := ranks[0].End(epoch, consumed)
		var b sampler.Batch
		before := make([][]int64, len(ranks))
		for {
			want, next := step(entries, o, consumed)
			for r, s := range ranks {
				err := s.Batch(&b, epoch, consumed)
				if want == nil {
					if !errors.Is(err, sampler.ErrEpochEnd) || len(b.Windows) > 0 ||
						b.Next != consumed {
						t.Fatalf("after the last step: %+v, %v", b, err)
					}
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(b.Windows, want[r]) || b.Next != next {
					t.Fatalf("rank %d at %d: %+v, want %v and next %d", r, consumed, b,
						want[r], next)
				}
				if len(b.Windows) > 0 {
					steps[r]--
				}
				if o.Order == "lanes" {
					checkReset(t, x, b, before[r])
					before[r] = slices.Clone(b.Windows)
				} else if len(b.Reset) > 0 {
					t.Fatalf("reset %v in order %s", b.Reset, o.Order)
				}
			}
			if want == nil {
				break
			}
			consumed = next
		}
		if consumed != end {
			t.Fatalf("the epoch ends at %d, but End returned %d", consumed, end)
		}
		for r, left := range steps {
			if left != 0 {
				t.Fatalf("Steps of rank %d is off by %d", r, left)
			}
		}
	})
}

// TestRankSharesEqualTheServedBatches counts the batches and windows of each rank in an epoch, and
// compares them with Ranks and LastBatch.
func TestRankSharesEqualTheServedBatches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawList(t)
		o := drawOptions(t, x)
		epoch := rapid.Uint64Range(0, 5).Draw(t, "epoch")
		var want []sampler.RankShare
		ranks := everyRank(t, x, o)
		for r, s := range ranks {
			var share sampler.RankShare
			var b sampler.Batch
			last := int64(0)
			for s.Batch(&b, epoch, b.Next) == nil {
				if n := int64(len(b.Windows)); n > 0 {
					share.Batches, share.Windows, last = share.Batches+1, share.Windows+n, n
				}
			}
			if got := s.LastBatch(epoch); got != last {
				t.Fatalf("the last batch of rank %d has %d windows, got %d", r, last, got)
			}
			want = append(want, share)
		}
		most := rapid.Int64Range(0, 5).Draw(t, "most")
		for r, s := range ranks {
			if got := s.Ranks(epoch, most); !slices.Equal(got, want[:min(len(want), int(most))]) {
				t.Fatalf("rank %d: got %+v, want the first %d of %+v", r, got, most, want)
			}
		}
	})
}

// TestRankSharesAreComputedWithoutListingWindows computes the shares of 2⁵¹ windows. To list them
// would take years.
func TestRankSharesAreComputedWithoutListingWindows(t *testing.T) {
	x := list{runs: []run{{0, 1 << 50}, {1, 1<<50 + 1}}}
	for _, order := range []string{"sequential", "shuffle", "bootstrap", "random_start"} {
		for _, size := range []sampler.BatchSize{1, 3, 1000} {
			s, err := sampler.New(x, sampler.Options{Order: order, BatchSize: size, NumReplicas: 7,
				Tail: "short"})
			if err != nil {
				t.Fatal(err)
			}
			sum := int64(0)
			for _, share := range s.Ranks(0, 7) {
				sum += share.Windows
			}
			if sum != x.Len() {
				t.Errorf("%s of %d: shares of %d windows, want %d", order, size, sum, x.Len())
			}
		}
	}
}

// checkReset compares Reset with the windows of two batches: a row continues if its window is the
// next one of the same run, without a jump between them.
func checkReset(t *rapid.T, x list, b sampler.Batch, before []int64) {
	for i, w := range b.Windows {
		continues := false
		for j := range x.runs {
			_, first, count := x.RunAt(j)
			continues = continues || before != nil && before[i]+1 == w && before[i] >= first &&
				w < first+count && !slices.Contains(x.jumps, w)
		}
		if b.Reset[i] == continues {
			t.Fatalf("row %d: reset is %t at window %d after %v", i, b.Reset[i], w, before)
		}
	}
}

// readBatches reads the batches of all ranks from consumed, for a number of steps, or to the end of
// the epoch if steps is −1.
func readBatches(t *rapid.T, ranks []*sampler.Sampler, epoch uint64, consumed,
	steps int64) (served []int64, next int64) {
	var b sampler.Batch
	for steps != 0 {
		next := consumed
		for _, s := range ranks {
			if err := s.Batch(&b, epoch, consumed); errors.Is(err, sampler.ErrEpochEnd) {
				return served, consumed
			} else if err != nil {
				t.Fatal(err)
			}
			served = append(served, b.Windows...)
			next = b.Next
		}
		consumed = next
		steps--
	}
	return served, consumed
}

// TestAnyRankCountResumesACursorOfAnother interrupts an epoch several times, and resumes it with
// other numbers of ranks and other batch sizes. All parts together must be the whole epoch.
func TestAnyRankCountResumesACursorOfAnother(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawList(t)
		o := drawOptions(t, x)
		o.Tail = "short"
		epoch := rapid.Uint64Range(0, 3).Draw(t, "epoch")
		whole, _ := readBatches(t, everyRank(t, x, o), epoch, 0, -1)
		var served []int64
		consumed := int64(0)
		for range 4 {
			ranks := everyRank(t, x, o)
			part, next := readBatches(t, ranks, epoch, consumed,
				rapid.Int64Range(0, 3).Draw(t, "steps"))
			served, consumed = append(served, part...), next
			cursor := ranks[0].Cursor("digest", "spec", epoch, consumed)
			data, err := json.Marshal(cursor)
			if err != nil {
				t.Fatal(err)
			}
			if o.Order == "lanes" { // batch_size · num_replicas must not change
				o.BatchSize, o.NumReplicas = sampler.BatchSize(o.NumReplicas), int64(o.BatchSize)
			} else {
				o.NumReplicas = rapid.Int64Range(1, 5).Draw(t, "num_replicas")
				if !isOfBlocks(o.Order) {
					o.BatchSize = drawSize(t)
				}
			}
			read, err := sampler.ParseCursor(data)
			if err != nil || read != cursor {
				t.Fatalf("%s is read as %+v: %v", data, read, err)
			}
			if err := everyRank(t, x, o)[0].Check(read, "digest", "spec"); err != nil {
				t.Fatal(err)
			}
		}
		rest, end := readBatches(t, everyRank(t, x, o), epoch, consumed, -1)
		served = append(served, rest...)
		if total := everyRank(t, x, o)[0].Total(epoch); end != total {
			t.Fatalf("ended at %d, want %d", end, total)
		}
		slices.Sort(served)
		slices.Sort(whole)
		if !slices.Equal(served, whole) {
			t.Fatalf("served %v, want %v", served, whole)
		}
	})
}

func TestAnEpochVisitsEachWindowOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawList(t)
		o := drawOptions(t, x)
		o.Tail = "short"
		served, _ := readBatches(t, everyRank(t, x, o), rapid.Uint64().Draw(t, "epoch"), 0, -1)
		want := make([]int64, 0, x.Len())
		for w := range x.Len() {
			want = append(want, w)
		}
		if isOfGroups(o.Order) {
			want = want[:0]
			for _, group := range visitedGroups(x, o) {
				for _, w := range group {
					want = append(want, int64(w))
				}
			}
			slices.Sort(want)
		}
		if len(served) != len(want) {
			t.Fatalf("%d windows, want %d", len(served), len(want))
		}
		if slices.Sort(served); o.Order != "bootstrap" && !slices.Equal(served, want) {
			t.Fatalf("served %v, want %v", served, want)
		}
	})
}
