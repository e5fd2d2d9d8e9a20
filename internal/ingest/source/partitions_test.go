package source

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/layout"
)

// withParts returns r with the partition columns year=2020 and site=north.
func withParts(t *testing.T, r Reader) Reader {
	t.Helper()
	p, err := WithPartitions(r,
		[]files.Partition{{Key: "year", Value: "2020"}, {Key: "site", Value: "north"}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPartitionsBecomeColumns(t *testing.T) {
	p := withParts(t, newReader())
	if got := p.Names(); !slices.Equal(got, []string{"a", "t", "b", "year", "site"}) {
		t.Errorf("columns %v", got)
	}
	if key, ok := PartitionOf(p); key != "year" || !ok {
		t.Errorf("the first partition is %q, %v", key, ok)
	}
	wants := []column.Want{{Index: 4}, {Index: 2}, {Index: 3}, {Index: 0}}
	columns, err := p.Describe(wants)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range columns {
		names = append(names, c.Name+" "+c.Kind.String())
	}
	if want := []string{"site text", "b int64", "year int64", "a int64"}; !slices.Equal(
		names, want) {
		t.Errorf("%v, want %v", names, want)
	}

	to := destination(t, 4, // one row before those of the source
		layout.Column{Name: "site", DType: layout.Text},
		layout.Column{Name: "b", DType: layout.Int64},
		layout.Column{Name: "year", DType: layout.Int16},
		layout.Column{Name: "a", DType: layout.Int64})
	for i := range to {
		to[i].Want, to[i].Row0 = wants[i], 1
	}
	if err := p.ReadRows(context.Background(), to, &progress.Meter{}); err != nil {
		t.Fatal(err)
	}
	if codes := valuesOf[int32](to[0])[1:]; !slices.Equal(codes, []int32{0, 0, 0}) ||
		!slices.Equal(to[0].Words.Words, []string{"north"}) {
		t.Errorf("site has codes %v of %v", codes, to[0].Words.Words)
	}
	if got := valuesOf[int64](to[1]); !slices.Equal(got, []int64{0, 4, 5, 6}) {
		t.Errorf("b is %v", got)
	}
	if got := valuesOf[int16](to[2]); !slices.Equal(got, []int16{0, 2020, 2020, 2020}) {
		t.Errorf("year is %v", got)
	}
	if got := valuesOf[int64](to[3]); !slices.Equal(got, []int64{0, 1, 2, 3}) {
		t.Errorf("a is %v", got)
	}
}

func TestAReaderWithoutPartitionsIsReturnedAsItIs(t *testing.T) {
	r := newReader()
	p, err := WithPartitions(r, nil)
	if err != nil || p != Reader(r) {
		t.Errorf("%v, %v", p, err)
	}
	if key, ok := PartitionOf(p); ok {
		t.Errorf("partition %q", key)
	}
}

func TestAPartitionWithTheNameOfAColumnIsRefused(t *testing.T) {
	_, err := WithPartitions(newReader(), []files.Partition{{Key: "b", Value: "1"}})
	loadtest.Refused(t, err, `column "b": is in the file and in the name of its folder, b=1`,
		"name the files")
}

func TestAPartitionValueThatDoesNotFitIsRefused(t *testing.T) {
	p := withParts(t, newReader())
	to := destination(t, 3, layout.Column{Name: "year", DType: layout.Int8})
	to[0].Index = 3
	err := p.ReadRows(context.Background(), to, &progress.Meter{})
	loadtest.Refused(t, err, "does not fit int8", "")
}

func TestWideningKeepsTheOrderOfTargetsWithPartitions(t *testing.T) {
	r := newReader()
	p := withParts(t, r)
	to := destination(t, 3,
		layout.Column{Name: "year", DType: layout.Int64},
		layout.Column{Name: "b", DType: layout.Int64},
		layout.Column{Name: "site", DType: layout.Text})
	to[0].Index, to[1].Index, to[2].Index = 3, 2, 4
	r.fillErr = &WidenError{[]column.Column{{Name: "b", Kind: column.KindFloat64}}}
	err := p.ReadRows(context.Background(), to, &progress.Meter{})
	var wider *WidenError
	if !errors.As(err, &wider) || len(wider.Columns) != 3 {
		t.Fatalf("%v, want a WidenError of 3 columns", err)
	}
	for i, want := range []string{"year", "b", "site"} {
		if got := wider.Columns[i].Name; got != want {
			t.Errorf("column %d is %s, want %s", i, got, want)
		}
	}
	if wider.Columns[1].Kind != column.KindFloat64 {
		t.Errorf("b becomes %s", wider.Columns[1].Kind)
	}
}

func TestPartitionColumnsHaveBoundsInEveryRowGroup(t *testing.T) {
	text, integer := column.Column{Kind: column.KindText}, column.Column{Kind: column.KindInt64}
	for _, grouped := range []bool{false, true} {
		var r Reader = newReader()
		groups := []int64{3} // a file without row groups is one group
		if grouped {
			r, groups = &groupedReader{memoryReader: newReader()}, []int64{1, 1, 1}
		}
		p := withParts(t, r).(RowGroupPruner)
		if got := p.GroupRows(); !slices.Equal(got, groups) {
			t.Errorf("row groups %v, want %v", got, groups)
		}
		for _, c := range []struct {
			index int
			as    column.Column
			want  any // both bounds; nil if not known
		}{
			{3, integer, int64(2020)},
			{3, text, "2020"},
			{4, text, "north"},
			{4, integer, nil},
			{2, integer, map[bool]any{false: nil, true: int64(4)}[grouped]},
		} {
			least, most, ok := p.Bounds(c.index, 0, c.as)
			if ok != (c.want != nil) || ok && (least != c.want || most != c.want) {
				t.Errorf("bounds of column %d as %s: %v, %v, %v, want %v",
					c.index, c.as.Kind, least, most, ok, c.want)
			}
		}
		skip := []bool{true, false, false}[:len(groups)]
		rest := p.Without(skip)
		if key, ok := PartitionOf(rest); key != "year" || !ok {
			t.Errorf("without row groups the first partition is %q, %v", key, ok)
		}
		if g, ok := rest.(*partitioned).Reader.(*groupedReader); ok &&
			!slices.Equal(g.skipped, skip) {
			t.Errorf("the file's reader skips %v, want %v", g.skipped, skip)
		}
	}
}

func TestAFileWhoseCellsMayWidenAColumnIsNotSkipped(t *testing.T) {
	for wanted, groups := range map[int][]int64{0: nil, 1: {3}} { // column a is inferred, t is not
		p := withParts(t, newReader())
		if _, err := p.Describe([]column.Want{{Index: wanted}}); err != nil {
			t.Fatal(err)
		}
		if got := p.(RowGroupPruner).GroupRows(); !slices.Equal(got, groups) {
			t.Errorf("column %d: row groups %v, want %v", wanted, got, groups)
		}
	}
}
