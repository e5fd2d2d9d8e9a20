//go:build !faults

package fault

// Enabled tells whether this build can fail on purpose.
const Enabled = false

// At returns the error planted at a point, which in this build is none.
func At(string) error { return nil }
