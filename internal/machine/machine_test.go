package machine

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

func TestDescriptorsCountsOpenFiles(t *testing.T) {
	before, limit := Descriptors()
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if after, _ := Descriptors(); after != before+1 || before < 3 || limit < after {
		t.Errorf("%d descriptors of %d became %d when one was opened", before, limit, after)
	}
}

func TestDiskAndFilesystemOfADirectory(t *testing.T) {
	dir := t.TempDir()
	free, total, err := Disk(dir)
	if err != nil || free <= 0 || free > total {
		t.Errorf("%d of %d bytes are free, %v", free, total, err)
	}
	if f, err := FilesystemOf(dir); err != nil || f.Kind == Network {
		t.Errorf("%+v, %v", f, err)
	}
	for name, f := range map[string]func() error{
		"disk":       func() error { _, _, err := Disk(dir + "/none"); return err },
		"filesystem": func() error { _, err := FilesystemOf(dir + "/none"); return err },
	} {
		if err := f(); err == nil {
			t.Errorf("%s: a directory that is not there has one", name)
		}
	}
}

func TestMemlockLimitEqualsTheLimitOfTheProcess(t *testing.T) {
	var r unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &r); err != nil {
		t.Fatal(err)
	}
	if n, ok := MemlockLimit(); ok && n != int64(r.Cur) {
		t.Errorf("%d bytes may be locked, want %d", n, r.Cur)
	}
}
