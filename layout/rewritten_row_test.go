package layout

import (
	"testing"

	"github.com/cespare/xxhash/v2"
)

// TestARowThatIsWrittenAgainWhileItIsHashedIsHashedAnew stores the second half of a column, then
// the first half. The first write hashes both halves, and another one changes a row meanwhile.
func TestARowThatIsWrittenAgainWhileItIsHashedIsHashedAnew(t *testing.T) {
	const rows = 4 << 20
	w, err := Create(t.TempDir(), Table{Rows: rows,
		Columns: []Column{{Name: "a", Role: RoleValue, DType: Float64}}})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	c, values := w.Column(0, WriteOnce), make([]float64, rows)
	WriteAt(c, rows/2, values[rows/2:])
	done := make(chan struct{})
	go func() {
		defer close(done)
		WriteAt(c, 0, values[:rows/2])
	}()
	a := c.accumulator
	for hashing := false; !hashing; {
		a.mu.Lock()
		hashing = a.busy && len(a.pending) == 0 || a.rows == rows
		a.mu.Unlock()
	}
	values[rows/2] = 7
	WriteAt(c, rows/2, values[rows/2:])
	<-done
	m, err := w.Finish(Final{Items: Items{Offsets: []int64{0, rows}}})
	if err != nil {
		t.Fatal(err)
	}
	if want := formatHash(xxhash.Sum64(bytesOf(values))); m.Columns[0].XXH64 != want {
		t.Errorf("checksum %s, want %s, that of the stored values", m.Columns[0].XXH64, want)
	}
}
