package feed

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/portable"
	"github.com/tensorcache/tensorcache/internal/wire"
)

func TestTheRingIsSealedAndHasNoName(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	w := newWorld(t, roomy)
	w.series(t, "d", 1000)
	tr := w.attach(t, request("d"))
	defer tr.close()
	name := must(os.Readlink(fmt.Sprintf("/proc/self/fd/%d", tr.fd)))(t)
	if !strings.HasSuffix(name, " (deleted)") {
		t.Errorf("the ring is %s, which has a name", name)
	}
	var st unix.Stat_t
	if err := unix.Fstat(tr.fd, &st); err != nil || st.Size != tr.SlotBytes*int64(tr.Slots) || st.Blocks*512 < st.Size {
		t.Errorf("the ring has %d bytes in %d blocks, %v; want %d of %d, all there", st.Size, st.Blocks, err, tr.Slots, tr.SlotBytes)
	}
	if portable.Forced() {
		if !strings.HasPrefix(name, filepath.Join(w.dir, "tmp", "ring-")) {
			t.Errorf("the ring is %s, want a file in tmp", name)
		}
		return
	}
	if !strings.HasPrefix(name, "/memfd:tensorcache-ring") {
		t.Errorf("the ring is %s, want a memory file", name)
	}
	for _, size := range []int64{0, st.Size - 1, st.Size + 1} {
		if err := unix.Ftruncate(tr.fd, size); err != unix.EPERM {
			t.Errorf("cut to %d bytes: got %v, want EPERM", size, err)
		}
	}
	if _, err := unix.FcntlInt(uintptr(tr.fd), unix.F_ADD_SEALS, unix.F_SEAL_WRITE); err != unix.EPERM {
		t.Errorf("another seal: got %v, want EPERM", err)
	}
}

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
	if p.Type != wire.Memory || !strings.Contains(p.Detail, "a ring of 3 slots needs 1.5 KiB") || !strings.Contains(p.Detail, "has 0 B left of 6.0 KiB") || p.Hint == "" || p.Field != "batch_size" {
		t.Errorf("got %+v, want memory with need and have", p)
	}
	one.close()
	until(t, "freed", func() bool { return len(w.server.Feeds()) == 1 })
	three := w.attach(t, request("d", with("slots", 8)))
	three.batch(t)
	three.close()
}

func TestSlotsAreAboutSixteenMebibytes(t *testing.T) {
	for bytes, want := range map[int64]int{64: 64, 1 << 18: 64, 1 << 20: 16, 1 << 21: 8, 1 << 30: 8} {
		if got := chooseSlots(0, bytes); got != want {
			t.Errorf("%d slots of %d bytes, want %d", got, bytes, want)
		}
	}
	if got := chooseSlots(5, 1<<30); got != 5 {
		t.Errorf("%d slots, want the 5 that were asked for", got)
	}
}

// TestFeedsOnTheWaysThatEveryUnixHas runs the tests of rings, feeds and lifetimes again on the paths that macOS takes.
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
