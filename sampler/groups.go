package sampler

import (
	"fmt"
	"slices"
)

// GroupCounts counts the groups of windows that an order with Traits.Groups visits.
type GroupCounts struct {
	Groups  int64 // that are visited
	Dropped int64 // groups with fewer windows than min_items
	// DroppedWindows is the number of windows in the dropped groups.
	DroppedWindows int64
	// Least, Median and Greatest are of the numbers of windows of the visited groups.
	Least    int64
	Median   float64
	Greatest int64
}

// Groups counts the groups. ok is false if the order has none.
func (s *Sampler) Groups() (counts GroupCounts, ok bool) {
	grouped, ok := s.windows.(Grouped)
	if !ok || !s.kind.traits.Groups {
		return GroupCounts{}, false
	}
	sizes := make([]int64, 0, grouped.GroupCount())
	for i := range grouped.GroupCount() {
		size := int64(len(grouped.Group(i)))
		if size < s.options.MinItems {
			counts.Dropped++
			counts.DroppedWindows += size
			continue
		}
		sizes = append(sizes, size)
	}
	slices.Sort(sizes)
	n := len(sizes) // above 0: New refuses an order that visits no group
	counts.Groups, counts.Least, counts.Greatest = int64(n), sizes[0], sizes[n-1]
	counts.Median = float64(sizes[(n-1)/2]+sizes[n/2]) / 2
	return counts, true
}

// keptGroups returns the numbers of the groups with at least min_items windows, nil if all have as
// many, and the number of windows of the largest group. The error wraps ErrNoBatches if no group
// has as many windows.
func keptGroups(x Grouped, minItems int64) (kept []uint32, largest int64, err error) {
	least := minItems
	for i := range x.GroupCount() {
		size := int64(len(x.Group(i)))
		least, largest = min(least, size), max(largest, size)
	}
	if largest < minItems {
		return nil, 0, fmt.Errorf("%w: %w", ErrNoBatches,
			&OptionError{"min_items", fmt.Sprint(minItems),
				fmt.Sprintf("at most %d: no group has more windows", largest)})
	}
	if least == minItems {
		return nil, largest, nil
	}
	for i := range x.GroupCount() {
		if int64(len(x.Group(i))) >= minItems {
			kept = append(kept, uint32(i))
		}
	}
	return kept, largest, nil
}

// checkMinItems sets the default of MinItems, or returns why it is not allowed in an order.
func (o *Options) checkMinItems(t Traits) error {
	switch {
	case o.MinItems != 0 && !t.Groups:
		allowed := fmt.Sprintf("none: order %q has no groups", o.Order)
		if orders := groupOrders(); len(orders) > 0 {
			allowed += fmt.Sprintf("; order %s has", OneOf(orders))
		}
		return &OptionError{"min_items", fmt.Sprint(o.MinItems), allowed}
	case o.MinItems < 0:
		return &OptionError{"min_items", fmt.Sprint(o.MinItems), "a whole number from 1"}
	case t.Groups:
		o.MinItems = max(o.MinItems, 1)
	}
	return nil
}
