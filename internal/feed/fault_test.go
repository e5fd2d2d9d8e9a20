//go:build faults

package feed

import (
	"testing"

	"github.com/tensorcache/tensorcache/internal/wire"
)

func TestAFeedWithoutSpaceForItsRingIsRefusedAndTakesNone(t *testing.T) {
	w := newWorld(t, roomy)
	w.series(t, "d", 1000)
	for _, point := range []string{"reserve", "map"} {
		t.Setenv("TENSORCACHE_FAULT", "ENOSPC@"+point)
		if p := w.refuse(t, request("d")); p.Type != wire.NoSpace || p.Status != 507 {
			t.Errorf("%s: got %+v, want no_space", point, p)
		}
	}
	t.Setenv("TENSORCACHE_FAULT", "")
	tr := w.attach(t, request("d"))
	tr.batch(t)
	tr.close()
}

// TestAFeedWhoseRingCannotGrowEndsAndSaysWhy: its client counts on all slots, and may keep those
// that are there.
func TestAFeedWhoseRingCannotGrowEndsAndSaysWhy(t *testing.T) {
	w := newWorld(t, roomy)
	w.series(t, "d", 1000)
	t.Setenv("TENSORCACHE_FAULT", "ENOSPC@reserve#2")
	tr := w.attach(t, request("d", with("slots", 8)))
	defer tr.close()
	if p := problemIn(t, tr.ended()); p.Type != wire.NoSpace || p.Status != 507 {
		t.Errorf("got %+v, want no_space", p)
	}
}
