package tensorcache

import (
	"math"
	"slices"
	"testing"
	"time"
)

// slotsOverTime returns the numbers of slots that a ring had, while the trainer waited for share of
// each second, and the daemon for idle of it. The memory allows most slots.
func slotsOverTime(t *testing.T, share func(slots int) float64, idle float64, most int) []int {
	t.Helper()
	var tuned tuner
	slots, slotsHad := 8, []int{8}
	var waited, idled time.Duration
	if tuned.due(900 * time.Millisecond) {
		t.Error("a decision after less than a second")
	}
	for second := time.Second; second < 8*time.Second && !tuned.settled; second += time.Second {
		if !tuned.due(second) {
			t.Fatalf("no decision after %s", second)
		}
		waited += time.Duration(share(slots) * float64(time.Second))
		idled += time.Duration(idle * float64(time.Second))
		wanted := tuned.decide(second, waited,
			func() (time.Duration, bool) { return idled, true }, slots)
		if wanted != slots {
			slots, idled = min(wanted, most), 0
			tuned.resized(slots)
			slotsHad = append(slotsHad, slots)
		}
	}
	if tuned.settled && tuned.due(time.Hour) {
		t.Error("a decision after it has settled")
	}
	return slotsHad
}

func TestSlotsAreAddedWhileThatHelps(t *testing.T) {
	always := func(share float64) func(int) float64 { return func(int) float64 { return share } }
	below := func(slots int, share, rest float64) func(int) float64 {
		return func(have int) float64 {
			if have < slots {
				return share
			}
			return rest
		}
	}
	inverse := func(slots int) float64 { return 3.2 / float64(slots) }
	for name, one := range map[string]struct {
		share func(slots int) float64
		idle  float64
		most  int
		had   []int
	}{
		"nobody waits for data": {always(0.01), 0.9, 1000, []int{8}},
		"the daemon is busy":    {always(0.5), 0.1, 1000, []int{8}},
		"it does not help":      {always(0.5), 0.5, 1000, []int{8, 16, 8}},
		"it does":               {below(16, 0.3, 0.01), 0.5, 1000, []int{8, 16}},
		"hardly":                {below(32, 0.3, 0.28), 0.5, 1000, []int{8, 16, 8}},
		"the more the better":   {inverse, 0.5, 1000, []int{8, 16, 32, 64, 128, 256}},
		"to the bound": {func(slots int) float64 { return 8 / float64(slots) }, 0.5, 1000,
			[]int{8, 16, 32, 64, 128, 256, 512}},
		"less and less":       {func(slots int) float64 { return 0.9 / math.Sqrt(math.Log2(float64(slots))) }, 0.5, 1000, []int{8, 16, 32, 64, 32}},
		"until memory ends":   {inverse, 0.5, 20, []int{8, 16, 20, 20}},
		"memory ends at once": {inverse, 0.5, 8, []int{8, 8}},
	} {
		if had := slotsOverTime(t, one.share, one.idle, one.most); !slices.Equal(had, one.had) {
			t.Errorf("%s: slots %v, want %v", name, had, one.had)
		}
	}
}

func TestADaemonThatDoesNotAnswerChangesNothing(t *testing.T) {
	var tuned tuner
	silent := func() (time.Duration, bool) { return time.Hour, false }
	if slots := tuned.decide(time.Second, time.Second/2, silent, 8); slots != 8 || tuned.settled {
		t.Errorf("%d slots, settled: %t", slots, tuned.settled)
	}
	if slots := tuned.decide(2*time.Second, time.Second,
		func() (time.Duration, bool) { return time.Second, true }, 8); slots != 16 {
		t.Errorf("%d slots after it answers again, want 16", slots)
	}
}

func TestTimeBetweenPassesIsNotIdle(t *testing.T) {
	m := &meter{inPasses: 10 * time.Second}
	s := &stream{meter: m, attached: time.Now().Add(-time.Hour), passedBefore: 2 * time.Second}
	// all but 8 s were between passes
	if idle := s.idleInPasses(time.Hour); idle <= 0 || idle > 8*time.Second {
		t.Errorf("idle for %s of 8 s inside passes", idle)
	}
	if idle := s.idleInPasses(50 * time.Minute); idle != 0 {
		t.Errorf("idle for %s inside passes, want none", idle)
	}
}
