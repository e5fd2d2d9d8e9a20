package sampler_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/tensorcache/tensorcache/sampler"
	"github.com/tensorcache/tensorcache/window"
)

func TestInvalidOptionsNameTheField(t *testing.T) {
	x := list{runs: []run{{0, 10}, {3, 10}}}
	for _, c := range []struct {
		o     sampler.Options
		field string
	}{
		{sampler.Options{}, "batch_size"},
		{sampler.Options{BatchSize: -1}, "batch_size"},
		{sampler.Options{BatchSize: math.MaxInt64}, "batch_size"},
		{sampler.Options{BatchSize: 1, NumReplicas: -1}, "num_replicas"},
		{sampler.Options{BatchSize: 1 << 40, NumReplicas: 1 << 40}, "num_replicas"},
		{sampler.Options{BatchSize: 1, Rank: 1}, "rank"},
		{sampler.Options{BatchSize: 1, Rank: -1, NumReplicas: 2}, "rank"},
		{sampler.Options{BatchSize: 1, Order: "random"}, "order"},
		// x is not contiguous, so that no window continues another.
		{sampler.Options{BatchSize: 1, Order: "lanes"}, "order"},
		{sampler.Options{BatchSize: 1, Tail: "keep"}, "tail"},
		{sampler.Options{BatchSize: 1, Weights: sampler.Weights{Items: []float64{1}}}, "weights"},
		{sampler.Options{BatchSize: 1, Order: "bootstrap", Weights: sampler.Weights{Items: []float64{1, 1}}}, "weights"},
		{sampler.Options{BatchSize: 1, Order: "bootstrap", Weights: sampler.Weights{Items: []float64{0, 1, 1, 0}}},
			"weights"},
		{sampler.Options{BatchSize: 1, Order: "bootstrap", Weights: sampler.Weights{Items: []float64{1, -1, 1, 1}}},
			"weights[1]"},
		{sampler.Options{BatchSize: 1, Order: "bootstrap", Weights: sampler.Weights{Items: []float64{1, math.NaN()}}},
			"weights[1]"},
		{sampler.Options{BatchSize: 1, Weights: sampler.Weights{Name: "even"}}, "weights"},
		{sampler.Options{BatchSize: 1, Order: "bootstrap", Weights: sampler.Weights{Name: "evn"}}, "weights"},
		{sampler.Options{BatchSize: 1, Order: "bootstrap",
			Weights: sampler.Weights{Name: "even", Items: []float64{1, 1, 1, 1}}}, "weights"},
	} {
		_, err := sampler.New(x, c.o)
		var e *sampler.OptionError
		if !errors.As(err, &e) || !errors.Is(err, sampler.ErrOptions) || e.Field != c.field {
			t.Errorf("%+v: %v, want it to name %s", c.o, err, c.field)
		}
	}
	for _, c := range []struct {
		x sampler.Windows
		o sampler.Options
	}{
		{list{}, sampler.Options{BatchSize: 1}},
		{x, sampler.Options{BatchSize: 7, NumReplicas: 3, Tail: "drop"}},
		{x, sampler.Options{BatchSize: 10, NumReplicas: 3, Tail: "drop", Order: "random_start"}},
	} {
		if _, err := sampler.New(c.x, c.o); !errors.Is(err, sampler.ErrNoBatches) {
			t.Errorf("%+v: %v", c.o, err)
		}
	}
}

func TestTailDefaultsToShortForOneRankAndWrapForMore(t *testing.T) {
	x := list{runs: []run{{0, 10}}}
	for replicas, want := range map[int64]string{0: "short", 1: "short", 2: "wrap"} {
		if got := mustNew(t, x,
			sampler.Options{BatchSize: 4, NumReplicas: replicas}).Options(); got.Tail != want ||
			got.Order != "sequential" {
			t.Errorf("%d replicas: %+v", replicas, got)
		}
	}
}

// epochOf returns the windows of every rank in one epoch.
func epochOf(t *testing.T, x sampler.Windows, o sampler.Options, epoch uint64) [][][]int64 {
	t.Helper()
	ranks := make([][][]int64, max(1, o.NumReplicas))
	for r := range ranks {
		o.Rank = int64(r)
		s := mustNew(t, x, o)
		var b sampler.Batch
		for c := int64(0); ; c = b.Next {
			if err := s.Batch(&b, epoch, c); errors.Is(err, sampler.ErrEpochEnd) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			if len(b.Windows) > 0 {
				ranks[r] = append(ranks[r], slices.Clone(b.Windows))
			}
		}
	}
	return ranks
}

func TestTailsOfNineWindows(t *testing.T) {
	x := list{runs: []run{{0, 9}}}
	for tail, want := range map[string]string{
		"short": "[[[0 1] [6]] [[2 3] [7]] [[4 5] [8]]]",
		"wrap":  "[[[0 1] [6 7]] [[2 3] [8 0]] [[4 5] [1 2]]]",
		"drop":  "[[[0 1]] [[2 3]] [[4 5]]]",
	} {
		if got := fmt.Sprint(
			epochOf(t, x, sampler.Options{BatchSize: 2, NumReplicas: 3, Tail: tail},
				0)); got != want {
			t.Errorf("%s: %s, want %s", tail, got, want)
		}
	}
	// The last step has two windows for three ranks, so that rank 2 has one batch fewer.
	x.runs[0].count = 8
	if got := fmt.Sprint(epochOf(t, x, sampler.Options{BatchSize: 2, NumReplicas: 3, Tail: "short"},
		0)); got != "[[[0 1] [6]] [[2 3] [7]] [[4 5]]]" {
		t.Errorf("short: %s", got)
	}
}

// TestBatchCountsEqualThoseOfKeras repeats test_basics of keras, timeseries_dataset_utils_test.py:
// 92 windows are 19 batches of 5, of which the last has 2.
func TestBatchCountsEqualThoseOfKeras(t *testing.T) {
	x, err := window.New(window.Spec{ContextLength: 9}, window.Table{Offsets: []int64{0, 100}})
	if err != nil {
		t.Fatal(err)
	}
	batches := epochOf(t, x, sampler.Options{BatchSize: 5}, 0)[0]
	if len(batches) != 19 || len(batches[18]) != 2 {
		t.Errorf("%d batches, the last of %d", len(batches), len(batches[len(batches)-1]))
	}
}

// TestRanksShareNoWindowAndHaveEquallyManyBatches checks that no window is served to two ranks, as
// tests/test_common/test_multi_device_training.py of neuralforecast does. With tail wrap or drop,
// all ranks must have equally many batches, so that no rank waits forever (Merlin, dataloader#75).
func TestRanksShareNoWindowAndHaveEquallyManyBatches(t *testing.T) {
	x := list{runs: []run{{0, 103}}}
	for _, tail := range tails {
		ranks := epochOf(t, x, sampler.Options{Order: "shuffle", BatchSize: 5, NumReplicas: 4,
			Tail: tail}, 1)
		seen := map[int64]int{}
		for _, batches := range ranks {
			for _, ws := range batches {
				for _, w := range ws {
					seen[w]++
				}
			}
			if tail != "short" && len(batches) != len(ranks[0]) {
				t.Errorf("%s: %d batches, rank 0 has %d", tail, len(batches), len(ranks[0]))
			}
		}
		repeats := 0
		for _, n := range seen {
			repeats += n - 1
		}
		if want := map[string]int{"short": 0, "wrap": 17, "drop": 0}[tail]; repeats != want {
			t.Errorf("%s: %d repeats, want %d", tail, repeats, want)
		}
	}
}

// TestBootstrapDrawsItemsByWeight counts how often items are drawn. The share of an item must be
// that of its windows, or of its weight. In darts#1123, short series are repeated instead.
func TestBootstrapDrawsItemsByWeight(t *testing.T) {
	x := list{runs: []run{{0, 1000}, {1, 3000}, {2, 500}, {2, 500}}}
	for _, c := range []struct {
		weights []float64
		want    [3]float64
	}{
		{nil, [3]float64{0.2, 0.6, 0.2}},
		{[]float64{1, 1, 1}, [3]float64{1. / 3, 1. / 3, 1. / 3}},
		{[]float64{0, 3, 1}, [3]float64{0, 0.75, 0.25}},
	} {
		var got [3]float64
		n := 0.0
		for epoch := range uint64(4) {
			for _, ws := range epochOf(t, x, sampler.Options{Order: "bootstrap", BatchSize: 50,
				Weights: sampler.Weights{Items: c.weights}}, epoch)[0] {
				for _, w := range ws {
					got[map[bool]int{w >= 1000: 1}[true]+map[bool]int{w >= 4000: 1}[true]]++
					n++
				}
			}
		}
		for i := range got {
			p := c.want[i]
			// 4.5 standard deviations of a binomial distribution: by chance once in 10⁵ tests.
			if math.Abs(got[i]-n*p) > 4.5*math.Sqrt(n*p*(1-p)) {
				t.Errorf("weights %v: item %d is drawn %v times of %v", c.weights, i, got[i], n)
			}
		}
	}
}

// TestLanesContinueUnlessReset reads epochs of lanes. The context of a window must begin where that
// of the previous window of its lane ends, unless Reset is true.
func TestLanesContinueUnlessReset(t *testing.T) {
	x, err := window.New(window.Spec{ContextLength: 4, Stride: 4},
		window.Table{Offsets: []int64{0, 200, 260, 300}})
	if err != nil {
		t.Fatal(err)
	}
	o := sampler.Options{Order: "lanes", BatchSize: 3, Seed: 5}
	s := mustNew(t, x, o)
	for epoch := range uint64(3) {
		var b sampler.Batch
		end := make([]window.Place, 3) // the end of the context of each lane
		resets := 0
		for c := int64(0); c < s.Total(epoch); c = b.Next {
			if err := s.Batch(&b, epoch, c); err != nil {
				t.Fatal(err)
			}
			for i, w := range b.Windows {
				p := x.Place(w)
				if b.Reset[i] == (c > 0 && p == end[i]) {
					t.Errorf("epoch %d, consumed %d, row %d: reset %t at %v after %v", epoch, c, i,
						b.Reset[i], p, end[i])
				}
				if b.Reset[i] {
					resets++
				}
				end[i] = window.Place{Item: p.Item, Start: p.Start + 4}
			}
		}
		if resets > 3+3+1 { // lanes, items, rotation
			t.Errorf("epoch %d: %d resets", epoch, resets)
		}
	}
	// One lane of one series has the windows of the series, rotated.
	one, err := window.New(window.Spec{ContextLength: 4, Stride: 4},
		window.Table{Offsets: []int64{0, 40}})
	if err != nil {
		t.Fatal(err)
	}
	var b sampler.Batch
	s = mustNew(t, one, sampler.Options{Order: "lanes", BatchSize: 1})
	resets := 0
	for c := int64(0); c < s.Total(0); c = b.Next {
		if err := s.Batch(&b, 0, c); err != nil {
			t.Fatal(err)
		}
		if b.Reset[0] {
			resets++
		}
	}
	if resets > 2 {
		t.Errorf("%d resets in one series", resets)
	}
}

func TestBatchAllocatesNothing(t *testing.T) {
	x := newGrouped(list{runs: []run{{0, 500}, {1, 40}, {2, 300}}, contiguous: true})
	for _, order := range orders {
		s := mustNew(t, x, sampler.Options{Order: order, BatchSize: 16, Rank: 1, NumReplicas: 2,
			Tail: "short"})
		var b sampler.Batch
		epoch, consumed := uint64(0), int64(0)
		once := func() {
			if err := s.Batch(&b, epoch, consumed); err != nil {
				epoch, consumed = epoch+1, 0
				return
			}
			consumed = b.Next
			s.Steps(epoch, consumed)
		}
		once()
		if allocs := testing.AllocsPerRun(1000, once); allocs > 0 {
			t.Errorf("%s: %v allocations a batch", order, allocs)
		}
	}
}

func BenchmarkBatch(b *testing.B) {
	for _, order := range orders {
		b.Run(order, func(b *testing.B) {
			x := newGrouped(list{runs: []run{{0, 16989}, {1, 16989}}, contiguous: true})
			s, err := sampler.New(x, sampler.Options{Order: order, BatchSize: 32})
			if err != nil {
				b.Fatal(err)
			}
			var batch sampler.Batch
			epoch, consumed, windows := uint64(0), int64(0), 0
			for b.Loop() {
				if s.Batch(&batch, epoch, consumed) != nil {
					epoch, consumed = epoch+1, 0
					continue
				}
				consumed = batch.Next
				windows += len(batch.Windows)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(windows), "ns/window")
		})
	}
}
