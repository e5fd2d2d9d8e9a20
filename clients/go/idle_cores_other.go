//go:build !linux

package tensorcache

// readTicks is for systems that tell no process what its cores do.
func readTicks() coreTicks { return coreTicks{} }
