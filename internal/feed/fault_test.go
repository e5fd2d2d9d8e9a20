//go:build faults

package feed

import (
	"testing"

	"github.com/tensorcache/tensorcache/internal/wire"
)

func TestAFeedWithoutMemoryForItsRingIsRefused(t *testing.T) {
	env := newTestEnv(t, largeBudget)
	env.publishSeries(t, "d", 1000)
	for _, point := range []string{"reserve", "map"} {
		t.Setenv("TENSORCACHE_FAULT", "ENOSPC@"+point)
		if p := env.refuse(t, request("d")); p.Type != wire.NoSpace || p.Status != 507 {
			t.Errorf("%s: got %+v, want no_space", point, p)
		}
	}
	t.Setenv("TENSORCACHE_FAULT", "")
	tr := env.attach(t, request("d"))
	tr.batch(t)
	tr.close()
}

// TestAFeedWhoseRingCannotGrowEndsWithAReason: the client may wait for slots that do not exist.
func TestAFeedWhoseRingCannotGrowEndsWithAReason(t *testing.T) {
	env := newTestEnv(t, largeBudget)
	env.publishSeries(t, "d", 1000)
	t.Setenv("TENSORCACHE_FAULT", "ENOSPC@reserve#2")
	tr := env.attach(t, request("d", with("slots", 8)))
	defer tr.close()
	if p := problemIn(t, tr.ended()); p.Type != wire.NoSpace || p.Status != 507 {
		t.Errorf("got %+v, want no_space", p)
	}
}
