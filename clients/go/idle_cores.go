package tensorcache

// coreTicks are how long the cores that this process may use ran so far, and how long of that
// nothing ran on them; none have passed where the system does not say.
type coreTicks struct{ idle, passed, cores int64 }

// add adds what lies between two readings.
func (c *coreTicks) add(since, now coreTicks) {
	if since.passed > 0 && now.passed > 0 {
		c.idle, c.passed, c.cores = c.idle+now.idle-since.idle, c.passed+
			now.passed-since.passed, now.cores
	}
}

// coreIsFree tells whether a core was idle, as far as it is known.
func (c coreTicks) coreIsFree() bool {
	return c.passed == 0 || float64(c.idle*c.cores) >= freeCoreShare*float64(c.passed)
}
