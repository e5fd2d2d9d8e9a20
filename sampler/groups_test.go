package sampler

import (
	"errors"
	"slices"
	"testing"
)

// sizedGroups has groups of so many windows.
type sizedGroups struct {
	Windows
	sizes []int
}

func (g sizedGroups) GroupCount() int64      { return int64(len(g.sizes)) }
func (g sizedGroups) Group(i int64) []uint32 { return make([]uint32, g.sizes[i]) }

func TestGroupsWithFewWindowsAreLeftOut(t *testing.T) {
	x := sizedGroups{sizes: []int{3, 1, 4, 1, 5}}
	for minItems, want := range map[int64][]uint32{1: nil, 2: {0, 2, 4}, 4: {2, 4}, 5: {4}} {
		kept, largest, err := keptGroups(x, minItems)
		if err != nil || !slices.Equal(kept, want) || largest != 5 {
			t.Errorf("min_items %d: %v and %d, %v; want %v and 5", minItems, kept, largest, err,
				want)
		}
	}
	var refused *OptionError
	if _, _, err := keptGroups(x, 6); !errors.As(err, &refused) || refused.Field != "min_items" ||
		!errors.Is(err, ErrNoBatches) {
		t.Errorf("min_items 6: %v", err)
	}
}

func TestOnlyOrdersOfGroupsTakeMinItems(t *testing.T) {
	for _, order := range Orders() {
		o := Options{Order: order, BatchSize: 1, MinItems: 1}
		var refused *OptionError
		if err := o.Validate(); o.Traits().Groups != (err == nil) || err != nil &&
			(!errors.As(err, &refused) || refused.Field != "min_items" || refused.Value != "1") {
			t.Errorf("%s: %v", order, err)
		}
		o.MinItems = -1
		if err := o.Validate(); !errors.As(err, &refused) || refused.Field != "min_items" {
			t.Errorf("%s: %v", order, err)
		}
	}
}
