package tensorcache

import (
	"slices"
	"time"
)

// How a delivery is chosen. The Python client has the same numbers, and says why, in
// clients/python/src/tensorcache/_feed/auto_delivery.py.
const (
	warmupSteps                   = 32
	trialSteps                    = 96
	maxOutliers                   = trialSteps / 8
	outlierFactor                 = 50.0 // medians
	minLead                       = 4
	coreIdleBound, coresBusyBound = 0.99, 1.02
	idleCoreShare                 = 0.5
)

// legs are the deliveries in turn.
var trials = slices.Repeat([]string{DeliverSlot, DeliverLocal, DeliverLocal, DeliverSlot}, 4)

// chooser tries the daemon's gather and the client's own, and keeps the one with which steps take
// less time: where training leaves a core free the daemon's costs the trainer nothing, and where it
// does not each wake of the daemon takes one away.
type chooser struct {
	delivery string // to use now
	settled  bool   // it was chosen for good
	ticks    func() coreTicks

	slotMeans, localMeans []float64 // seconds of a step, the mean of each leg
	steps                 []float64 // of the leg under way
	warmup                int       // steps that do not count yet
	lastStep              time.Time // when the latest step ended; zero after a pause
	trialTicks            coreTicks // at the leg's first step; none after a pause
	slotTicks             coreTicks // under the daemon's gather
}

func newChooser() *chooser {
	return &chooser{delivery: trials[0], ticks: readCoreTicks, warmup: warmupSteps,
		steps: make([]float64, 0, trialSteps)}
}

// keep says that no other delivery can be had.
func (c *chooser) settleOn(delivery string) { c.delivery, c.settled = delivery, true }

// pause says that a pass ended: the time until the next batch is no step.
func (c *chooser) pause() { c.lastStep, c.trialTicks = time.Time{}, coreTicks{} }

// step records that a batch was used up, and returns the delivery to use now. A step is the time
// from one call to the next.
func (c *chooser) step() string {
	c.stepAt(time.Now())
	return c.delivery
}

func (c *chooser) stepAt(now time.Time) {
	last := c.lastStep
	c.lastStep = now
	switch {
	case last.IsZero() || c.settled:
		return
	case c.warmup > 0:
		c.warmup--
		return
	case len(c.steps) == 0:
		c.trialTicks = c.ticks()
	}
	if c.steps = append(c.steps, now.Sub(last).Seconds()); len(c.steps) == trialSteps {
		c.endTrial()
	}
}

func (c *chooser) endTrial() {
	tried, mean := c.delivery, meanStep(c.steps)
	if tried == DeliverSlot {
		c.slotTicks.addSince(c.trialTicks, c.ticks())
		c.slotMeans = append(c.slotMeans, mean)
	} else {
		c.localMeans = append(c.localMeans, mean)
	}
	if len(c.slotMeans) == len(c.localMeans) {
		c.decide()
	}
	if !c.settled {
		c.delivery = trials[len(c.slotMeans)+len(c.localMeans)]
	}
	c.steps, c.lastStep = c.steps[:0], time.Time{}
	if c.delivery != tried {
		c.warmup = warmupSteps
	}
}

// decide chooses, if the pairs of legs agree or there are no more.
func (c *chooser) decide() {
	bound, fewer := coresBusyBound, 0
	if c.slotTicks.hasIdleCore() {
		bound = coreIdleBound
	}
	ratios := make([]float64, len(c.slotMeans))
	for i, slot := range c.slotMeans {
		if ratios[i] = c.localMeans[i] / slot; ratios[i] < bound {
			fewer++
		}
	}
	lead := max(2*fewer-len(ratios), len(ratios)-2*fewer)
	if lead < minLead && 2*len(ratios) < len(trials) {
		return
	}
	c.settleOn(DeliverSlot)
	if median(ratios) < bound {
		c.settleOn(DeliverLocal)
	}
}

// seconds is how long a step takes by each delivery, as far as it is known: the median of its legs.
func (c *chooser) stepTimes() map[string]time.Duration {
	known := map[string]time.Duration{}
	for delivery, means := range map[string][]float64{DeliverSlot: c.slotMeans,
		DeliverLocal: c.localMeans} {
		if len(means) > 0 {
			known[delivery] = seconds(median(means))
		}
	}
	return known
}

// meanStep is the mean of the steps that count.
func meanStep(steps []float64) float64 {
	outlier := outlierFactor * median(steps)
	steps = slices.Sorted(slices.Values(steps))
	sum, n := 0.0, 0
	for i, step := range steps {
		if i < len(steps)-maxOutliers || step < outlier {
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
