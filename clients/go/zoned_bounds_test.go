package tensorcache

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/tensorcache/tensorcache/window"
)

// writeHours writes an Arrow stream with the hours from 1970 on in a zone, and their numbers.
func writeHours(t *testing.T, path, zone string, rows int64) {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "t", Type: &arrow.TimestampType{Unit: arrow.Second, TimeZone: zone}},
		{Name: "v", Type: arrow.PrimitiveTypes.Float32},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for row := range rows {
		b.Field(0).(*array.TimestampBuilder).Append(arrow.Timestamp(row * 3600))
		b.Field(1).(*array.Float32Builder).Append(float32(row))
	}
	record := b.NewRecord()
	defer record.Release()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := ipc.NewWriter(f, ipc.WithSchema(schema))
	if err := w.Write(record); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestBoundsWithoutAZoneAreInThatOfTheTimes pads windows at such a bound, in the daemon and in this
// process.
func TestBoundsWithoutAZoneAreInThatOfTheTimes(t *testing.T) {
	c := sharedDaemon(t)
	path := filepath.Join(t.TempDir(), "hours.arrows")
	writeHours(t, path, "Asia/Tokyo", 48)
	d := must(c.Load(t.Context(), "hours", []string{path}, LoadOptions{Time: "t"}))(t)
	defer d.Close()
	for bound, row := range map[string]int64{ // clocks in Tokyo are 9 hours ahead
		"1970-01-02": 15, "1970-01-02T00:00:00Z": 24, "1970-01-02T00:00:00+01:00": 23,
	} {
		from, err := window.ParseTime(bound)
		if err != nil {
			t.Fatal(err)
		}
		least := int64(1)
		w := must(d.Windows(t.Context(), window.Spec{ContextLength: 3, MinContext: &least,
			Time: &window.TimeBounds{From: &from}}))(t)
		for _, delivery := range []string{DeliverSlot, DeliverLocal} {
			f := must(NewFeed[float32](t.Context(), w,
				FeedOptions{BatchSize: 1, Delivery: delivery}))(t)
			for b, err := range f.Epoch(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				want := []bool{false, false, true}
				if got := b.Mask.Window(0); b.Start[0] != row-2 || !slices.Equal(got, want) {
					t.Errorf("%s, %v: starts at %d, mask %v, want row %d and %v", bound, delivery,
						b.Start[0], got, row-2, want)
				}
				break
			}
			f.Close()
		}
	}
}
