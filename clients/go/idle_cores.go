package tensorcache

// coreTicks are how long the cores that this process may use ran so far, and how long of that
// nothing ran on them; none have passed where the system does not say.
type coreTicks struct{ idle, total, cores int64 }

// add adds what lies between two readings.
func (c *coreTicks) addSince(from, to coreTicks) {
	if from.total > 0 && to.total > 0 {
		c.idle, c.total, c.cores = c.idle+to.idle-from.idle, c.total+
			to.total-from.total, to.cores
	}
}

// coreIsFree tells whether a core was idle, as far as it is known.
func (c coreTicks) hasIdleCore() bool {
	return c.total == 0 || float64(c.idle*c.cores) >= idleCoreShare*float64(c.total)
}
