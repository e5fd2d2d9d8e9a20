package window_test

import (
	"testing"

	"github.com/tensorcache/tensorcache/window"
	"pgregory.net/rapid"
)

// A jump between two windows rejects neither, so they are in one run. But the second window does
// not continue the first.
func TestAJumpBetweenTwoWindowsDoesNotDivideARun(t *testing.T) {
	times := []int64{0, 1, 2, 3, 100, 101, 102, 103}
	tab := window.Table{Offsets: []int64{0, 8}, Times: times}
	spec := window.Spec{ContextLength: 2, Stride: 2, MaxStep: window.Ticks(1)}
	x, err := window.New(spec, tab)
	if err != nil {
		t.Fatal(err)
	}
	if len(x.Runs()) != 1 || x.Len() != 4 {
		t.Errorf("runs %v", x.Runs())
	}
	for n, want := range []bool{false, true, false, true} {
		if got := x.Continues(int64(n)); got != want {
			t.Errorf("window %d continues: %t", n, got)
		}
	}
	spec.MaxStep = window.Ticks(97)
	if x, err = window.New(spec, tab); err != nil || !x.Continues(2) {
		t.Errorf("a step of 97 is a jump: %v", err)
	}
}

func TestContinuesAgreesWithTheRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tab := drawTableOf(t, between(1, 3), between(4, 34))
		o := &oracle{drawSpec(t, tab), tab}
		if rapid.Bool().Draw(t, "context only") {
			o.spec.PredictionLength, o.spec.Gap, o.spec.Overlap = 0, 0, 0
		}
		d := or1(o.spec.Dilation)
		o.spec.Stride = o.spec.ContextLength * d
		var cuts []window.Cut
		if rapid.Bool().Draw(t, "cut") {
			cuts = drawCuts(t, tab)
		}
		if n := len(cuts); n > 0 && cuts[n-1].Latest {
			cuts = cuts[:n-1]
		}
		x, err := window.Apply(o.spec, tab, cuts)
		if err != nil {
			t.Fatal(err)
		}
		if !x.Contiguous() {
			t.Fatal("not contiguous")
		}
		var before window.Place
		for n, p := range o.index(cuts).places {
			end := before.Start + (o.spec.ContextLength-1)*d // the last context row
			first, _ := o.admitted(p.Item)
			want := n > 0 && before.Item == p.Item && p.Start == end+d &&
				!o.jumps(p.Item, end, p.Start, first)
			if got := x.Continues(int64(n)); got != want {
				t.Fatalf("%v continues %v: %t, want %t", p, before, got, want)
			}
			before = p
		}
	})
}
