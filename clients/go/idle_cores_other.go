//go:build !linux

package tensorcache

// readCoreTicks is for systems that tell no process what its cores do.
func readCoreTicks() coreTicks { return coreTicks{} }
