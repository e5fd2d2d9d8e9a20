package tensorcache

import (
	"slices"
	"time"
)

// How a delivery is chosen. The Python client has the same numbers, and says why, in
// clients/python/src/tensorcache/_feed/auto_delivery.py.
const (
	warmSteps     = 32
	legSteps      = 96
	outlierSteps  = legSteps / 8
	farSteps      = 50.0 // medians
	decidingLead  = 4
	gain, tie     = 0.99, 1.02
	freeCoreShare = 0.5
)

// legs are the deliveries in turn.
var legs = slices.Repeat([]string{DeliverSlot, DeliverLocal, DeliverLocal, DeliverSlot}, 4)

// chooser tries the daemon's gather and the client's own, and keeps the one with which steps take
// less time: where training leaves a core free the daemon's costs the trainer nothing, and where it
// does not each wake of the daemon takes one away.
type chooser struct {
	delivery string // to use now
	settled  bool   // it was chosen for good
	ticks    func() coreTicks

	slot, local []float64 // seconds of a step, the mean of each leg
	steps       []float64 // of the leg under way
	warm        int       // steps that do not count yet
	before      time.Time // when the latest step ended; zero after a pause
	since       coreTicks // at the leg's first step; none after a pause
	used        coreTicks // under the daemon's gather
}

func newChooser() *chooser {
	return &chooser{delivery: legs[0], ticks: readTicks, warm: warmSteps,
		steps: make([]float64, 0, legSteps)}
}

// keep says that no other delivery can be had.
func (c *chooser) keep(delivery string) { c.delivery, c.settled = delivery, true }

// pause says that a pass ended: the time until the next batch is no step.
func (c *chooser) pause() { c.before, c.since = time.Time{}, coreTicks{} }

// step records that a batch was used up, and returns the delivery to use now. A step is the time
// from one call to the next.
func (c *chooser) step() string {
	c.stepAt(time.Now())
	return c.delivery
}

func (c *chooser) stepAt(now time.Time) {
	before := c.before
	c.before = now
	switch {
	case before.IsZero() || c.settled:
		return
	case c.warm > 0:
		c.warm--
		return
	case len(c.steps) == 0:
		c.since = c.ticks()
	}
	if c.steps = append(c.steps, now.Sub(before).Seconds()); len(c.steps) == legSteps {
		c.endLeg()
	}
}

func (c *chooser) endLeg() {
	was, mean := c.delivery, meanStep(c.steps)
	if was == DeliverSlot {
		c.used.add(c.since, c.ticks())
		c.slot = append(c.slot, mean)
	} else {
		c.local = append(c.local, mean)
	}
	if len(c.slot) == len(c.local) {
		c.decide()
	}
	if !c.settled {
		c.delivery = legs[len(c.slot)+len(c.local)]
	}
	c.steps, c.before = c.steps[:0], time.Time{}
	if c.delivery != was {
		c.warm = warmSteps
	}
}

// decide chooses, if the pairs of legs agree or there are no more.
func (c *chooser) decide() {
	bound, fewer := tie, 0
	if c.used.coreIsFree() {
		bound = gain
	}
	ratios := make([]float64, len(c.slot))
	for i, slot := range c.slot {
		if ratios[i] = c.local[i] / slot; ratios[i] < bound {
			fewer++
		}
	}
	lead := max(2*fewer-len(ratios), len(ratios)-2*fewer)
	if lead < decidingLead && 2*len(ratios) < len(legs) {
		return
	}
	c.keep(DeliverSlot)
	if median(ratios) < bound {
		c.keep(DeliverLocal)
	}
}

// seconds is how long a step takes by each delivery, as far as it is known: the median of its legs.
func (c *chooser) seconds() map[string]time.Duration {
	known := map[string]time.Duration{}
	for delivery, means := range map[string][]float64{DeliverSlot: c.slot, DeliverLocal: c.local} {
		if len(means) > 0 {
			known[delivery] = seconds(median(means))
		}
	}
	return known
}

// meanStep is the mean of the steps that count.
func meanStep(steps []float64) float64 {
	far := farSteps * median(steps)
	steps = slices.Sorted(slices.Values(steps))
	sum, n := 0.0, 0
	for i, step := range steps {
		if i < len(steps)-outlierSteps || step < far {
			sum += step
			n++
		}
	}
	return sum / float64(n)
}

func median(values []float64) float64 {
	values = slices.Sorted(slices.Values(values))
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}
