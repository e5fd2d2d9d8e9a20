package source

import (
	"math"
	"slices"
	"testing"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/layout"
)

func TestItemNamesMustBeNonEmptyUTF8(t *testing.T) {
	for _, c := range []struct {
		text string
		role layout.Role
		want string // "" if the text is accepted
	}{
		{"ünï", layout.RoleItemID, ""},
		{"", layout.RoleValue, ""},
		{"", layout.RoleItemID, "row 8: the text is empty"},
		{"\xff", layout.RoleValue, "row 8"},
		{"\xff", layout.RoleItemID, ReasonUTF8},
	} {
		err := CheckText([]byte(c.text), c.role, 7)
		if c.want != "" {
			loadtest.Refused(t, err, c.want, "")
		} else if err != nil {
			t.Errorf("%q: %v", c.text, err)
		}
	}
}

func TestErrorsOfValuesDependOnTheColumn(t *testing.T) {
	target := func(k column.Kind, d layout.DType, role layout.Role) Target {
		return Target{
			Want:   column.Want{Role: role},
			Column: column.Column{Name: "c", Kind: k},
			Dest:   destination(t, 1, layout.Column{Name: "c", DType: d})[0].Dest,
		}
	}
	small := target(column.KindInt64, layout.Int8, layout.RoleValue)
	clock := target(column.KindTime, layout.Int64, layout.RoleTime)
	item := target(column.KindText, layout.Text, layout.RoleItemID)
	flag := target(column.KindBool, layout.Bool, layout.RoleValue)
	for _, c := range []struct {
		err        error
		want, hint string
	}{
		{small.RangeError(4, int64(300)), `row 4, column "c": "300" does not fit int8`,
			column.HintWider},
		{small.RangeError(4, layout.HalfOf(2.5)), `"2.5" does not fit int8`, column.HintWider},
		{small.RangeError(4, math.NaN()), ReasonMissing, "`fill={\"c\":0}`"},
		{clock.RangeError(4, int64(math.MinInt64)), `"NaT" is not a time`, "leave the rows out"},
		{clock.RangeError(4, int64(7)), `"7" does not fit int64`, "leave the rows out"},
		{flag.RangeError(4, uint8(2)), "want 0 or 1", "as integers"},
		{clock.MissingError(4), ReasonNoTime, "leave the rows out"},
		{item.MissingError(4), ReasonItem, "leave the rows out"},
		{small.MissingError(4), ReasonMissing, "`fill={\"c\":0}`"},
		{target(column.KindTime, layout.Int64, layout.RoleValue).MissingError(4), ReasonMissing,
			"`columns`"},
	} {
		loadtest.Refused(t, c.err, c.want, c.hint)
	}
}

func TestMergedWideningsAreTheWidestOfBoth(t *testing.T) {
	inferred := func(kinds ...column.Kind) *WidenError {
		e := &WidenError{}
		for _, k := range kinds {
			e.Columns = append(e.Columns, column.Column{Kind: k, Inferred: true})
		}
		return e
	}
	var none *WidenError
	e := inferred(column.KindInt64, column.KindFloat64)
	if none.Merge(e) != e {
		t.Error("a merge into nil is not the other error")
	}
	e = e.Merge(inferred(column.KindFloat64, column.KindInt64))
	for i, c := range e.Columns {
		if c.Kind != column.KindFloat64 {
			t.Errorf("column %d is %s, want float64", i, c.Kind)
		}
	}
}

func TestSelectedRowsAreFoundInTheSource(t *testing.T) {
	// Row groups of 2, 3, 1 and 4 rows, of which the first and the third are skipped.
	s := Selection{Rows: 7, Starts: []int64{0, 3}, SkippedBefore: []int64{2, 3}}
	var got []int64
	for row := range s.Rows {
		got = append(got, s.SourceRow(row))
	}
	if want := []int64{2, 3, 4, 6, 7, 8, 9}; !slices.Equal(got, want) {
		t.Errorf("rows %v, want %v", got, want)
	}
	if got := (Selection{Rows: 7}).SourceRow(5); got != 5 {
		t.Errorf("row 5 of a whole source is row %d", got)
	}
}

// recorder is an Observer that records what it receives.
type recorder struct {
	workers, invalidated int
	rows                 []int64
}

func (r *recorder) Worker() column.WorkerObserver   { r.workers++; return r }
func (r *recorder) Invalidate()                     { r.invalidated++ }
func (r *recorder) Float64s(row int64, _ []float64) { r.rows = append(r.rows, row) }
func (r *recorder) Float32s(row int64, _ []float32) { r.rows = append(r.rows, row) }

func TestChunksOfAColumnShareAWorkerObserver(t *testing.T) {
	a, b := &recorder{}, &recorder{}
	var cache ObserverCache
	Observe(&cache, Target{Observer: a}, 0, []float64{1})
	Observe(&cache, Target{Observer: a}, 5, []float32{1})
	Observe(&cache, Target{Observer: a}, 6, []int64{1}) // is not observed
	Observe(&cache, Target{Observer: b}, 7, []float64{1})
	Observe(&cache, Target{}, 8, []float64{1}) // has no observer
	if a.workers != 1 || !slices.Equal(a.rows, []int64{0, 5}) {
		t.Errorf("the first column has %d worker observers, which receive rows %v",
			a.workers, a.rows)
	}
	if b.workers != 1 || !slices.Equal(b.rows, []int64{7}) {
		t.Errorf("the second column has %d worker observers, which receive rows %v",
			b.workers, b.rows)
	}
	Target{Observer: a}.Invalidate()
	Target{}.Invalidate()
	if a.invalidated != 1 {
		t.Errorf("the observer is invalidated %d times, want once", a.invalidated)
	}
}
