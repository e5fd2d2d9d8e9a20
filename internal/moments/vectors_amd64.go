package moments

import (
	"golang.org/x/sys/cpu"

	"github.com/tensorcache/tensorcache/internal/portable"
)

// vectors reports whether the assembly is used.
var vectors = cpu.X86.HasAVX2 && !portable.Forced()

// fused reports whether the processor multiplies and adds with one rounding.
var fused = cpu.X86.HasFMA

// In the assembly functions n is the number of values, a multiple of laneCount.

//go:noescape
func sum64(l *laneSums, values *float64, n int, near float64)

//go:noescape
func sum32(l *laneSums, values *float32, n int, near float64)

//go:noescape
func scale64(to, from *float64, n int, s Scaling)
