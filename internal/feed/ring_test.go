package feed

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tensorcache/tensorcache/internal/peer"
	"github.com/tensorcache/tensorcache/internal/portable"
	"github.com/tensorcache/tensorcache/internal/wire"
)

func TestARingThatDoesNotFitHasFewerSlotsAndThenIsRefused(t *testing.T) {
	const slot = 512 // 8 windows of 6 rows by 2 float32, items and starts
	w := newWorld(t, 12*slot)
	w.series(t, "d", 1000)
	one := w.attach(t, request("d", with("slots", 8)))
	defer one.close()
	if one.SlotBytes != slot || one.Slots != 8 {
		t.Fatalf("%d slots of %d bytes", one.Slots, one.SlotBytes)
	}
	left := 12*slot - 8*one.SlotBytes
	two := w.attach(t, request("d", with("slots", 8)))
	defer two.close()
	if int64(two.Slots) != left/one.SlotBytes {
		t.Errorf("%d slots, want %d, as many as are left", two.Slots, left/one.SlotBytes)
	}
	p := w.refuse(t, request("d"))
	if p.Type != wire.Memory || !strings.Contains(p.Detail, "a ring of 3 slots needs 1.5 KiB") ||
		!strings.Contains(p.Detail, "has 0 B left of 6.0 KiB") || p.Hint == "" ||
		p.Field != "batch_size" {
		t.Errorf("got %+v, want memory with need and have", p)
	}
	one.close()
	until(t, "freed", func() bool { return len(w.server.Feeds()) == 1 })
	three := w.attach(t, request("d", with("slots", 8)))
	three.batch(t)
	three.close()
}

// TestARingWaitsAMomentForOneThatEnds: the daemon hears of a closed feed later than who closed it,
// and makes another.
func TestARingWaitsAMomentForOneThatEnds(t *testing.T) {
	w := newWorld(t, 4*512)
	w.series(t, "d", 1000)
	w.server.ringTimeout = time.Minute
	_, detach := w.stream(t, request("d"))
	detach = sync.OnceFunc(detach)
	defer detach()
	refused := make(chan error, 1)
	go func() {
		h, err := w.store.Acquire("d", 0)
		if err == nil {
			defer h.Release()
			var r wire.FeedRequest
			if err = json.Unmarshal(asJSON(request("d")), &r); err == nil {
				var st *stream
				if st, _, err = w.server.attach(peer.Process{}, h, r); err == nil {
					w.server.detach(st)
				}
			}
		}
		refused <- err
	}()
	select {
	case err := <-refused:
		t.Fatalf("it did not wait: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	detach()
	if err := <-refused; err != nil {
		t.Error(err)
	}
}

func TestSlotsAreAboutSixteenMebibytes(t *testing.T) {
	for bytes, want := range map[int64]int{64: 64, 1 << 18: 64, 1 << 20: 16, 1 << 21: 8,
		1 << 30: 8} {
		if got := chooseSlots(0, bytes); got != want {
			t.Errorf("%d slots of %d bytes, want %d", got, bytes, want)
		}
	}
	if got := chooseSlots(5, 1<<30); got != 5 {
		t.Errorf("%d slots, want the 5 that were asked for", got)
	}
}

// TestFeedsOnTheWaysThatEveryUnixHas runs the tests of rings, feeds and lifetimes again on the
// paths that macOS takes.
func TestFeedsOnTheWaysThatEveryUnixHas(t *testing.T) {
	if portable.Forced() {
		t.Skip("this is it")
	}
	again := "-test.run=^(TestTheRing|TestEveryBatch|TestASlot|TestClose|TestAFeedGoesOn|TestAttaching|TestARing)"
	cmd := exec.Command(os.Args[0], again, "-rapid.checks=30")
	cmd.Env = append(os.Environ(), "TENSORCACHE_PORTABLE=1")
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS") {
		t.Errorf("%v\n%s", err, out)
	}
}
