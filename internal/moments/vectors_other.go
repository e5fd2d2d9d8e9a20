//go:build !amd64

package moments

// vectors is false where there is no assembly.
var vectors = false

const fused = false

func sum64(*lanes, *float64, int, float64)         {}
func sum32(*lanes, *float32, int, float64)         {}
func scale64(_, _ *float64, _ int, _ Scaling)      {}
func scale32(_, _ *float32, _ int, _ Scaling)      {}
func scale64to32(*float32, *float64, int, Scaling) {}
func scale32to64(*float64, *float32, int, Scaling) {}
