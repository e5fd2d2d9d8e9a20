package feed

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tensorcache/tensorcache/internal/storetest"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
)

// wide publishes a dataset whose rows are moved by REP MOVSB where the processor has it: windows of
// 4 rows are 1 KiB.
func (w *world) wide(t tb, name, kind string, rows int64) {
	t.Helper()
	table := layout.Table{Layout: kind, Rows: rows}
	for i := range 64 {
		table.Columns = append(table.Columns,
			layout.Column{Name: fmt.Sprint("c", i), Role: layout.RoleValue, DType: layout.Float32})
	}
	storetest.Publish(t, w.store, name, table,
		layout.Final{Items: layout.Items{Offsets: []int64{0, rows}}},
		func(w *layout.Writer) {
			for i := range table.Columns {
				v := layout.Values[float32](w.Column(i, layout.Random))
				for row := range v.Rows {
					v.Row(row)[0] = float32(row)
				}
			}
		})
}

// cutOff leaves a dataset's file half of its bytes until the test ends: the store is closed over
// what was published.
func (w *world) cutOff(t tb, name string) {
	t.Helper()
	path := filepath.Join(w.dir, "datasets", name, "1", layout.DataFile)
	st, err := os.Stat(path)
	if err == nil {
		err = os.Truncate(path, st.Size()/2)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestAFileThatIsCutOffEndsItsFeedsAlone cuts a file under feeds that read all of it again and
// again, by every way of moving: through assembly, by Go's copy and value by value.
func TestAFileThatIsCutOffEndsItsFeedsAlone(t *testing.T) {
	w := newWorld(t, roomy)
	w.series(t, "whole", 5000)
	other := w.attach(t, request("whole", with("slots", 4)))
	defer other.close()
	for name, test := range map[string]struct {
		kind   string
		change []func(map[string]any)
	}{
		"packed-rows":     {layout.Packed, nil},
		"packed-columns":  {layout.Packed, c(with("channels_first", true))},
		"columns":         {layout.Columns, nil},
		"columns-double":  {layout.Columns, c(spec("dtype", "float64"))},
		"columns-one":     {layout.Columns, c(spec("columns", []string{"c63"}))},
		"columns-shuffle": {layout.Columns, c(options("order", "shuffle"))},
	} {
		t.Run(name, func(t *testing.T) {
			w.wide(t, name, test.kind, 20_000)
			tr := w.attach(t, request(name, append(test.change, with("slots", 4))...))
			defer tr.close()
			tr.credit(t, tr.batch(t).Slot)
			w.cutOff(t, name)
			d, err := tr.next()
			for ; err == nil; d, err = tr.next() {
				// where it fails there are last words to be read
				_ = tr.send(wire.FrameCredit, le(d.Slot))
			}
			p := problemIn(t, err)
			if p.Type != wire.Corrupt || !strings.HasPrefix(p.Detail, name+", generation 1: ") ||
				!strings.Contains(p.Detail, layout.DataFile) || p.Hint != "tensorcache rm "+name+
				", then load it again from its sources" {
				t.Errorf("got %s: %s (%s)", p.Type, p.Detail, p.Hint)
			}
			other.credit(t, other.batch(t).Slot)
		})
	}
}

// TestAttachingOverAFileThatIsCutOffIsRefused has what decides on the windows read from where
// nothing is any more.
func TestAttachingOverAFileThatIsCutOffIsRefused(t *testing.T) {
	w := newWorld(t, roomy)
	w.wide(t, "d", layout.Columns, 20_000)
	w.attach(t, request("d")).close() // it is mapped
	w.cutOff(t, "d")
	for range 2 { // what was found out is kept
		p := w.refuse(t,
			request("d", spec("columns", []string{"c1"}, "static_columns", []string{"c63"})))
		if p.Type != wire.Corrupt || p.Field != "dataset" ||
			!strings.Contains(p.Detail, filepath.Join("d", "1", layout.DataFile)) || p.Hint == "" {
			t.Errorf("got %s: %s (%s)", p.Type, p.Detail, p.Hint)
		}
	}
	tr := w.attach(t, request("d", spec("columns", []string{"c1"}))) // the first half is there
	defer tr.close()
	tr.credit(t, tr.batch(t).Slot)
}
