//go:build !amd64

package moments

// vectors is false if there is no assembly.
var vectors = false

const fused = false

func sum64(*lanes, *float64, int, float64)    {}
func sum32(*lanes, *float32, int, float64)    {}
func scale64(_, _ *float64, _ int, _ Scaling) {}
