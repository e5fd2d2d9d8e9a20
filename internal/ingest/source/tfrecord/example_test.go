package tfrecord

import (
	"testing"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
)

// FuzzExample parses any bytes as an Example. It must not panic, and an accepted Example has no
// more values than bytes.
func FuzzExample(f *testing.F) {
	f.Add(loadtest.Example(false, map[string]any{"id": []string{"ä"}, "t": []int64{1},
		"x": []float32{1.5, -2}}))
	f.Add(loadtest.Example(true, map[string]any{"t": []int64{-1}, "x": []float32{1.5, -2},
		"none": nil}))
	f.Fuzz(func(t *testing.T, b []byte) {
		total := int64(0)
		err := parseExample(b, func(x feature) error {
			n, err := x.count()
			total += n
			return err
		})
		if err == nil && total > int64(len(b)) {
			t.Errorf("%d values in %d bytes", total, len(b))
		}
	})
}
