package layout

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// mappedKiB returns the resident size of a file's mapping in this process, from /proc/self/smaps.
func mappedKiB(t *testing.T, path string) int64 {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(maps), path)
	_, rest, _ = strings.Cut(rest, "Rss:")
	size, _, found := strings.Cut(rest, "kB")
	n, err := strconv.ParseInt(strings.TrimSpace(size), 10, 64)
	if !found || err != nil {
		t.Fatal(size, err)
	}
	return n
}

// TestABufferedDraftMapsItsPages writes a buffered column. The pages of a draft must be mapped
// after the write, because steps read and write them next.
func TestABufferedDraftMapsItsPages(t *testing.T) {
	const rows = 3 * bufferBytes / 8
	values := make([]float64, rows)
	for i := range values {
		values[i] = float64(i)
	}
	for _, mode := range []Mode{Random, Draft} {
		dir := t.TempDir()
		w, err := Create(dir,
			Table{Rows: rows, Layout: Columns,
				Columns: []Column{{Name: "x", Role: RoleValue, DType: Float64}}})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Abort()
		d := w.Column(0, mode).Buffered()
		want := d.makeWritable(0, 1) && mode == Draft // if the system supports it
		WriteAt(d, 0, values)
		d.Close()
		n := mappedKiB(t, filepath.Join(dir, DataFile))
		if ready := n >= rows*8>>10; ready != want {
			t.Errorf("%d KiB of %d are mapped, want all: %v", n, rows*8>>10, want)
		}
		if got := Values[float64](w.Column(0, Random)).Data; !slices.Equal(got, values) {
			t.Error("the stored values are not those that were written")
		}
	}
}
