package sampler

import (
	"errors"
	"fmt"
	"strconv"
)

// Errors of a sampler.
var (
	// ErrNoBatches is returned by New when an epoch would have no batch on any rank.
	ErrNoBatches = errors.New("no batches")
	// ErrEpochEnd is returned by Batch when no step is left in the epoch.
	ErrEpochEnd = errors.New("end of epoch")
)

// Windows is the part of an index that a sampler uses; *window.Index implements it. Windows are
// numbered run by run. The runs of an item are consecutive.
type Windows interface {
	Len() int64
	RunCount() int
	// RunAt returns a run. first is the number of its first window.
	RunAt(i int) (item, first, count int64)
	// Contiguous reports whether each window of a run starts where the context of the previous one
	// ends.
	Contiguous() bool
	// Continues reports whether no jump in time separates a window from the previous one of its
	// run.
	Continues(window int64) bool
}

// Grouped are windows in groups, which orders with Traits.Groups need. Each window is in one group.
type Grouped interface {
	Windows
	GroupCount() int64
	// Group returns the numbers of a group's windows, in the order in which they are visited. It is
	// not empty.
	Group(i int64) []uint32
}

// Batch is one rank's share of a step.
type Batch struct {
	Windows []int64 // empty if tail short leaves no window for this rank
	Reset   []bool  // one per window if the order has Traits.Resets, else empty
	Next    int64   // consumed count after this step
}

// Sampler returns the batches of one rank.
type Sampler struct {
	windows Windows
	options Options
	kind    kind
	order   order
	blocks  blockOrder // order, if it has Traits.Blocks
	resets  resetOrder // order, if it has Traits.Resets

	minEntries int64 // entries of the shortest epoch
	unit       int64 // entries of one rank in a full step
	step       int64 // entries of all ranks in a full step

	drawn        bool // whether order has begun an epoch
	drawnEpoch   uint64
	drawnEntries int64
}

// New returns a sampler. The windows must not change.
func New(x Windows, o Options) (*Sampler, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	k, _ := kindOf(o.Order)
	s := &Sampler{windows: x, options: o, kind: k, unit: o.BatchSize.count()}
	if k.traits.Blocks {
		s.unit = 1
	}
	s.step = s.unit * o.NumReplicas
	if k.traits.Resets && !x.Contiguous() {
		return nil, &OptionError{"order", o.Order,
			"windows with stride = context_length (times dilation), " +
				"so that each continues the one before"}
	}
	if _, ok := x.(Grouped); k.traits.Groups && !ok {
		return nil, &OptionError{"order", o.Order, "windows whose groups are known"}
	}
	if x.Len() == 0 {
		return nil, fmt.Errorf("%w: the index has no windows", ErrNoBatches)
	}
	if s.order, err = k.new(x, o); err != nil {
		return nil, err
	}
	s.blocks, _ = s.order.(blockOrder)
	s.resets, _ = s.order.(resetOrder)
	if s.minEntries = s.order.minEntries(); o.Tail == Drop && s.minEntries < s.step {
		return nil, s.errDropsAll(x.Len())
	}
	return s, nil
}

// Clone returns a sampler of the same windows and options, which stores tables of its own.
func (s *Sampler) Clone() *Sampler {
	clone, err := New(s.windows, s.options)
	if err != nil {
		panic("sampler: the options of a sampler are not valid: " + err.Error())
	}
	return clone
}

// errDropsAll returns the error of an epoch that may have fewer entries than one step. Its tail
// would drop all windows.
func (s *Sampler) errDropsAll(windows int64) error {
	o, why := s.options, fmt.Sprintf(": tail %q can leave out all %d windows", Drop, windows)
	if most := s.minEntries / o.NumReplicas; most > 0 {
		return fmt.Errorf("%w: %w", ErrNoBatches,
			&OptionError{"batch_size", o.BatchSize.String(),
				fmt.Sprintf("at most %d at num_replicas %d%s", most, o.NumReplicas, why)})
	}
	return fmt.Errorf("%w: %w", ErrNoBatches,
		&OptionError{"num_replicas", strconv.FormatInt(o.NumReplicas, 10),
			fmt.Sprintf("at most %d%s", s.minEntries, why)})
}

// Options returns the options with their defaults.
func (s *Sampler) Options() Options { return s.options }

// LargestBatch returns the greatest number of windows that a batch may have.
func (s *Sampler) LargestBatch() int64 {
	if s.blocks != nil {
		return s.blocks.largest()
	}
	return s.unit
}

// entries returns the number of entries of an epoch.
func (s *Sampler) entries(epoch uint64) int64 {
	if s.kind.traits.VariableLength {
		return s.drawEpoch(epoch)
	}
	return s.minEntries
}

// drawEpoch draws an epoch unless it was drawn last, and returns its number of entries.
func (s *Sampler) drawEpoch(epoch uint64) int64 {
	if !s.drawn || s.drawnEpoch != epoch {
		s.drawn, s.drawnEpoch, s.drawnEntries = true, epoch, s.order.begin(epoch)
	}
	return s.drawnEntries
}

// Total returns the consumed count at the end of an epoch that started at 0.
func (s *Sampler) Total(epoch uint64) int64 { return s.End(epoch, 0) }

// End returns the consumed count at the end of an epoch that continues at consumed. It differs from
// Total only with tail drop, if another number of ranks had steps of another size. The epoch is
// over if and only if End(epoch, consumed) == consumed.
func (s *Sampler) End(epoch uint64, consumed int64) int64 {
	n := s.entries(epoch)
	if consumed < 0 || consumed >= n {
		return consumed
	}
	if s.options.Tail == Drop {
		return n - (n-consumed)%s.step
	}
	return n
}

// Steps returns the number of this rank's batches from consumed to the end of the epoch.
func (s *Sampler) Steps(epoch uint64, consumed int64) int64 {
	left := max(0, s.entries(epoch)-max(0, consumed))
	full, m := left/s.step, left%s.step
	switch {
	case s.options.Tail == Wrap && m > 0, s.options.Tail == Short && s.shareOf(m) > 0:
		return full + 1
	}
	return full
}

// shareOf returns how many of the last m entries tail short gives to this rank.
func (s *Sampler) shareOf(m int64) int64 {
	r := s.options.NumReplicas
	share := m / r
	if s.options.Rank < m%r {
		share++
	}
	return share
}

// share returns the entries of this rank in the step that starts at consumed, and the consumed
// count after the step. Entries beyond the epoch's last one wrap to its first.
func (s *Sampler) share(epoch uint64, consumed int64) (first, count, next int64, err error) {
	if s.End(epoch, consumed) <= consumed || consumed < 0 {
		return 0, 0, consumed, ErrEpochEnd
	}
	m := s.entries(epoch) - consumed
	if m < s.step && s.options.Tail == Short {
		r := s.options.NumReplicas
		return consumed + s.options.Rank*(m/r) + min(s.options.Rank, m%r), s.shareOf(m),
			consumed + m, nil
	}
	return consumed + s.options.Rank*s.unit, s.unit, consumed + min(m, s.step), nil
}

// Batch fills dst with this rank's batch of the step that starts at consumed, and reuses the memory
// of dst. After the last step it returns ErrEpochEnd.
func (s *Sampler) Batch(dst *Batch, epoch uint64, consumed int64) error {
	dst.Windows, dst.Reset = dst.Windows[:0], dst.Reset[:0]
	first, count, next, err := s.share(epoch, consumed)
	if dst.Next = next; err != nil {
		return err
	}
	n := s.drawEpoch(epoch)
	for p := first; count > 0; {
		if p >= n {
			p %= n
		}
		inside := min(count, n-p)
		dst.Windows = s.order.append(dst.Windows, p, inside)
		p, count = p+inside, count-inside
	}
	if s.resets != nil {
		dst.Reset = s.resets.appendResets(dst.Reset, dst.Windows, consumed-s.step+
			s.options.Rank*s.unit)
	}
	return nil
}
