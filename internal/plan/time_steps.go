package plan

import (
	"encoding/binary"
	"fmt"

	"github.com/tensorcache/tensorcache/layout"
	"github.com/tensorcache/tensorcache/store"
	"github.com/tensorcache/tensorcache/window"
)

// largestSteps returns the largest step in time of each block of rows, from which any max_step is
// answered. They are computed once and stored with the generation.
func largestSteps(h *store.Handle, t *window.Table) ([]uint64, error) {
	want := (len(t.Times) + window.StepRows - 1) / window.StepRows
	return store.DerivedFile(h, "steps", func() ([]uint64, error) { return window.LargestSteps(t) },
		func(steps []uint64) []byte {
			b := make([]byte, 0, len(steps)*8)
			for _, s := range steps {
				b = binary.LittleEndian.AppendUint64(b, s)
			}
			return b
		},
		func(b []byte) ([]uint64, error) {
			if len(b) != want*8 {
				return nil, fmt.Errorf("%w: %d bytes of steps, want %d", layout.ErrTorn,
					len(b), want*8)
			}
			steps := make([]uint64, want)
			for i := range steps {
				steps[i] = binary.LittleEndian.Uint64(b[i*8:])
			}
			return steps, nil
		})
}
