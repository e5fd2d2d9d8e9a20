package jobs

import "time"

// estimate is the share of a job's whole work that is done, from 0 to 1. It never decreases.
type estimate struct{ share float64 }

// Below these, the remaining time is unknown.
const (
	minShare   = 0.01
	minElapsed = 200 * time.Millisecond
)

// set records the share that the work reports.
func (e *estimate) set(share float64) { e.share = min(1, max(e.share, share)) }

// eta returns the remaining seconds if the rest takes as long per share as the work so far, or nil
// if that is unknown. It grows while the share does not.
func (e *estimate) eta(elapsed time.Duration) *float64 {
	if e.share < minShare || elapsed < minElapsed {
		return nil
	}
	remaining := elapsed.Seconds() * (1 - e.share) / e.share
	return &remaining
}
