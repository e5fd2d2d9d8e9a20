package window_test

import (
	"slices"
	"testing"

	"github.com/tensorcache/tensorcache/window"
)

// These tests are documented cases of other libraries, each with its source.

func mustNew(t *testing.T, spec window.Spec, tab window.Table) *window.Index {
	t.Helper()
	x, err := window.New(spec, tab)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func mustWhere(t *testing.T, x *window.Index, w window.Where) *window.Index {
	t.Helper()
	y, err := x.Where(w)
	if err != nil {
		t.Fatal(err)
	}
	return y
}

func mustSplit(t *testing.T, x *window.Index, s window.Split) []*window.Index {
	t.Helper()
	parts, err := x.Split(s)
	if err != nil {
		t.Fatal(err)
	}
	return parts
}

// items returns a table of items with these lengths.
func items(lengths ...int64) window.Table {
	tab := window.Table{Offsets: []int64{0}}
	for _, n := range lengths {
		tab.Offsets = append(tab.Offsets, tab.Offsets[len(tab.Offsets)-1]+n)
	}
	return tab
}

func lengths(l ...int64) (list []*int64) {
	for i := range l {
		list = append(list, &l[i])
	}
	return list
}

func starts(x *window.Index) (list []int64) {
	for n := range x.Len() {
		list = append(list, x.Place(n).Start)
	}
	return list
}

// keras/src/utils/timeseries_dataset_utils_test.py and the docstring of
// timeseries_dataset_from_array: windows of sequence_length rows, without targets.
func TestKerasCounts(t *testing.T) {
	for _, c := range []struct{ rows, length, rate, stride, want int64 }{
		{100, 9, 1, 1, 92},
		{50, 10, 1, 1, 41},
		{100, 9, 2, 1, 84},
		{100, 9, 1, 3, 31},
		{99, 10, 2, 3, 27}, // docstring example 1; the last start is 78
		{99, 50, 2, 1, 1},  // keras#17392: Keras miscounted it, and its test too
	} {
		x := mustNew(t, window.Spec{ContextLength: c.length, Dilation: c.rate, Stride: c.stride},
			items(c.rows))
		if x.Len() != c.want {
			t.Errorf("%+v: %d windows", c, x.Len())
		}
		if last := x.Place(x.Len() - 1).Start; c.rows == 99 && c.length == 10 && last != 78 {
			t.Errorf("last start %d, want 78", last)
		}
	}
	// test_no_targets: 19 batches of 5, the last of 2. Ten rows with 7 targets: one row ahead.
	if x := mustNew(t, window.Spec{ContextLength: 3, PredictionLength: 1},
		items(10)); x.Len() != 7 {
		t.Errorf("%d windows with a target, want 7", x.Len())
	}
	// keras#21305 is a known defect: docstring example 2 (n 100, targets 10 rows later) has 81 of
	// the 90 windows that exist, because it shortens both inputs and targets.
	if x := mustNew(t, window.Spec{ContextLength: 10, PredictionLength: 1},
		items(100)); x.Len() != 90 {
		t.Errorf("%d windows, want 90", x.Len())
	}
}

// gluonts test/transform/test_transform.py, test_InstanceSplitter.
func TestGluonTSInstanceSplitter(t *testing.T) {
	for _, rows := range []int64{0, 13, 100, 130, 200} {
		for _, lead := range []int64{0, 1, 10, 20} {
			for _, padding := range []bool{false, true} {
				spec := window.Spec{ContextLength: 100, PredictionLength: 13, Gap: lead}
				want := rows - 13 - lead + 1
				if padding {
					spec.MinContext = ptr(int64(0))
				} else {
					want -= 100
				}
				x := mustNew(t, spec, items(rows))
				if x.Len() != max(0, want) {
					t.Errorf("%d rows, lead time %d, padding %t: %d windows, want %d", rows, lead,
						padding, x.Len(), max(0, want))
				}
			}
		}
	}
}

// gluonts test/dataset/test_split.py: OffsetSplitter(-7) trains on 93 and 43 rows of series of 100
// and 50; (-21) with three windows of 7 has test series that end at 86, 93, 100, 36, 43, 50.
func TestGluonTSOffsetSplitter(t *testing.T) {
	x := mustNew(t, window.Spec{ContextLength: 1, PredictionLength: 1}, items(100, 50))
	train := mustWhere(t, x, window.Where{Rows: &window.Bounds{To: ptr(int64(-7))}})
	for item, want := range []int64{93, 43} {
		if lo, hi := train.Range(int64(item)); lo != 0 || hi != want {
			t.Errorf("item %d trains on rows %d to %d, want %d", item, lo, hi, want)
		}
	}
	x = mustNew(t, window.Spec{ContextLength: 10, PredictionLength: 7, Stride: 7, Anchor: "end"},
		items(100, 50))
	test := mustWhere(t, x, window.Where{Rows: &window.Bounds{From: ptr(int64(-21))}})
	var ends []int64
	for _, s := range starts(test) {
		ends = append(ends, s+17)
	}
	if want := []int64{86, 93, 100, 36, 43, 50}; !slices.Equal(ends, want) {
		t.Errorf("test windows end at %v, want %v", ends, want)
	}
}

// pytorch-forecasting tests/test_data/test_timeseries.py, test_find_end_indices. The index has its
// windows of four rows without a jump. It also has shorter windows, which the index does not have.
func TestPyTorchForecastingEnds(t *testing.T) {
	diffs := []int64{1, 1, 1, 1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 1, 1, 1, 1, 1, 1}
	theirs := []int64{3, 4, 4, 5, 6, 8, 9, 10, 10, 10, 10, 14, 15, 15, 16, 17, 19, 20,
		21, 21, 21, 21}
	tab := items(11, 11)
	at := int64(0)
	for _, d := range diffs {
		tab.Times = append(tab.Times, at)
		at += d
	}
	x := mustNew(t, window.Spec{ContextLength: 3, PredictionLength: 1, MaxStep: window.Ticks(1)},
		tab)
	var want, got []window.Place
	for row, end := range theirs {
		if end-int64(row) == 3 {
			want = append(want, window.Place{Item: int64(row) / 11, Start: int64(row) % 11})
		}
	}
	for n := range x.Len() {
		got = append(got, x.Place(n))
	}
	if !slices.Equal(got, want) {
		t.Errorf("windows %v, want %v", got, want)
	}
}

// The same file, test_from_dataset_equivalence: more history does not change the last window.
func TestPyTorchForecastingMoreHistory(t *testing.T) {
	spec := window.Spec{ContextLength: 3, PredictionLength: 2, MinContext: ptr(int64(0))}
	long, short := mustNew(t, spec, items(60)), mustNew(t, spec, items(57))
	if a, b := long.Place(long.Len()-1), short.Place(short.Len()-1); a.Start != b.Start+3 {
		t.Errorf("last windows start at %d and %d", a.Start, b.Start)
	}
}

// darts darts/tests/utils/torch_datasets/test_torch_datasets.py. Its shift counts from the start of
// the input, and its stride from the end of the series.
func TestDartsCounts(t *testing.T) {
	shifted := window.Spec{ContextLength: 11, Gap: 24 - 11, PredictionLength: 13}
	if x := mustNew(t, shifted, items(100)); x.Len() != 64 {
		t.Errorf("input 11, output 13, shift 24: %d windows, want 64", x.Len())
	}
	// Series of 50 and 100: darts cycles the short one to the longest, 128 samples of which 50 are
	// repeats (darts#1123). Each window exists once.
	if x := mustNew(t, shifted, items(50, 100)); x.Len() != 14+64 {
		t.Errorf("two series: %d windows, want 78", x.Len())
	}
	x := mustNew(t, window.Spec{ContextLength: 14, MinContext: ptr(int64(2)), PredictionLength: 6},
		items(25))
	if x.Len() != 18 || x.Pad(x.Place(0)) != 12 {
		t.Errorf("input 2 to 14, output 6: %d windows, the first padded by %d, want 18 and 12",
			x.Len(), x.Pad(x.Place(0)))
	}
	if x := mustNew(t, window.Spec{ContextLength: 10, MinContext: ptr(int64(2)),
		PredictionLength: 4}, items(15)); x.Len() != 10 {
		t.Errorf("input 2 to 10, output 4: %d windows, want 10", x.Len())
	}
	stride2, stride3 := shifted, shifted
	stride2.Stride, stride2.Anchor = 2, window.AnchorEnd
	stride3.Stride, stride3.Anchor = 3, window.AnchorEnd
	if x := mustNew(t, stride2, items(100)); x.Len() != 32 {
		t.Errorf("stride 2: %d windows, want 32", x.Len())
	}
	all := starts(mustNew(t, shifted, items(100)))
	var third []int64
	for i := len(all) - 1; i >= 0; i -= 3 {
		third = append(third, all[i])
	}
	slices.Reverse(third)
	if got := starts(mustNew(t, stride3, items(100))); !slices.Equal(got, third) {
		t.Errorf("stride 3 starts at %v, want every third from the end %v", got, third)
	}
	// output_chunk_shift 2 with one step is the third step of three.
	one := starts(mustNew(t, window.Spec{ContextLength: 5, Gap: 2, PredictionLength: 1}, items(40)))
	three := starts(mustNew(t, window.Spec{ContextLength: 5, PredictionLength: 3}, items(40)))
	if !slices.Equal(one, three) {
		t.Errorf("shift 2 starts at %v, three steps at %v", one, three)
	}
}

// TSLib data_provider/data_loader.py: train, validation and test borders, the later two begin
// seq_len rows early. The counts follow from its len = rows − L − H + 1.
func TestTimeSeriesLibraryCounts(t *testing.T) {
	for _, c := range []struct {
		rows, context, horizon int64
		lengths                []*int64
		want                   []int64
	}{
		{17420, 96, 96, lengths(8640, 2880, 2880), []int64{8449, 2785, 2785}},
		{17420, 336, 96, lengths(8640, 2880, 2880), []int64{8209, 2785, 2785}},
		{69680, 96, 96, lengths(34560, 11520, 11520), []int64{34369, 11425, 11425}},
	} {
		x := mustNew(t, window.Spec{ContextLength: c.context, PredictionLength: c.horizon,
			Overlap: 48}, items(c.rows))
		border := int64(0)
		for i, part := range mustSplit(t, x, window.Split{Lengths: c.lengths}) {
			if part.Len() != c.want[i] {
				t.Errorf("%+v: part %d has %d windows", c, i, part.Len())
			}
			if first := part.Place(0).Start; first != max(0, border-c.context) {
				t.Errorf("%+v: part %d begins at %d, want %d", c, i, first,
					max(0, border-c.context))
			}
			border += *c.lengths[i]
		}
	}
}

// TorchRL test/rb/test_samplers.py, test_slice_sampler: episodes of 30, 25, 15 and 30 steps. Slices
// of 10 stay in one episode and contain all 100 steps. With strict_length, 2 steps have no slice of
// 10.
func TestTorchRLSlices(t *testing.T) {
	tab := items(30, 25, 15, 30, 2)
	x := mustNew(t, window.Spec{ContextLength: 10}, tab)
	reached := map[int64]bool{}
	for n := range x.Len() {
		p := x.Place(n)
		for row := p.Start; row < p.Start+10; row++ {
			if row < 0 || row >= tab.Offsets[p.Item+1]-tab.Offsets[p.Item] {
				t.Fatalf("%v leaves its episode", p)
			}
			reached[tab.Offsets[p.Item]+row] = true
		}
	}
	if x.Len() != 21+16+6+21 || len(reached) != 100 {
		t.Errorf("%d slices reach %d steps, want 64 and 100", x.Len(), len(reached))
	}
}

// petastorm petastorm/tests/test_ngram_end_to_end.py: ids 0, 3, 8, 10, 11, 20, 23, length 2,
// delta_threshold 4. Its own test loses (8, 10) at the edge of a row group (a known defect).
func TestPetastormNGrams(t *testing.T) {
	tab := items(7)
	tab.Times = []int64{0, 3, 8, 10, 11, 20, 23}
	x := mustNew(t, window.Spec{ContextLength: 1, PredictionLength: 1, MaxStep: window.Ticks(4)},
		tab)
	// (0,3) (8,10) (10,11) (20,23)
	if got, want := starts(x), []int64{0, 2, 3, 5}; !slices.Equal(got, want) {
		t.Errorf("n-grams begin at rows %v, want %v", got, want)
	}
}
