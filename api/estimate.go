package api

import "time"

// estimate is how far a load is. Its share of the whole work never goes back.
type estimate struct{ share float64 }

// Bounds below which a pace is not known.
const (
	leastShare = 0.01
	leastTime  = 200 * time.Millisecond
)

// note takes what the child tells.
func (e *estimate) note(share float64) { e.share = min(1, max(e.share, share)) }

// eta is the seconds that are left if the rest goes at the mean pace so far, nil while that is not
// known. A load that stands still is told to take longer and longer.
func (e *estimate) eta(since time.Duration) *float64 {
	if e.share < leastShare || since < leastTime {
		return nil
	}
	left := since.Seconds() * (1 - e.share) / e.share
	return &left
}
