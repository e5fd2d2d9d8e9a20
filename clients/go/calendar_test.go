package tensorcache

import (
	"slices"
	"testing"

	"github.com/tensorcache/tensorcache/window"
)

func TestKnownColumnsMayBeTheCalendar(t *testing.T) {
	c := sharedDaemon(t)
	times, values := make([]int64, 30), make([]float32, 30)
	for i := range times {
		times[i], values[i] = int64(i)*3600, float32(i)
	}
	d := must(c.Put(t.Context(), "hourly", []PutColumn{Timestamps("t", "s", times), Values("y", values)},
		LoadOptions{Time: "t", Calendar: []string{"timeF:h", "age"}}))(t)
	defer d.Close()
	check := func(d *Dataset) {
		t.Helper()
		spec := window.Spec{ContextLength: 4, PredictionLength: 2, KnownColumns: []string{"calendar"}}
		f := must(NewFeed[float32](t.Context(), must(d.Windows(t.Context(), spec))(t),
			FeedOptions{BatchSize: 1}))(t)
		defer f.Close()
		for b, err := range f.Epoch(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			if context, known := b.Context.Shape[2], b.Known.Shape[2]; context != 1 || known != 5 {
				t.Errorf("%d features in the context and %d in known, want 1 and 5", context, known)
			}
			break
		}
	}
	check(d)
	columns := []PutColumn{Timestamps("t", "s", times), Values("y", values)}
	for _, name := range []string{"hour_unit", "dayofweek_unit", "day_unit", "dayofyear_unit", "age"} {
		columns = append(columns, Values(name, must(Column[float32](d, name))(t)))
	}
	again := must(c.Put(t.Context(), "again", columns, LoadOptions{Time: "t"}))(t)
	defer again.Close()
	check(again)

	columns[2] = Values("hour_unit", slices.Clone(values))
	copied := must(c.Put(t.Context(), "copied", columns, LoadOptions{Time: "t"}))(t)
	defer copied.Close()
	if c, err := copied.data.Manifest.Column("hour_unit"); err != nil || c.Calendar != "" || c.NamedOnly {
		t.Errorf("a column with memory of its own is %+v (%v), want no calendar column", c, err)
	}
}
