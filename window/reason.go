package window

import (
	"errors"
	"fmt"
	"strings"
)

// Reason is why a position is not a window.
type Reason string

// Reasons, in the order in which they are checked.
const (
	ReasonBounds     Reason = "bounds"      // reaches beyond rows= or time=
	ReasonItemEnd    Reason = "item_end"    // reaches beyond the item's end
	ReasonMaxStep    Reason = "max_step"    // contains a jump in time
	ReasonMaxMissing Reason = "max_missing" // has too many missing cells
	ReasonSplit      Reason = "split"       // reaches beyond its part
)

// Reasons lists all reasons in the order in which they are checked.
var Reasons = [...]Reason{ReasonBounds, ReasonItemEnd, ReasonMaxStep, ReasonMaxMissing, ReasonSplit}

// Indices of [Reasons].
const (
	byBounds = iota
	byItemEnd
	byMaxStep
	byMaxMissing
	bySplit
)

// isWindow is the index of no reason: the position is a window.
const isWindow = -1

// nameOf returns the reason with an index, "" for isWindow.
func nameOf(reason int) Reason {
	if reason == isWindow {
		return ""
	}
	return Reasons[reason]
}

// reasonCounts are the numbers of rejected positions, in the order of [Reasons].
type reasonCounts [len(Reasons)]int64

func (c *reasonCounts) total() int64 {
	sum := int64(0)
	for _, n := range c {
		sum += n
	}
	return sum
}

// byReason leaves out reasons that reject no position.
func (c *reasonCounts) byReason() map[Reason]int64 {
	m := make(map[Reason]int64)
	for i, n := range c {
		if n > 0 {
			m[Reasons[i]] = n
		}
	}
	return m
}

// most returns the index of the reason that rejects most positions. Of equal counts split comes
// first, then the reason that is checked first.
func (c *reasonCounts) most() int {
	most := bySplit
	for i, n := range c {
		if n > c[most] {
			most = i
		}
	}
	return most
}

// ErrNoWindows is wrapped by the error that [Index.Explain] returns if the index has no windows.
var ErrNoWindows = errors.New("no window exists")

// Explain returns nil if the index has windows. Otherwise it returns an error that says how many
// positions each reason rejects and what to change.
func (x *Index) Explain() error {
	if x.Len() > 0 {
		return nil
	}
	var lost []string
	for i, n := range x.rejected {
		if n > 0 {
			lost = append(lost, fmt.Sprintf("%s rejects %d", Reasons[i], n))
		}
	}
	b := x.subset.base
	switch {
	case len(lost) > 0:
		return fmt.Errorf("%w: of %d positions, %s; %s", ErrNoWindows, x.Positions(),
			strings.Join(lost, ", "), advice(b, &x.rejected))
	case b.table.Items() == 0:
		return fmt.Errorf("%w: the dataset has no items; load rows first", ErrNoWindows)
	case len(x.subset.cuts) > 0:
		return fmt.Errorf(
			"%w: no position of any item lies in this part; the longest item has %d rows",
			ErrNoWindows, b.table.longest())
	}
	return fmt.Errorf("%w: no position lies in the items; %s", ErrNoWindows,
		advice(b, &x.rejected))
}

// advice says what to change: the lengths if no item is long enough, otherwise the field of the
// reason that rejects most positions.
func advice(b *base, rejected *reasonCounts) string {
	need, longest := b.shape.last+1-b.shape.pad, b.table.longest()
	lengths := b.spec.lengths()
	if need > longest {
		return fmt.Sprintf("%s needs %d rows; the longest item has %d", lengths, need, longest)
	}
	return fmt.Sprintf([...]string{
		byBounds:     "widen rows or time: %s needs %d rows",
		byItemEnd:    "most items are too short: %s needs %d rows",
		byMaxStep:    "raise max_step, or load the missing times: %s needs %d rows without a jump",
		byMaxMissing: "raise max_missing, fill at load, or use other columns: %s covers %d rows",
		bySplit:      "make the part longer or allow context_before_split: %s needs %d rows",
	}[rejected.most()], lengths, need)
}

// lengths lists the fields of the spec that make up the length of a window.
func (s *Spec) lengths() string {
	var b strings.Builder
	fmt.Fprintf(&b, "context_length %d", s.ContextLength)
	if s.Gap > 0 {
		fmt.Fprintf(&b, " + gap %d", s.Gap)
	}
	if s.PredictionLength > 0 {
		fmt.Fprintf(&b, " + prediction_length %d", s.PredictionLength)
	}
	if s.dilation() > 1 {
		fmt.Fprintf(&b, " at dilation %d", s.dilation())
	}
	if s.MinContext != nil && *s.MinContext < s.ContextLength {
		fmt.Fprintf(&b, " with min_context %d", *s.MinContext)
	}
	return b.String()
}
