package mmapfile

import (
	"bytes"
	"os"
	"syscall"
	"testing"
)

// allocated returns how many bytes of a file have disk blocks.
func allocated(t *testing.T, f *os.File) int64 {
	t.Helper()
	st, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	return st.Sys().(*syscall.Stat_t).Blocks * 512
}

func TestReservedSpaceHasBlocksAndKeepsValues(t *testing.T) {
	const size = 3<<20 + 5
	for name, reserve := range map[string]func(*os.File, int64, int64) error{"reserve": reserve,
		"fillHoles": fillHoles} {
		t.Run(name, func(t *testing.T) {
			f := file(t, []byte("head"))
			// across the border of two blocks of fillHoles
			if _, err := f.WriteAt([]byte("middle"), 1<<20-3); err != nil {
				t.Fatal(err)
			}
			if err := reserve(f, 0, size); err != nil {
				t.Fatal(err)
			}
			want := make([]byte, size)
			copy(want, "head")
			copy(want[1<<20-3:], "middle")
			got, err := os.ReadFile(f.Name())
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d bytes, %v, want what was there and zeros up to %d",
					len(got), err, size)
			}
			if n := allocated(t, f); n < size {
				t.Errorf("%d bytes have blocks, want all %d", n, size)
			}
		})
	}
}

func TestReservingLessThanTheFileKeepsIt(t *testing.T) {
	f := file(t, []byte("0123456789"))
	if err := fillHoles(f, 0, 4); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(f.Name()); err != nil || string(got) != "0123456789" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestWritesToAMapAreInItsFile(t *testing.T) {
	f := file(t, nil)
	w, err := NewWritable(f, 100)
	if err != nil {
		t.Fatal(err)
	}
	if len(w.Bytes()) != 100 || w.File() != f {
		t.Errorf("%d bytes of %s", len(w.Bytes()), w.File().Name())
	}
	copy(w.Bytes()[90:], "0123456789")
	for range 2 {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
	if got, err := os.ReadFile(f.Name()); err != nil || len(got) != 100 ||
		string(got[90:]) != "0123456789" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := f.Stat(); err == nil {
		t.Error("Close left the file open")
	}
}

func TestPopulateKeepsValues(t *testing.T) {
	f := file(t, []byte("head"))
	w, err := NewWritable(f, 100_000)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := w.WriteAt([]byte("middle"), 50_000); err != nil {
		t.Fatal(err)
	}
	w.Populate(50_001, 40_000)
	w.Populate(0, 100_000)
	if b := w.Bytes(); string(b[:4]) != "head" || string(b[50_000:50_006]) != "middle" ||
		b[99_999] != 0 {
		t.Errorf("%q, %q and %d", b[:4], b[50_000:50_006], b[99_999])
	}
	w.Bytes()[99_999] = 7
	if got, err := os.ReadFile(f.Name()); err != nil || got[99_999] != 7 {
		t.Errorf("%v, %v", got[99_999], err)
	}
}

func TestAReadOnlyFileIsRefused(t *testing.T) {
	f, err := os.Open(file(t, nil).Name())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if w, err := NewWritable(f, 100); err == nil {
		w.Close()
		t.Error("a file that was opened for reading was reserved")
	}
}

func TestAPlaceholderReadsAsZeros(t *testing.T) {
	p, err := NewPlaceholder(1 << 40) // more than the memory of any machine
	if err != nil {
		t.Skip("this machine gives no terabyte of address space:", err)
	}
	if b := p.Bytes(); len(b) != 1<<40 || b[0] != 0 || b[1<<39] != 0 {
		t.Error("it does not read as zeros")
	}
	for range 2 {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	empty, err := NewPlaceholder(0)
	if err != nil {
		t.Fatal(err)
	}
	if err := empty.Close(); err != nil {
		t.Error(err)
	}
}
