package tensorcache

import (
	"errors"
	"strings"
	"testing"

	"github.com/tensorcache/tensorcache/window"
)

func TestALargeRequestIsRefusedAsTooLarge(t *testing.T) {
	w := rampWindows(t, sharedDaemon(t), 100, window.Spec{})
	items := make([]any, 20_000)
	for i := range items {
		items[i] = strings.Repeat("x", 1000)
	}
	for range 3 { // each time on another connection
		if _, err := w.Where(t.Context(), Where{Items: items}); !errors.Is(err, TooLarge) {
			t.Fatal(err)
		}
	}
}
