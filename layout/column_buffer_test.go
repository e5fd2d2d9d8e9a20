package layout

import (
	"math/rand/v2"
	"sync"
	"testing"
)

// TestBufferedValuesAreAllStored writes two halves of a column in two goroutines, in blocks of any
// size, of which some are stored without the buffer. Values and checksums must be right.
func TestBufferedValuesAreAllStored(t *testing.T) {
	const rows = 3*bufferBytes/8 + 1001
	values := make([]float64, rows)
	for i := range values {
		values[i] = float64(i) + 0.5
	}
	for seed := range uint64(8) {
		random := rand.New(rand.NewPCG(seed, 1))
		dir := t.TempDir()
		w, err := Create(dir,
			Table{Rows: rows, Columns: []Column{{Name: "before", Role: RoleValue, DType: Int8},
				{Name: "a", Role: RoleValue, DType: Float64}}})
		if err != nil {
			t.Fatal(err)
		}
		WriteAt(w.Column(0, Random), 0, make([]int8, rows))
		once := w.Column(1, WriteOnce)
		var group sync.WaitGroup
		half := random.Int64N(rows)
		for _, part := range [][2]int64{{0, half}, {half, rows}} { // like two row groups
			sizes := rand.New(rand.NewPCG(seed, uint64(part[1])))
			group.Go(func() {
				to := once.Buffered()
				for row := part[0]; row < part[1]; {
					n := min(part[1]-row, []int64{1, 900, 20_000, 300_000}[sizes.IntN(4)])
					if sizes.IntN(5) == 0 {
						storeMapped(w.Column(1, Random), row, values[row:row+n])
					} else {
						WriteAt(to, row, values[row:row+n])
					}
					row += n
				}
				to.Close()
			})
		}
		group.Wait()
		if _, err := w.Finish(Final{Items: Items{Offsets: []int64{0, rows}}}); err != nil {
			t.Fatal(err)
		}
		d, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		if err := d.Verify(); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		c, _ := d.Manifest.Column("a")
		v, err := View[float64](d, c)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range values {
			if v.Data[i] != want {
				t.Fatalf("seed %d: row %d is %v, want %v", seed, i, v.Data[i], want)
			}
		}
	}
}
