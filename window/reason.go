package window

import (
	"errors"
	"fmt"
	"strings"
)

// Reason is why a position is no window.
type Reason string

// Reasons, in the order in which they are asked.
const (
	ReasonBounds     Reason = "bounds"      // reaches over rows= or time=
	ReasonItemEnd    Reason = "item_end"    // reaches over the item's end
	ReasonMaxStep    Reason = "max_step"    // spans a jump in time
	ReasonMaxMissing Reason = "max_missing" // has too many missing cells
	ReasonSplit      Reason = "split"       // reaches over the edge of its part
)

// Reasons lists them in the order in which they are asked.
var Reasons = [...]Reason{ReasonBounds, ReasonItemEnd, ReasonMaxStep, ReasonMaxMissing, ReasonSplit}

const (
	byBounds = iota
	byItemEnd
	byMaxStep
	byMaxMissing
	bySplit
)

// ErrNoWindows is wrapped by what [Index.Explain] returns when no window is left.
var ErrNoWindows = errors.New("no window exists")

// Explain is nil when there are windows, else an error that says what took them and what to change.
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
	switch {
	case len(lost) > 0:
		return fmt.Errorf("%w: of %d positions, %s; %s", ErrNoWindows, x.Positions(),
			strings.Join(lost, ", "), x.advise())
	case x.base.table.Items() == 0:
		return fmt.Errorf("%w: the dataset has no items; load rows first", ErrNoWindows)
	case len(x.cuts) > 0:
		return fmt.Errorf(
			"%w: no position of any item lies in this part; the longest item has %d rows",
			ErrNoWindows, x.longest())
	}
	return fmt.Errorf("%w: no position lies in the items; %s", ErrNoWindows, x.advise())
}

// advise says what to change: the lengths when no item is long enough, else the first reason's
// field.
func (x *Index) advise() string {
	s, longest := &x.base.spec, x.longest()
	need := x.base.shape.last + 1 - x.base.shape.pad
	if need > longest {
		return fmt.Sprintf("%s needs %d rows; the longest item has %d", s.lengths(), need, longest)
	}
	advice := [...]string{
		byBounds:     "widen rows or time: %s needs %d rows",
		byItemEnd:    "most items are too short: %s needs %d rows",
		byMaxStep:    "raise max_step, or load the missing times: %s needs %d rows without a jump",
		byMaxMissing: "raise max_missing, fill at load, or use other columns: %s covers %d rows",
		bySplit:      "make the part longer or allow context_before_split: %s needs %d rows",
	}
	most := bySplit
	for i, n := range x.rejected {
		if n > x.rejected[most] {
			most = i
		}
	}
	return fmt.Sprintf(advice[most], s.lengths(), need)
}

// longest is the rows of the longest item.
func (x *Index) longest() int64 {
	longest := int64(0)
	for i := range x.Items() {
		longest = max(longest, x.base.table.length(i))
	}
	return longest
}

// lengths spells what a window is made of.
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
