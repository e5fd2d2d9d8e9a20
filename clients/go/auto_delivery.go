package tensorcache

import (
	"slices"
	"time"
)

// Parameters of the chooser, the same as in the Python client.
const (
	// Steps after a change of delivery that do not count: the ring is being filled, and memory is
	// not cached.
	warmupSteps = 32
	// Steps of a trial that count: several of the bursts in which the daemon gathers.
	trialSteps = 96
	// The slowest steps that do not count if they take outlierFactor times the median, as a
	// checkpoint does. All others count, because the daemon's cost is in few steps of many.
	maxOutliers   = trialSteps / 8
	outlierFactor = 50.0
	// The choice is made when one delivery is better in so many more pairs of trials: a sequential
	// sign test, because ratios of single pairs scatter by a third on a machine in use.
	minLead = 4
	// The client gathers if its steps take less than this fraction of the daemon's.
	coreIdleBound, coresBusyBound = 0.99, 1.02
	// A core counts as idle from this number of idle cores on.
	idleCoreShare = 0.5
)

// trials are the deliveries in the order in which they are tried. Two trials are a pair. Every
// other pair has the reverse order, so that a change of the machine's speed favours neither.
var trials = slices.Repeat([]string{DeliverSlot, DeliverLocal, DeliverLocal, DeliverSlot}, 4)

// chooser tries the deliveries slot and local, and keeps the one whose steps take less time. If a
// core is idle, gathering in the daemon costs the trainer nothing. If the trainer keeps all cores
// busy, the daemon takes one away each time it runs.
type chooser struct {
	delivery string // to use now
	settled  bool   // the choice is final
	ticks    func() coreTicks

	slotMeans, localMeans []float64 // mean seconds of a step, for each trial
	steps                 []float64 // seconds of each step of the present trial
	warmup                int       // steps that are still to be left out
	lastStep              time.Time // when the latest step ended; zero after a pause
	trialTicks            coreTicks // at the trial's first step; zero after a pause
	slotTicks             coreTicks // during all trials of slot
}

func newChooser() *chooser {
	return &chooser{delivery: trials[0], ticks: readCoreTicks, warmup: warmupSteps,
		steps: make([]float64, 0, trialSteps)}
}

// settleOn makes a delivery the final choice.
func (c *chooser) settleOn(delivery string) { c.delivery, c.settled = delivery, true }

// pause ends a pass: the time until the next batch is no step.
func (c *chooser) pause() { c.lastStep, c.trialTicks = time.Time{}, coreTicks{} }

// step records that the loop has finished a batch, and returns the delivery to use now. A step is
// the time between two calls.
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

// endTrial records the trial's mean and starts the next trial, unless the choice is made.
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

// decide makes the choice if enough pairs of trials agree, or if they were the last ones.
func (c *chooser) decide() {
	bound, localWins := coresBusyBound, 0
	if c.slotTicks.hasIdleCore() {
		bound = coreIdleBound
	}
	ratios := make([]float64, len(c.slotMeans))
	for i, slot := range c.slotMeans {
		if ratios[i] = c.localMeans[i] / slot; ratios[i] < bound {
			localWins++
		}
	}
	lead := max(2*localWins-len(ratios), len(ratios)-2*localWins)
	if lead < minLead && 2*len(ratios) < len(trials) {
		return
	}
	c.settleOn(DeliverSlot)
	if median(ratios) < bound {
		c.settleOn(DeliverLocal)
	}
}

// stepTimes returns the time of a step by each delivery that was tried: the median of its trials.
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

// meanStep returns the mean of the steps that count.
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

// median returns the median of values, of which there is at least one.
func median(values []float64) float64 {
	values = slices.Sorted(slices.Values(values))
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}
