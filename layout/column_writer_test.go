package layout

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// TestEveryModeStoresWhatIsWritten writes a column in every mode, with WriteAt or Next, also over a
// draft. Values, checksum and statistics must be those of the last write.
func TestEveryModeStoresWhatIsWritten(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		rows := rapid.SampledFrom([]int64{1, 700, 9_000, bufferBytes/8 + 5_001}).Draw(r, "rows")
		width := rapid.SampledFrom([]int64{0, 0, 1, 3}).Draw(r, "width")
		dir := t.TempDir()
		w, err := Create(dir,
			Table{Rows: rows, Layout: rapid.SampledFrom([]string{Columns, Packed}).Draw(r,
				"layout"), Columns: []Column{
				{Name: "before", Role: RoleValue, DType: Int8},
				{Name: "a", Role: RoleValue, DType: Float64, Width: width},
				{Name: "b", Role: RoleValue, DType: Float64},
			}})
		if err != nil {
			r.Fatal(err)
		}
		defer w.Abort()
		random := rand.New(rand.NewPCG(uint64(rows), rapid.Uint64().Draw(r, "seed")))
		values := make([]float64, rows*max(1, width))
		write := func(c ColumnWriter) {
			for i := range values {
				values[i] = random.NormFloat64()
			}
			for row := int64(0); row < rows; {
				n := min(rows-row, []int64{1, 400, 20_000, 300_000}[random.IntN(4)])
				part := values[row*max(1, width) : (row+n)*max(1, width)]
				if c.Dense() && random.IntN(2) == 0 {
					n = int64(copy(Next[float64](c, row, n), part))
					c.Commit(row, n)
				} else {
					WriteAt(c, row, part)
				}
				row += n
			}
			c.Close()
		}
		buffered := func(c ColumnWriter) ColumnWriter {
			if rapid.Bool().Draw(r, "buffered") {
				return c.Buffered()
			}
			return c
		}
		mode := rapid.SampledFrom([]Mode{Random, WriteOnce, Rewrite, ReadRewrite}).Draw(r, "mode")
		if mode == Rewrite || mode == ReadRewrite {
			write(buffered(w.Column(1, Draft)))
		}
		write(buffered(w.Column(1, mode)))
		if _, err := w.Finish(Final{Items: Items{Offsets: []int64{0, rows}}}); err != nil {
			r.Fatal(err)
		}
		d, err := Open(dir)
		if err != nil {
			r.Fatal(err)
		}
		defer d.Close()
		if err := d.Verify(); err != nil {
			r.Error(err)
		}
		c, err := d.Manifest.Column("a")
		if err != nil {
			r.Fatal(err)
		}
		v, err := View[float64](d, c)
		if err != nil {
			r.Fatal(err)
		}
		for i, want := range values {
			if got := v.Row(int64(i) / v.Width)[int64(i)%v.Width]; got != want {
				r.Fatalf("value %d is %v, want %v", i, got, want)
			}
		}
		if c.Statistics.Count != int64(len(values)) {
			r.Errorf("%d values, want %d", c.Statistics.Count, len(values))
		}
	})
}
