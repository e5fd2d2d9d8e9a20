package sampler

import (
	"iter"
	"slices"
	"strings"
)

// registry lists all orders, as messages list them. A new order is one file and one line here. Its
// random numbers need purposes of their own, see below.
var registry = []kind{sequentialKind, shuffleKind, bootstrapKind, randomStartKind, lanesKind,
	crossSectionKind, crossSectionSequentialKind}

// Purposes make the random numbers of one epoch independent of each other. A number never changes
// and is never reused.
const (
	forShuffle   = 1
	forBootstrap = 2
	forBlocks    = 3
	forPhases    = 4
	forItems     = 5
	forRotation  = 6
	forGroups    = 8
)

// kind describes an order independently of windows.
type kind struct {
	name   string
	traits Traits
	cursor cursorFields
	// new returns the order over x, which is not empty. o is valid and has its defaults. The error
	// is an *OptionError.
	new func(x Windows, o Options) (order, error)
}

// Traits describe an order. Code outside of this package uses them instead of the order's name. The
// zero value describes an order of single windows without structure, for example a shuffle.
type Traits struct {
	// Ascending reports whether every epoch visits windows 0, 1, 2, … up to the last one.
	Ascending bool
	// Consecutive reports whether the numbers of a batch's windows are consecutive, unless a tail
	// wraps between two of them.
	Consecutive bool
	// Blocks reports whether an entry is a block of windows, which is a whole batch, and not one
	// window. A consumed count is then a number of batches. If the order is also Consecutive, a
	// block is part of one run.
	Blocks bool
	// Resets reports whether row i of a rank's batch continues row i of its previous batch unless
	// Batch.Reset is true. Such an order needs contiguous windows. Its steps start only at
	// multiples of their size.
	Resets bool
	// Groups reports whether a block is made of windows of one group. Such an order needs windows
	// that implement Grouped.
	Groups bool
	// VariableLength reports whether the number of entries may differ between epochs.
	VariableLength bool
}

// cursorFields are the fields of a cursor that depend on the order.
type cursorFields struct {
	seed      bool // omitted if 0
	batchSize bool
	lanes     bool
	minItems  bool
	weights   bool // empty without weights; an order without this field refuses weights
}

// order is the formula of an order over fixed windows. It maps entries of an epoch to windows. It
// does not depend on the rank, the steps or the tail.
type order interface {
	// minEntries returns the number of entries of the shortest epoch. Without
	// Traits.VariableLength, all epochs have this number. The method does not need begin.
	minEntries() int64
	// begin prepares an epoch and returns its number of entries. append and the methods of
	// blockOrder and resetOrder refer to the epoch of the last call.
	begin(epoch uint64) int64
	// append appends the windows of count entries, starting at first. All are inside the epoch.
	append(dst []int64, first, count int64) []int64
}

// blockOrder is implemented by orders with Traits.Blocks.
type blockOrder interface {
	order
	// size returns the number of windows of an entry's block.
	size(entry int64) int64
	// largest returns at least the number of windows of the largest block. It does not need begin.
	largest() int64
	// uneven yields the entry and the size of each block whose size is not batch_size: of all
	// blocks for WholeGroups. It may yield others too.
	uneven() iter.Seq2[int64, int64]
}

// resetOrder is implemented by orders with Traits.Resets.
type resetOrder interface {
	order
	// appendResets appends, for each window of a batch, true if it does not continue the same row
	// of the previous batch. Row i of that batch is entry before+i, and does not exist if that is
	// negative.
	appendResets(dst []bool, windows []int64, before int64) []bool
}

// Orders returns the names of all orders.
func Orders() []string {
	names := make([]string, len(registry))
	for i := range registry {
		names[i] = registry[i].name
	}
	return names
}

// Traits returns the traits of the order, or the zero value if the name is unknown.
func (o Options) Traits() Traits {
	if o.Order == "" {
		o.Order = Sequential
	}
	k, _ := kindOf(o.Order)
	return k.traits
}

// kindOf returns the order with a name, and whether it exists.
func kindOf(name string) (kind, bool) {
	i := slices.IndexFunc(registry, func(k kind) bool { return k.name == name })
	if i < 0 {
		return kind{}, false
	}
	return registry[i], true
}

// ordersWith returns the names of the orders of some kinds.
func ordersWith(has func(k *kind) bool) (names []string) {
	for i := range registry {
		if has(&registry[i]) {
			names = append(names, registry[i].name)
		}
	}
	return names
}

// weightedOrders returns the names of the orders that take weights.
func weightedOrders() []string {
	return ordersWith(func(k *kind) bool { return k.cursor.weights })
}

// groupOrders returns the names of the orders with Traits.Groups.
func groupOrders() []string { return ordersWith(func(k *kind) bool { return k.traits.Groups }) }

// OneOf joins words as in "short, wrap or drop", for messages.
func OneOf(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
