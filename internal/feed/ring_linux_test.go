package feed

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/portable"
	"github.com/tensorcache/tensorcache/internal/testwait"
)

func TestTheRingIsSealedAndHasNoName(t *testing.T) {
	env := newTestEnv(t, largeBudget)
	env.publishSeries(t, "d", 1000)
	tr := env.attach(t, request("d"))
	defer tr.close()
	name := must(os.Readlink(fmt.Sprintf("/proc/self/fd/%d", tr.fd)))(t)
	if !strings.HasSuffix(name, " (deleted)") {
		t.Errorf("the ring is %s, which has a name", name)
	}
	tr.batch(t)
	var st unix.Stat_t
	testwait.Until(t, "reserved", func() bool {
		return unix.Fstat(tr.fd, &st) != nil ||
			st.Blocks*512 >= st.Size
	})
	if err := unix.Fstat(tr.fd, &st); err != nil || st.Size != tr.SlotBytes*int64(tr.Slots) ||
		st.Blocks*512 < st.Size {
		t.Errorf("the ring has %d bytes in %d blocks, %v; want %d of %d, all there", st.Size,
			st.Blocks, err, tr.Slots, tr.SlotBytes)
	}
	if portable.Forced() {
		if !strings.HasPrefix(name, filepath.Join(env.dir, "tmp", "ring-")) {
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
	if _, err := unix.FcntlInt(uintptr(tr.fd), unix.F_ADD_SEALS,
		unix.F_SEAL_WRITE); err != unix.EPERM {
		t.Errorf("another seal: got %v, want EPERM", err)
	}
}
