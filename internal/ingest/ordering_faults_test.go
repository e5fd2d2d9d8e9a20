//go:build faults

package ingest

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/parquet-go/parquet-go"
)

// TestASortingIsPlannedOnlyWhereRowsAreOutOfOrder stops loads of every format when all rows are read, and looks at what they expect then.
func TestASortingIsPlannedOnlyWhereRowsAreOutOfOrder(t *testing.T) {
	t.Setenv("TENSORCACHE_FAULT", "ENOSPC@ingest.order")
	const rows = 600
	keyed := Options{ItemID: []string{"id"}, Time: "t", Sort: true}
	for _, order := range []struct {
		name  string
		row   func(i int) int // of the rows in order
		state orderState
	}{
		{"in order", func(i int) int { return i }, orderKept},
		{"by time", func(i int) int { return i%6*100 + i/6 }, orderMixed},
		{"shuffled", func(i int) int { return i * 7919 % rows }, orderBroken},
		{"two rows changed", func(i int) int {
			if i/2 == 295 {
				return i ^ 1
			}
			return i
		}, orderMixed},
	} {
		text := strings.Builder{}
		text.WriteString("id,t,x\n")
		var groups, alone []groupedRow
		var records [][]byte
		var held []heldRow
		var items, when []int64
		for i := range rows {
			item, time := order.row(i)/100, order.row(i)%100
			fmt.Fprintf(&text, "i%d,%d,%d.5\n", item, time, i)
			groups = append(groups, groupedRow{ID: fmt.Sprint("i", item), T: int64(time), X: float64(i)})
			alone = append(alone, groupedRow{T: int64(order.row(i)), X: float64(i)})
			records = append(records, example(false, map[string]any{"id": []int64{int64(item)}, "t": []int64{int64(time)}, "x": []float32{float32(i)}}))
			held = append(held, heldRow{int64(item), int64(time), []string{"1"}})
			items, when = append(items, int64(item)), append(when, int64(time))
		}
		groups70 := filepath.Join(t.TempDir(), "a.parquet")
		parquetGroups(t, groups70, groups, 70)
		whole := filepath.Join(t.TempDir(), "a.parquet")
		parquetGroups(t, whole, groups, rows)
		times := filepath.Join(t.TempDir(), "a.parquet")
		parquetGroups(t, times, alone, 70, parquet.DataPageVersion(1)) // pages whose values are gathered from chunk to chunk
		halves := []string{filepath.Join(t.TempDir(), "a.parquet"), filepath.Join(t.TempDir(), "b.parquet")}
		parquetGroups(t, halves[0], alone[:rows/2], 70)
		parquetGroups(t, halves[1], alone[rows/2:], 70)
		stream := filepath.Join(t.TempDir(), "a.arrows")
		heldStream(t, stream, arrow.PrimitiveTypes.Int64, 0, held)
		folders := t.TempDir()
		for d := range 3 { // all rows of two items in each
			path := filepath.Join(folders, fmt.Sprint("day=", d), "a.parquet")
			parquetGroups(t, path, groups[d*rows/3:(d+1)*rows/3], 70)
		}
		i, iBytes := columnBytes(t, "id", "int64", []int64{rows}, items)
		x, xBytes := columnBytes(t, "x", "int64", []int64{rows}, items)
		u, uBytes := columnBytes(t, "t", "int64", []int64{rows}, when)
		wide := strings.Builder{}
		wide.WriteString("t,a,b\n")
		for i := range rows {
			fmt.Fprintf(&wide, "%d,1,2\n", order.row(i))
		}
		with := func(o Options, sources ...string) Job { o.Sources = sources; return Job{Options: o} }
		for name, c := range map[string]struct {
			job  Job
			sent []byte
		}{
			"CSV":                {job: with(keyed, source(t, "a.csv", text.String()))},
			"Parquet":            {job: with(keyed, groups70)},
			"Parquet, one group": {job: with(keyed, whole)},
			"Parquet, gathered":  {job: with(Options{Time: "t", Sort: true, Columns: []string{"x"}}, times)},
			"Arrow":              {job: with(Options{ItemID: []string{"i"}, Time: "t", Sort: true}, stream)},
			"TFRecord":           {job: with(keyed, source(t, "a.tfrecord", tfRecords(records...)))},
			"NumPy":              {job: with(keyed, source(t, "a.npz", npz(t, zip.Store, map[string]string{"id.npy": npy("<i8", "(600,)", false, binary.LittleEndian, items), "t.npy": npy("<i8", "(600,)", false, binary.LittleEndian, when)})))},
			"folders":            {job: with(Options{ItemID: []string{"day", "id"}, Time: "t", Sort: true}, folders)},
			"filtered":           {job: with(Options{ItemID: []string{"id"}, Time: "t", Sort: true, ItemBucket: "0/2"}, groups70)},
			"melted":             {job: with(Options{Time: "t", Sort: true, Melt: true}, source(t, "a.csv", wide.String()))},
			"melted halves":      {job: with(Options{Time: "t", Sort: true, Melt: true, Columns: []string{"x"}}, halves...)},
			"a put":              {job: Job{Options: keyed, Put: &Put{Format: FormatColumns, Columns: []PutColumn{i, x, u}}}, sent: bytes.Join([][]byte{iBytes, xBytes, uBytes}, nil)},
		} {
			t.Run(order.name+", "+name, func(t *testing.T) {
				m := &meter{}
				c.job.Dir = t.TempDir()
				if _, err := c.job.load(t.Context(), bytes.NewReader(c.sent), m); err == nil {
					t.Fatal("the load did not stop")
				}
				for _, p := range *m.plan.Load() {
					if p.phase != phaseArrange {
						continue
					}
					state, row := orderKept, p.cost/float64(m.rowsTotal.Load())
					switch {
					case row >= costSort:
						state = orderBroken
					case row >= costMerge:
						state = orderMixed
					}
					if state != order.state && (state < order.state || len(c.job.ItemID) > 0) { // by time alone, what goes by it in turns is shuffled
						t.Errorf("arranging costs %v a row, as in state %d, want %d", row, state, order.state)
					}
				}
			})
		}
	}
}
