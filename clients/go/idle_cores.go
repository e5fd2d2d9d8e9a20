package tensorcache

// coreTicks is the number of clock ticks of the cores that this process may use, and how many of
// them the cores were idle. It is zero if the system does not report them.
type coreTicks struct{ idle, total, cores int64 }

// addSince adds the ticks between two readings.
func (c *coreTicks) addSince(from, to coreTicks) {
	if from.total > 0 && to.total > 0 {
		c.idle, c.total, c.cores = c.idle+to.idle-from.idle, c.total+
			to.total-from.total, to.cores
	}
}

// hasIdleCore reports whether a core was idle, or that is not known.
func (c coreTicks) hasIdleCore() bool {
	return c.total == 0 || float64(c.idle*c.cores) >= idleCoreShare*float64(c.total)
}
