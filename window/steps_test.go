package window_test

import (
	"errors"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/tensorcache/tensorcache/window"
)

func TestLargestStepsChangeNoWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Items inside one block of rows, at its ends, and in several blocks.
		lengths := rapid.SliceOfN(rapid.SampledFrom([]int64{0, 1, 2, 7, 500, 511, 512, 513, 1025}),
			1, 6).Draw(t, "lengths")
		tab := window.Table{Offsets: []int64{0}}
		for _, n := range lengths {
			tab.Offsets = append(tab.Offsets, tab.Offsets[len(tab.Offsets)-1]+n)
		}
		rows := tab.Offsets[len(lengths)]
		jumps := rapid.MapOfN(rapid.Int64Range(0, rows), rapid.SampledFrom([]int64{1, 2, 5}), 0, 8).
			Draw(t, "jumps")
		tab.Times = make([]int64, rows)
		for i := range lengths {
			at := int64(-3 * int64(i))
			for row := tab.Offsets[i]; row < tab.Offsets[i+1]; row++ {
				at += 1 + jumps[row]
				tab.Times[row] = at
			}
		}
		spec := window.Spec{
			ContextLength:    between(1, 5).Draw(t, "context_length"),
			PredictionLength: between(0, 3).Draw(t, "prediction_length"),
			Stride:           between(1, 3).Draw(t, "stride"),
			MaxStep:          window.Ticks(between(1, 7).Draw(t, "max_step")),
		}
		if rapid.Bool().Draw(t, "bounded") {
			spec.Rows = window.Rows(between(0, 520).Draw(t, "from"),
				between(521, 1100).Draw(t, "to"))
		}
		want, err := window.New(spec, tab)
		if err != nil {
			t.Fatal(err)
		}
		if tab.LargestSteps, err = window.LargestSteps(&tab); err != nil {
			t.Fatal(err)
		}
		got, err := window.New(spec, tab)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got.Runs(), want.Runs()) ||
			!reflect.DeepEqual(got.Rejected(), want.Rejected()) {
			t.Fatalf("got %v, %v; want %v, %v", got.Runs(), got.Rejected(), want.Runs(),
				want.Rejected())
		}
	})
}

func TestLargestStepsRefuseTimesThatDoNotAscend(t *testing.T) {
	tab := window.Table{Offsets: []int64{0, 2, 5}, Times: []int64{7, 8, 3, 4, 4}}
	_, err := window.LargestSteps(&tab)
	if want := "invalid table: item 1, row 2: time 4 after 4, want ascending"; !errors.Is(err,
		window.ErrTable) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	tab.LargestSteps = []uint64{1, 1}
	if _, err := window.New(window.Spec{ContextLength: 1}, tab); !errors.Is(err, window.ErrTable) {
		t.Errorf("two blocks for five rows: got %v", err)
	}
}
