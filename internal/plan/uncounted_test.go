package plan

import (
	"testing"

	"pgregory.net/rapid"

	_ "github.com/tensorcache/tensorcache/internal/testseed" // for rapid
)

func TestASampledRowIsOneOfAWindow(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		draw := func(low, high int64, name string) int64 {
			return rapid.Int64Range(low, high).Draw(r, name)
		}
		row, count, length := draw(0, 60, "row"), draw(1, 8, "count"), draw(1, 8, "length")
		stride, dilation := draw(1, 9, "stride"), draw(1, 9, "dilation")
		want := false
		for n := range count {
			for i := range length {
				want = want || n*stride+i*dilation == row
			}
		}
		if got := isSampled(row, count, length, stride, dilation); got != want {
			r.Fatalf("row %d of %d windows of %d, stride %d, dilation %d: %v", row, count, length,
				stride, dilation, got)
		}
	})
}
