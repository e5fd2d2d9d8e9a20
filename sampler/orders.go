package sampler

import (
	"iter"
	"slices"
	"strings"
)

// registry lists all orders, in the sequence in which messages name them. A new order is one file
// and one line here; its random numbers need a purpose of their own below.
var registry = []kind{sequentialKind, shuffleKind, bootstrapKind, randomStartKind, lanesKind}

// Purposes keep the random numbers of one epoch apart. A number never changes and is never reused.
const (
	forShuffle   = 1
	forBootstrap = 2
	forBlocks    = 3
	forPhases    = 4
	forItems     = 5
	forRotation  = 6
)

// kind describes an order before it has windows.
type kind struct {
	name   string
	traits Traits
	cursor cursorFields
	// new returns the order over x, which has windows; o is valid and has its defaults. The error
	// is an *OptionError.
	new func(x Windows, o Options) (order, error)
}

// Traits describe an order to code outside of this package, which asks them and not the name. The
// zero value is that of an order of single windows without any structure, as a shuffle.
type Traits struct {
	// Ascending reports whether every epoch visits windows 0, 1, 2, … up to the last one.
	Ascending bool
	// Consecutive reports whether the numbers of a batch's windows are consecutive, unless a tail
	// wraps between two of them.
	Consecutive bool
	// Blocks reports whether a position is a block of windows, which is a whole batch, and not one
	// window. A consumed count is then a number of batches. A block that is also Consecutive lies
	// in one run.
	Blocks bool
	// Resets reports whether row i of a rank's batch continues row i of its batch before unless
	// Batch.Reset is true. Such an order needs contiguous windows, and its steps start only at
	// multiples of their size.
	Resets bool
	// VariableLength reports whether epochs may differ in their number of positions.
	VariableLength bool
}

// cursorFields are the fields of a cursor that depend on the order.
type cursorFields struct {
	seed      bool // 0 is left out
	batchSize bool
	lanes     bool
	weights   bool // empty without weights; an order without this field refuses weights
}

// order is the formula of an order over fixed windows. It maps positions of an epoch to windows,
// and knows nothing of ranks, steps and tails.
type order interface {
	// minPositions returns the number of positions of the shortest epoch: of every epoch, unless the order
	// has Traits.VariableLength. It does not need begin.
	minPositions() int64
	// begin draws what an epoch needs and returns its number of positions. The other methods
	// are about the epoch of the last call.
	begin(epoch uint64) int64
	// append appends the windows of count positions from first on. All lie inside the epoch.
	append(dst []int64, first, count int64) []int64
}

// blockOrder is what an order with Traits.Blocks implements.
type blockOrder interface {
	order
	// size returns the number of windows of the block at a position.
	size(position int64) int64
	// uneven yields the position and the size of at least each block whose size is not batch_size.
	uneven() iter.Seq2[int64, int64]
}

// resetOrder is what an order with Traits.Resets implements.
type resetOrder interface {
	order
	// appendResets appends for each window of a batch whether it does not continue the same row of
	// the batch before. That batch's row i is at position before+i; a negative one does not exist.
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

// Traits returns the traits of the order, the zero value if its name is unknown.
func (o Options) Traits() Traits {
	if o.Order == "" {
		o.Order = Sequential
	}
	k, _ := kindOf(o.Order)
	return k.traits
}

// kindOf returns the order of a name, and whether there is one.
func kindOf(name string) (kind, bool) {
	i := slices.IndexFunc(registry, func(k kind) bool { return k.name == name })
	if i < 0 {
		return kind{}, false
	}
	return registry[i], true
}

// weightedOrders returns the names of the orders that take weights.
func weightedOrders() (names []string) {
	for i := range registry {
		if registry[i].cursor.weights {
			names = append(names, registry[i].name)
		}
	}
	return names
}

// OneOf joins words as a message lists them: "short, wrap or drop".
func OneOf(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
