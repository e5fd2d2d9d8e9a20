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
	"github.com/tensorcache/tensorcache/internal/testwait"
	"github.com/tensorcache/tensorcache/internal/wire"
)

func TestARingThatDoesNotFitHasFewerSlotsAndThenIsRefused(t *testing.T) {
	const slot = 512 // 8 windows of 6 rows of 2 float32, items and starts
	env := newTestEnv(t, 12*slot)
	env.publishSeries(t, "d", 1000)
	one := env.attach(t, request("d", with("slots", 8)))
	defer one.close()
	if one.SlotBytes != slot || one.Slots != 8 {
		t.Fatalf("%d slots of %d bytes", one.Slots, one.SlotBytes)
	}
	left := 12*slot - 8*one.SlotBytes
	two := env.attach(t, request("d", with("slots", 8)))
	defer two.close()
	if int64(two.Slots) != left/one.SlotBytes {
		t.Errorf("%d slots, want %d, as many as are left", two.Slots, left/one.SlotBytes)
	}
	p := env.refuse(t, request("d"))
	if p.Type != wire.Memory || !strings.Contains(p.Detail, "a ring of 3 slots needs 1.5 KiB") ||
		!strings.Contains(p.Detail, "has 0 B left of 6.0 KiB") || p.Hint == "" ||
		p.Field != "batch_size" {
		t.Errorf("got %+v, want the problem memory with both sizes", p)
	}
	one.close()
	testwait.Until(t, "freed", func() bool { return len(env.server.Feeds()) == 1 })
	three := env.attach(t, request("d", with("slots", 8)))
	three.batch(t)
	three.close()
}

// TestARingWaitsForMemoryOfAFeedThatEnds: the daemon notices that a feed was closed later than the
// client, which attaches another.
func TestARingWaitsForMemoryOfAFeedThatEnds(t *testing.T) {
	env := newTestEnv(t, 4*512)
	env.publishSeries(t, "d", 1000)
	env.server.ringTimeout = time.Minute
	_, detach := env.attachFeed(t, request("d"))
	detach = sync.OnceFunc(detach)
	defer detach()
	refused := make(chan error, 1)
	go func() {
		h, err := env.store.Acquire("d", 0)
		if err == nil {
			defer h.Release()
			var r wire.FeedRequest
			if err = json.Unmarshal(asJSON(request("d")), &r); err == nil {
				var st *feed
				if st, _, err = env.server.attach(peer.Process{}, h, r); err == nil {
					env.server.detach(st)
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

func TestTheDefaultRingHasAbout16MiB(t *testing.T) {
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

// TestFeedsWithPortableSystemCalls runs the tests of rings, feeds and lifetimes again with the code
// of macOS.
func TestFeedsWithPortableSystemCalls(t *testing.T) {
	if portable.Forced() {
		t.Skip("this is it")
	}
	again := "-test.run=^(TestTheRing|TestEveryBatch|TestASlot|TestClose|TestAFeedContinues|" +
		"TestAttaching|TestARing)"
	cmd := exec.Command(os.Args[0], again, "-rapid.checks=30")
	cmd.Env = append(os.Environ(), "TENSORCACHE_PORTABLE=1")
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS") {
		t.Errorf("%v\n%s", err, out)
	}
}
