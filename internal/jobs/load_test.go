package jobs

import (
	"errors"
	"testing"

	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/store"
)

// TestALoadWhoseBaseWasRemovedIsSuperseded checks errors of a load whose base generation was
// removed: an internal error is replaced, because its child process found no files to read.
func TestALoadWhoseBaseWasRemovedIsSuperseded(t *testing.T) {
	m := newTestManager(t)
	loadText(t, m, "d", "t,v\n1,10\n")
	failed, refused := errors.New("manifest.json is missing"),
		wire.NewProblem(wire.SourceError, "x")
	for _, base := range []int64{0, 1} {
		if err := m.supersededError(failed, "d", base); err != failed {
			t.Errorf("of the newest: %v", err)
		}
	}
	for _, gone := range []string{"d", "e"} {
		if err := m.supersededError(failed, gone, 7); !errors.Is(err, store.ErrSuperseded) {
			t.Errorf("of another: %v", err)
		}
		if err := m.supersededError(refused, gone, 7); err != refused {
			t.Errorf("a source's: %v", err)
		}
	}
}
