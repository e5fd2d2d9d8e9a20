package tensorcache

import (
	"testing"

	"github.com/tensorcache/tensorcache/window"
)

func TestNamedOnlyColumnsAreInWindowsOnlyWhereNamed(t *testing.T) {
	c := sharedDaemon(t)
	columns := func(namedOnly bool) []PutColumn {
		out := []PutColumn{
			Texts("id", []string{"x", "x", "x"}), Values("level", []int32{4, 5, 6}),
			Values("a", []float32{1, 2, 3}), Values("b", []float32{7, 8, 9}),
		}
		out[0].NamedOnly, out[1].NamedOnly = namedOnly, namedOnly
		return out
	}
	width := func(d *Dataset, spec window.Spec) int {
		t.Helper()
		defer d.Close()
		spec.ContextLength = 2
		f := must(NewFeed[float32](t.Context(), must(d.Windows(t.Context(), spec))(t),
			FeedOptions{BatchSize: 1}))(t)
		defer f.Close()
		for b, err := range f.Epoch(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			return b.Context.Shape[2]
		}
		t.Fatal("the epoch is empty")
		return 0
	}
	for _, l := range []string{"columns", "packed"} {
		o := LoadOptions{ItemID: []string{"id"}, Layout: l}
		put := func(namedOnly bool) *Dataset {
			return must(c.Put(t.Context(), "levels", columns(namedOnly), o))(t)
		}
		if got := width(put(false), window.Spec{}); got != 3 {
			t.Errorf("layout %s: %d features without NamedOnly, want 3", l, got)
		}
		if got := width(put(true), window.Spec{Columns: []string{"a", "level"}}); got != 2 {
			t.Errorf("layout %s: %d features of two that are named", l, got)
		}
		if got := width(put(true), window.Spec{}); got != 2 {
			t.Errorf("layout %s: %d features with one NamedOnly, want 2", l, got)
		}
	}
}
