package option

import (
	"slices"
	"testing"

	"github.com/tensorcache/tensorcache/layout"
)

// TestAutoLayoutCountsTheFeaturesOfOneDType decides for tables with some columns less than the limit.
func TestAutoLayoutCountsTheFeaturesOfOneDType(t *testing.T) {
	float32s := layout.Column{Role: layout.RoleValue, DType: layout.Float32}
	wide := float32s
	wide.Width = 2
	less := slices.Repeat([]layout.Column{float32s}, PackedFrom-1)
	for name, c := range map[string]struct {
		more layout.Column
		want string
	}{
		"another":                     {float32s, layout.Packed},
		"another dtype":               {layout.Column{Role: layout.RoleValue, DType: layout.Float64}, layout.Columns},
		"an item":                     {layout.Column{Role: layout.RoleItemID, DType: layout.Float32}, layout.Columns},
		"a time":                      {layout.Column{Role: layout.RoleTime, DType: layout.Float32}, layout.Columns},
		"one that windows leave out":  {layout.Column{Role: layout.RoleValue, DType: layout.Float32, NamedOnly: true}, layout.Columns},
		"text, which is never packed": {layout.Column{Role: layout.RoleValue, DType: layout.Text}, layout.Columns},
	} {
		for _, given := range []string{AutoLayout, layout.Columns, layout.Packed, ""} {
			want := given
			if given == AutoLayout {
				want = c.want
			}
			if got := (Options{Layout: given}).LayoutOf(append(slices.Clone(less), c.more)); got != want {
				t.Errorf("%s: layout %q is %q, want %q", name, given, got, want)
			}
		}
	}
	auto := Options{Layout: AutoLayout}
	if got := auto.LayoutOf(append(slices.Clone(less[1:]), wide)); got != layout.Packed {
		t.Errorf("a column of two features: %q", got)
	}
	leftOut := float32s
	leftOut.NamedOnly = true
	if got := auto.LayoutOf(append(slices.Repeat(less, 2), leftOut)); got != layout.Columns {
		t.Errorf("many, and one that windows leave out: %q", got)
	}
	if got := auto.LayoutOf(nil); got != layout.Columns {
		t.Errorf("no value columns: %q", got)
	}
}
