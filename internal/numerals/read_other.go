//go:build !amd64

package numerals

// Available reports whether the processor has the instructions that the package needs.
const Available = false

func mark(*uint64, *byte, int) { panic("numerals: not available") }
func read(*Rows)               { panic("numerals: not available") }
