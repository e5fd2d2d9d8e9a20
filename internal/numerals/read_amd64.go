package numerals

import (
	"golang.org/x/sys/cpu"

	"github.com/tensorcache/tensorcache/internal/portable"
)

// Available reports whether the processor has the instructions that the package needs.
var Available = cpu.X86.HasAVX2 && cpu.X86.HasBMI1 && cpu.X86.HasBMI2 && !portable.Forced()

// mark sets the bit of each byte that is not a digit, in blocks of 64 bytes.
//
//go:noescape
func mark(marks *uint64, text *byte, blocks int)

//go:noescape
func read(r *Rows)
