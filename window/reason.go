package window

// Reason is why a position is not a window.
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
