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

// Windows are what a sampler needs of an index; *window.Index is one. Windows are numbered run by
// run, those of one item in neighbouring runs.
type Windows interface {
	Len() int64
	RunCount() int
	RunAt(i int) (item, first, count int64) // first is the number of the run's first window
	Contiguous() bool                       // each window of a run begins where the context of the one before ended
	Continues(window int64) bool            // and no jump in time lies between this one and the one before, in its run
}

// Batch is one rank's share of a step.
type Batch struct {
	Windows []int64 // empty where short leaves this rank none
	Reset   []bool  // one per window in lanes, else empty
	Next    int64   // consumed by all ranks after this step
}

// Sampler serves one rank's batches.
type Sampler struct {
	windows Windows
	options Options
	n       int64 // windows
	unit    int64 // positions of one rank in a full step
	step    int64 // positions of all ranks in a full step
	epoch   epochOrder
}

// New makes a sampler. The windows must stay as they are.
func New(x Windows, o Options) (*Sampler, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Sampler{windows: x, options: o, n: x.Len(), unit: o.BatchSize}
	if o.Order == RandomStart {
		s.unit = 1
	}
	s.step = s.unit * o.NumReplicas
	if o.Order == Lanes && !x.Contiguous() {
		return nil, &OptionError{"order", o.Order, "windows with stride = context_length (times dilation), so that each continues the one before"}
	}
	if s.n == 0 {
		return nil, fmt.Errorf("%w: the index has no windows", ErrNoBatches)
	}
	if least := s.leastPositions(); o.Tail == Drop && least < s.step {
		return nil, s.dropsAll(least)
	}
	if err := s.prepare(); err != nil {
		return nil, err
	}
	return s, nil
}

// dropsAll is the error of an epoch that may have fewer positions than one step takes, and none left
// after the drop.
func (s *Sampler) dropsAll(least int64) error {
	o, why := s.options, fmt.Sprintf(": tail %q can leave out all %d windows", Drop, s.n)
	if most := least / o.NumReplicas; most > 0 {
		return fmt.Errorf("%w: %w", ErrNoBatches, &OptionError{"batch_size", strconv.FormatInt(o.BatchSize, 10), fmt.Sprintf("at most %d at num_replicas %d%s", most, o.NumReplicas, why)})
	}
	return fmt.Errorf("%w: %w", ErrNoBatches, &OptionError{"num_replicas", strconv.FormatInt(o.NumReplicas, 10), fmt.Sprintf("at most %d%s", least, why)})
}

// Options are the options with defaults filled in.
func (s *Sampler) Options() Options { return s.options }

// positions is the number of positions of an epoch.
func (s *Sampler) positions(epoch uint64) int64 {
	if s.options.Order == RandomStart {
		s.ready(epoch)
		return s.epoch.blocks[len(s.epoch.blocks)-1]
	}
	return s.n
}

// leastPositions is the number of positions of the shortest possible epoch.
func (s *Sampler) leastPositions() int64 {
	if s.options.Order != RandomStart {
		return s.n
	}
	sum := int64(0)
	for i := range s.windows.RunCount() {
		_, _, count := s.windows.RunAt(i)
		sum += (count-1)/s.options.BatchSize + 1
	}
	return sum
}

// Total is the consumed count at which an epoch that was begun at 0 ends.
func (s *Sampler) Total(epoch uint64) int64 { return s.End(epoch, 0) }

// End is the consumed count at which an epoch continued at consumed ends. It differs from Total
// only with tail drop, where another rank count had steps of another size: the epoch is over
// exactly when End(epoch, consumed) == consumed.
func (s *Sampler) End(epoch uint64, consumed int64) int64 {
	n := s.positions(epoch)
	if consumed < 0 || consumed >= n {
		return consumed
	}
	if s.options.Tail == Drop {
		return n - (n-consumed)%s.step
	}
	return n
}

// Steps is the number of this rank's batches from consumed to the end of the epoch.
func (s *Sampler) Steps(epoch uint64, consumed int64) int64 {
	left := max(0, s.positions(epoch)-max(0, consumed))
	full, m := left/s.step, left%s.step
	switch {
	case s.options.Tail == Wrap && m > 0, s.options.Tail == Short && s.shareOf(m) > 0:
		return full + 1
	}
	return full
}

// shareOf is the number of m left positions that short deals to this rank.
func (s *Sampler) shareOf(m int64) int64 {
	r := s.options.NumReplicas
	share := m / r
	if s.options.Rank < m%r {
		share++
	}
	return share
}

// share are the positions of this rank in the step that starts at consumed, and where the next one starts. Positions past the epoch's last
// are those from its first on.
func (s *Sampler) share(epoch uint64, consumed int64) (first, count, next int64, err error) {
	if s.End(epoch, consumed) <= consumed || consumed < 0 {
		return 0, 0, consumed, ErrEpochEnd
	}
	s.ready(epoch)
	m := s.positions(epoch) - consumed
	if m < s.step && s.options.Tail == Short {
		r := s.options.NumReplicas
		return consumed + s.options.Rank*(m/r) + min(s.options.Rank, m%r), s.shareOf(m), consumed + m, nil
	}
	return consumed + s.options.Rank*s.unit, s.unit, consumed + min(m, s.step), nil
}

// Batch fills dst with this rank's batch of the step that starts at consumed, reusing its memory.
// Past the last step the error is ErrEpochEnd.
func (s *Sampler) Batch(dst *Batch, epoch uint64, consumed int64) error {
	dst.Windows, dst.Reset = dst.Windows[:0], dst.Reset[:0]
	first, count, next, err := s.share(epoch, consumed)
	if dst.Next = next; err != nil {
		return err
	}
	n := s.positions(epoch)
	switch s.options.Order {
	case Sequential:
		dst.Windows = appendInTurn(dst.Windows, first, count, n)
		return nil
	case Shuffle:
		dst.Windows = s.epoch.permutation.append(dst.Windows, uint64(first), uint64(count))
		return nil
	}
	for i := range count {
		p := first + i
		if p >= n {
			p %= n
		}
		s.append(dst, p)
		if s.options.Order == Lanes {
			dst.Reset = append(dst.Reset, s.resets(dst.Windows[i], consumed-s.step+s.options.Rank*s.unit+i))
		}
	}
	return nil
}
