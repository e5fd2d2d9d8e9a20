//go:build !linux

package tensorcache

// readCoreTicks returns zero: these systems do not report the ticks.
func readCoreTicks() coreTicks { return coreTicks{} }
