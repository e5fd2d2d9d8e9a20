//go:build !amd64

package moments

// vectors is false if there is no assembly.
var vectors = false

const fused = false

func sum64(*laneSums, *float64, int, float64) {}
func sum32(*laneSums, *float32, int, float64) {}
func scale64(_, _ *float64, _ int, _ Scaling) {}
