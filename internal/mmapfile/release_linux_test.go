package mmapfile

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/tensorcache/tensorcache/internal/portable"
)

// mappedBytes are those of a map of a file that are in the process's memory, as the kernel counts them.
func mappedBytes(t *testing.T, path string) string {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	_, of, found := strings.Cut(string(maps), path)
	_, of, rss := strings.Cut(of, "Rss:")
	if !found || !rss {
		t.Fatal("the map is not listed")
	}
	of, _, _ = strings.Cut(of, "\n")
	return strings.TrimSpace(of)
}

func TestWhatIsReleasedIsUnmappedAndStays(t *testing.T) {
	if portable.Forced() {
		t.Skip("only Close unmaps then")
	}
	const size = 3*largePage + 5000
	f := file(t, nil)
	path := f.Name()
	w, err := NewWritable(f, size)
	if err != nil {
		t.Fatal(err)
	}
	want := bytes.Repeat([]byte("0123456789"), size/10+1)[:size]
	copy(w.Bytes(), want)
	before := mappedBytes(t, path)
	w.Release(largePage-1, 2*largePage-1) // all that lies in the first
	if after := mappedBytes(t, path); before != "6152 kB" || after != "4104 kB" {
		t.Errorf("%s are mapped, then %s", before, after)
	}
	w.Release(5, 70)
	if !bytes.Equal(w.Bytes(), want) {
		t.Error("what was released is not what was written")
	}
	w.Release(0, size)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes are in the file, %v", len(got), err)
	}
}
