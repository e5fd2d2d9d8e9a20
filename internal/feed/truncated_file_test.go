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

// publishWide publishes a dataset whose windows of 4 rows have 1 KiB. They are copied with REP
// MOVSB if the processor has it.
func (env *testEnv) publishWide(t tb, name, kind string, rows int64) {
	t.Helper()
	table := layout.Table{Layout: kind, Rows: rows}
	for i := range 64 {
		table.Columns = append(table.Columns,
			layout.Column{Name: fmt.Sprint("c", i), Role: layout.RoleValue, DType: layout.Float32})
	}
	storetest.Publish(t, env.store, name, table,
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

// truncate removes the second half of a dataset's file.
func (env *testEnv) truncate(t tb, name string) {
	t.Helper()
	path := filepath.Join(env.dir, "datasets", name, "1", layout.DataFile)
	st, err := os.Stat(path)
	if err == nil {
		err = os.Truncate(path, st.Size()/2)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestATruncatedFileEndsOnlyItsFeeds truncates a file under feeds that read all of it repeatedly,
// with each kind of mover: assembly, copy, and value by value.
func TestATruncatedFileEndsOnlyItsFeeds(t *testing.T) {
	env := newTestEnv(t, largeBudget)
	env.publishSeries(t, "whole", 5000)
	other := env.attach(t, request("whole", with("slots", 4)))
	defer other.close()
	for name, test := range map[string]struct {
		kind   string
		change []func(map[string]any)
	}{
		"packed-rows":     {layout.Packed, nil},
		"packed-columns":  {layout.Packed, changes(with("channels_first", true))},
		"columns":         {layout.Columns, nil},
		"columns-double":  {layout.Columns, changes(spec("dtype", "float64"))},
		"columns-one":     {layout.Columns, changes(spec("columns", []string{"c63"}))},
		"columns-shuffle": {layout.Columns, changes(options("order", "shuffle"))},
	} {
		t.Run(name, func(t *testing.T) {
			env.publishWide(t, name, test.kind, 20_000)
			tr := env.attach(t, request(name, append(test.change, with("slots", 4))...))
			defer tr.close()
			tr.credit(t, tr.batch(t).Slot)
			env.truncate(t, name)
			d, err := tr.next()
			for ; err == nil; d, err = tr.next() {
				// After an error the reason can be read.
				_ = tr.send(wire.FrameCredit, uint32Bytes(d.Slot))
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

// TestAttachingToATruncatedFileIsRefused plans windows from rows that do not exist any more.
func TestAttachingToATruncatedFileIsRefused(t *testing.T) {
	env := newTestEnv(t, largeBudget)
	env.publishWide(t, "d", layout.Columns, 20_000)
	env.attach(t, request("d")).close() // maps the file
	env.truncate(t, "d")
	for range 2 { // the second time from the cache
		p := env.refuse(t,
			request("d", spec("columns", []string{"c1"}, "static_columns", []string{"c63"})))
		if p.Type != wire.Corrupt || p.Field != "dataset" ||
			!strings.Contains(p.Detail, filepath.Join("d", "1", layout.DataFile)) || p.Hint == "" {
			t.Errorf("got %s: %s (%s)", p.Type, p.Detail, p.Hint)
		}
	}
	tr := env.attach(t, request("d", spec("columns", []string{"c1"}))) // the first half is there
	defer tr.close()
	tr.credit(t, tr.batch(t).Slot)
}
