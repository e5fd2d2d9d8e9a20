package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	tensorcache "github.com/tensorcache/tensorcache/clients/go"
	"github.com/tensorcache/tensorcache/internal/control"
	"github.com/tensorcache/tensorcache/internal/machine"
	"github.com/tensorcache/tensorcache/internal/testwait"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/window"
)

// groupLimit is the memory of the control group that the daemon runs in.
const groupLimit = 512 << 20

// newControlGroup makes a control group if that is allowed. It also returns the field of
// memory.stat that counts file pages.
func newControlGroup(t *testing.T) (dir, field string) {
	t.Helper()
	for _, v := range []struct{ root, limit, field string }{
		{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "cache"},
		{"/sys/fs/cgroup", "memory.max", "file"},
	} {
		dir := filepath.Join(v.root, fmt.Sprintf("tensorcache-test-%d", os.Getpid()))
		if os.Mkdir(dir, 0o755) != nil {
			continue
		}
		t.Cleanup(func() {
			if err := os.Remove(dir); err != nil {
				t.Error(err)
			}
		})
		if os.WriteFile(filepath.Join(dir, v.limit), []byte(strconv.Itoa(groupLimit)), 0) == nil {
			return dir, v.field
		}
	}
	return "", ""
}

// readField returns the number after a name in a file such as /proc/PID/status.
func readField(t *testing.T, file, name string) int64 {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == name {
			n, err := strconv.ParseInt(f[1], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatalf("%s has no %s", file, name)
	return 0
}

// sumMapped sums a figure of the maps of a process whose names contain a text.
func sumMapped(t *testing.T, pid int, of, figure string) (sum int64) {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps", pid))
	if err != nil {
		t.Fatal(err)
	}
	ours := false
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if !strings.HasSuffix(f[0], ":") {
			ours = strings.Contains(line, of)
		} else if ours && f[0] == figure+":" {
			kib, err := strconv.ParseInt(f[1], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			sum += kib << 10
		}
	}
	return sum
}

// residentFiles returns how many bytes of a directory's files are in memory, by mincore(2) on maps
// of this process.
func residentFiles(t *testing.T, dir string) (sum int64) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	page := os.Getpagesize()
	for _, entry := range files {
		b, err := os.Open(filepath.Join(dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		st, err := b.Stat()
		if err != nil || st.Size() == 0 {
			continue
		}
		m, err := unix.Mmap(int(b.Fd()), 0, int(st.Size()), unix.PROT_READ, unix.MAP_SHARED)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Munmap(m)
		pages := make([]byte, (len(m)+page-1)/page)
		if _, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&m[0])),
			uintptr(len(m)), uintptr(unsafe.Pointer(&pages[0]))); errno != 0 {
			t.Fatal(errno)
		}
		for _, p := range pages {
			sum += int64(p&1) * int64(page)
		}
	}
	return sum
}

// sharedBytes returns the memory of a process's memory files with a name.
func sharedBytes(t *testing.T, pid int, name string) (sum int64) {
	t.Helper()
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	open, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range open {
		var st unix.Stat_t
		path := filepath.Join(dir, fd.Name())
		if to, err := os.Readlink(path); err == nil && strings.HasPrefix(to, "/memfd:"+name) &&
			unix.Stat(path, &st) == nil {
			sum += st.Blocks * 512
		}
	}
	return sum
}

// TestMemoryFiguresEqualTheKernels compares the daemon's memory figures with the kernel's,
// within 1 %: those of its maps and, if one can be made, of its control group.
func TestMemoryFiguresEqualTheKernels(t *testing.T) {
	dir := t.TempDir()
	if f, err := machine.FilesystemOf(dir); err != nil || f.Kind == machine.Memory {
		t.Skip("the file system keeps its files in memory", err)
	}
	group, field := newControlGroup(t)
	command := []string{os.Args[0], "serve", "--dir", dir, "--ready-fd", "3"}
	if group != "" {
		command = append([]string{"sh", "-c", `echo $$ > "$0" && exec "$@"`,
			filepath.Join(group, "cgroup.procs")}, command...)
	}
	d := startFaulty(t, dir, "", command...)
	defer d.stop()
	cache, err := tensorcache.Connect(t.Context(), tensorcache.Options{Dir: dir, NoStart: true})
	if err != nil {
		t.Fatal(err)
	}
	defer cache.Close()
	ask := func() (m wire.Machine, x wire.Dataset) {
		t.Helper()
		if err := errors.Join(d.client.Get(t.Context(), "/v1/machine", &m),
			d.client.Get(t.Context(), control.Dataset("x", ""), &x)); err != nil {
			t.Fatal(err)
		}
		return m, x
	}
	equal := func(a, b int64) bool { return max(a, b)-min(a, b) <= max(a, b)/100 }
	agree := func(what string, ours, kernels int64) {
		t.Helper()
		if !equal(ours, kernels) {
			t.Errorf("%s: %d bytes by the daemon's count, %d by the kernel's", what, ours, kernels)
		}
	}

	data, err := cache.Put(t.Context(), "x",
		[]tensorcache.PutColumn{tensorcache.Values("a", make([]float32, 16<<20))},
		tensorcache.LoadOptions{})
	if err = errors.Join(err, data.Close()); err != nil {
		t.Fatal(err)
	}
	testwait.Until(t, "the reader has ended", func() bool { _, x := ask(); return x.Readers == 0 })
	var unloaded wire.Unloaded
	if err := d.client.Post(t.Context(), control.Dataset("x", "/unload"), nil,
		&unloaded); err != nil || *unloaded.ResidentBytes != 0 {
		t.Fatalf("%+v, %v", unloaded, err)
	}
	last := "" // figures
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(last)
		}
	})
	for _, part := range []int64{8 << 20, 40 << 20} {
		// Figures may be a second old, and the kernel may drop pages at any time.
		testwait.Until(t, "the figures of a part are equal", func() bool {
			in, err := os.Open(filepath.Join(dir, "datasets/x/1/data.arrow"))
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			if _, err := io.CopyN(io.Discard, in, part); err != nil {
				t.Fatal(err)
			}
			m, x := ask()
			kernels := residentFiles(t, filepath.Join(dir, "datasets/x/1"))
			last = fmt.Sprintf("%d bytes of x are in memory, and %d of all, by the daemon's count, %d by "+
				"the kernel's; %d were read", *x.ResidentBytes, m.Memory.Resident, kernels, part)
			return kernels >= part && equal(*x.ResidentBytes, kernels) &&
				equal(m.Memory.Resident, kernels) && *x.ResidentBytes < x.Bytes
		})
	}
	files := filepath.Join(dir, "datasets")
	var m wire.Machine
	var pinned wire.Pinned
	// The kernel counts other pages of the group, too, and may drop those between two readings.
	testwait.Until(t, "the figures of pinned pages are equal", func() bool {
		if err := errors.Join(d.client.Delete(t.Context(), control.Dataset("x", "/pin"), &pinned),
			d.client.Post(t.Context(), control.Dataset("x", "/unload"), nil, &unloaded)); err != nil ||
			*unloaded.ResidentBytes != 0 {
			t.Fatalf("%+v, %v", unloaded, err)
		}
		before := int64(0)
		if group != "" {
			before = readField(t, filepath.Join(group, "memory.stat"), field)
		}
		if err := d.client.Put(t.Context(), control.Dataset("x", "/pin"), nil,
			&pinned); err != nil {
			t.Fatal(err)
		}
		var x wire.Dataset
		m, x = ask()
		agree("pinned", m.Memory.Pinned, sumMapped(t, d.Process.Pid, files, "Locked"))
		if pinned.Limited != "" {
			return true
		}
		agree("resident", m.Memory.Resident, x.Bytes)
		agree("resident and mapped", *x.ResidentBytes, sumMapped(t, d.Process.Pid, files, "Rss"))
		if group == "" {
			return true
		}
		grown := readField(t, filepath.Join(group, "memory.stat"), field) - before
		last = fmt.Sprintf("%d bytes are in memory by the daemon's count, the group has %d more",
			m.Memory.Resident, grown)
		return equal(m.Memory.Resident, grown)
	})
	if group != "" && (m.Memory.Limit != groupLimit || m.Memory.Budget != groupLimit/2 ||
		m.Memory.Available > groupLimit) {
		t.Errorf("%+v in a group of %d bytes", m.Memory, groupLimit)
	}

	if data, err = cache.Dataset(t.Context(), "x"); err != nil {
		t.Fatal(err)
	}
	w, err := data.Windows(t.Context(), window.Spec{ContextLength: 4096})
	if err != nil {
		t.Fatal(err)
	}
	feed, err := tensorcache.NewFeed[float32](t.Context(), w,
		tensorcache.FeedOptions{BatchSize: 64})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range feed.Epoch(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		break
	}
	m, _ = ask()
	if m.Memory.Rings == 0 {
		t.Error("a feed has no ring")
	}
	agree("rings", m.Memory.Rings, sumMapped(t, d.Process.Pid, "memfd:tensorcache-ring", "Size"))
	testwait.Until(t, "all slots are reserved", func() bool { // the first slots are reserved at once, the others later
		return sharedBytes(t, d.Process.Pid, "tensorcache-ring") >= m.Memory.Rings*99/100
	})
	agree("rings in memory", m.Memory.Rings, sharedBytes(t, d.Process.Pid, "tensorcache-ring"))
	if err := d.client.Delete(t.Context(), control.Dataset("x", "/pin"), &pinned); err != nil ||
		pinned.PinnedBytes != 0 {
		t.Errorf("%+v, %v", pinned, err)
	}
	if err := d.client.Post(t.Context(), control.Dataset("x", "/unload"), nil,
		&unloaded); err != nil || *unloaded.ResidentBytes > 0 != strings.HasPrefix(unloaded.Kept,
		"mapped by ") {
		t.Errorf("%+v while a trainer reads, %v", unloaded, err)
	}
	for batch, err := range feed.Epoch(t.Context()) { // reading brings the pages back
		if err != nil || batch.Len() != 64 {
			t.Fatal(batch, err)
		}
		break
	}
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", d.Process.Pid))
	if err != nil || m.Descriptors.Open < int64(len(open))-2 ||
		m.Descriptors.Open > int64(len(open))+2 {
		t.Errorf("%d descriptors by the daemon's count, %d by the kernel's, %v", m.Descriptors.Open,
			len(open), err)
	}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil ||
		m.Descriptors.Limit < int64(limit.Cur) {
		t.Errorf("a limit of %d descriptors, ours is %d, %v", m.Descriptors.Limit, limit.Cur, err)
	}
	if err := errors.Join(feed.Close(), data.Close()); err != nil {
		t.Error(err)
	}
}
