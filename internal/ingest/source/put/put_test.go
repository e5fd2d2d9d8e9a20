package put_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
	"github.com/tensorcache/tensorcache/internal/ingest/source/put"
	"github.com/tensorcache/tensorcache/internal/ingest/source/put/puttest"
	_ "github.com/tensorcache/tensorcache/internal/testseed" // for rapid
	"github.com/tensorcache/tensorcache/layout"
)

// destination creates a table of rows and returns one target per column, for the columns of a put
// in the same order.
func destination(t *testing.T, rows int64, described []column.Column,
	columns ...layout.Column) []source.Target {
	t.Helper()
	s, err := column.NewScratch(t.TempDir(), layout.Table{Rows: rows, Columns: columns})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	var out []source.Target
	for i, c := range described {
		out = append(out, source.Target{
			Want:   column.Want{Index: i, Role: columns[i].Role},
			Column: c,
			Dest:   column.Sink{ColumnWriter: s.Column(i, layout.Random)},
			Words:  column.NewDictionary(nil),
		})
	}
	return out
}

// describe opens a put and returns its reader and a description of all columns.
func describe(t *testing.T, headers []put.Column, conn io.Reader) (source.Reader, []column.Column) {
	t.Helper()
	r, err := put.Open(headers, conn, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	wants := make([]column.Want, len(headers))
	for i := range wants {
		wants[i].Index = i
	}
	columns, err := r.Describe(wants)
	if err != nil {
		t.Fatal(err)
	}
	return r, columns
}

// storedAs returns columns of the dtypes that store the described columns without conversion.
func storedAs(described []column.Column) (out []layout.Column) {
	for _, c := range described {
		out = append(out, layout.Column{
			Name: c.Name, Role: layout.RoleValue, DType: c.Kind.DType(), Width: c.Width,
			Unit: c.Unit, Zone: c.Zone,
		})
	}
	return out
}

// textsOf returns the texts of a target; "-" if one is missing.
func textsOf(t source.Target) (out []string) {
	v := layout.Values[int32](t.Dest.ColumnWriter)
	for row := range v.Rows {
		if code := v.Row(row)[0]; code < 0 {
			out = append(out, "-")
		} else {
			out = append(out, t.Words.Words[code])
		}
	}
	return out
}

func TestInvalidHeadersAreRefused(t *testing.T) {
	valid := put.Column{Name: "x", DType: "int32", Shape: []int64{3}, Bytes: 12}
	if err := valid.Check(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		change func(*put.Column)
		want   string
	}{
		{func(c *put.Column) { c.Name = "" }, "a column has no name"},
		{func(c *put.Column) { c.DType = "int7" }, `dtype "int7" is none of null, bool, int8,`},
		{func(c *put.Column) { c.DType = "text" }, `dtype "text" is none of`},
		{func(c *put.Column) { c.DType = "null" }, "is null, want no bytes and shape [rows]"},
		{func(c *put.Column) { c.Shape = nil }, "has shape [], want [rows] or [rows, n]"},
		{func(c *put.Column) { c.Shape = []int64{1, 1, 3} },
			"has shape [1 1 3], want [rows] or [rows, n]"},
		{func(c *put.Column) { c.Shape = []int64{-1} }, "which cannot be stored"},
		{func(c *put.Column) { c.Shape = []int64{3, 0} }, "which cannot be stored"},
		{func(c *put.Column) { c.Shape = []int64{column.MaxRows + 1} }, "which cannot be stored"},
		{func(c *put.Column) { c.Bytes = 11 }, "has 11 bytes, want 12 for int32 of shape [3]"},
		{func(c *put.Column) { c.Missing = true }, "has 12 bytes, want 15"},
		{func(c *put.Column) { c.DType, c.Bytes = "timestamp", 24 },
			`has time unit "", want one of`},
		{func(c *put.Column) { c.DType, c.Bytes = "utf8", 31 },
			"has 31 bytes, want 32 or more for 3 texts"},
		{func(c *put.Column) { c.DType, c.Shape = "utf8", []int64{3, 1} },
			"is text of shape [3 1], want [rows]"},
		{func(c *put.Column) { c.DType, c.Missing = "utf8", true },
			"whose offsets say what is missing"},
		{func(c *put.Column) { c.PartOfFilled = &layout.PartOf{Dataset: "a/b", Column: "x"} },
			"part_of_filled: "},
		{func(c *put.Column) { c.PartOfFilled = &layout.PartOf{Dataset: "a", Column: "\xff"} },
			"part_of_filled: the column is "},
		// The product of rows, width and size is a multiple of 2⁶⁴, so it overflows to 0.
		{func(c *put.Column) {
			c.DType, c.Shape, c.Bytes = "float64", []int64{1 << 43, 1 << 26}, 0
		}, "want 4722366482869645213696"},
	} {
		h := valid
		c.change(&h)
		if err := h.Check(); err == nil || !bytes.Contains([]byte(err.Error()), []byte(c.want)) {
			t.Errorf("%+v: %v, want %s", h, err, c.want)
		}
	}
}

func TestColumnsOfAPutMustHaveTheSameRows(t *testing.T) {
	x := put.Column{Name: "x", DType: "int8", Shape: []int64{3}, Bytes: 3}
	for _, c := range []struct {
		headers []put.Column
		want    string
	}{
		{nil, "no columns were sent"},
		{[]put.Column{{Name: "x", DType: "int8", Shape: []int64{0}}}, "the columns have no rows"},
		{
			[]put.Column{x, {Name: "y", DType: "int8", Shape: []int64{1}, Bytes: 1}},
			`column "y": has 1 row, column "x" has 3`,
		},
		{
			[]put.Column{x, {Name: "y", DType: "int8", Shape: []int64{3}, Bytes: 2}},
			`column "y": has 2 bytes, want 3`,
		},
	} {
		_, err := put.Open(c.headers, nil, t.TempDir())
		loadtest.Refused(t, err, c.want, "")
	}
}

func TestEveryDTypeIsReadUnchanged(t *testing.T) {
	header, sent := puttest.EveryArray(t)
	r, described := describe(t, header.Columns, iotest.HalfReader(bytes.NewReader(sent)))
	if size := r.(source.Sized).Size(); size != int64(len(sent)) {
		t.Errorf("size %d, want %d", size, len(sent))
	}
	to := destination(t, r.Rows(), described, storedAs(described)...)
	var meter progress.Meter
	if err := r.ReadRows(context.Background(), to, &meter); err != nil {
		t.Fatal(err)
	}
	if meter.Bytes.Load() != int64(len(sent)) || meter.Rows.Load() != r.Rows() {
		t.Errorf("the meter has %d bytes and %d rows", meter.Bytes.Load(), meter.Rows.Load())
	}
	for i, h := range header.Columns {
		want := sent[:h.Bytes]
		sent = sent[h.Bytes:]
		var got []byte
		switch d := to[i].Dest; d.DType.Size() {
		case 1:
			got = layout.Values[uint8](d.ColumnWriter).Data
		case 2:
			got = column.BytesOf(layout.Values[uint16](d.ColumnWriter).Data)
		case 4:
			if d.DType == layout.Text {
				continue
			}
			got = column.BytesOf(layout.Values[uint32](d.ColumnWriter).Data)
		case 8:
			got = column.BytesOf(layout.Values[uint64](d.ColumnWriter).Data)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s has bytes %x, want %x", h.Name, got, want)
		}
	}
	if got := textsOf(to[1]); !slices.Equal(got, []string{"b", "b", "ünï"}) {
		t.Errorf("id is %q", got)
	}
}

func TestValuesAreConvertedAndUnwantedColumnsSkipped(t *testing.T) {
	a, bytesA := puttest.ColumnBytes(t, "a", "int32", []int64{3}, []int32{1, -2, 3})
	b, bytesB := puttest.ColumnBytes(t, "b", "utf8", []int64{3}, []string{"x", "", "y"})
	c, bytesC := puttest.ColumnBytes(t, "c", "float64", []int64{3, 2}, []float64{1, 2, 3, 4, 5, 6})
	headers := []put.Column{a, b, c}
	r, described := describe(t, headers, bytes.NewReader(slices.Concat(bytesA, bytesB, bytesC)))
	// one row before those of the put
	to := destination(t, 4, []column.Column{described[2], described[0]},
		layout.Column{Name: "c", DType: layout.Float32, Width: 2},
		layout.Column{Name: "a", DType: layout.Int32})
	to[0].Index, to[1].Index = 2, 0
	to[0].Row0, to[1].Row0 = 1, 1
	if err := r.ReadRows(context.Background(), to, &progress.Meter{}); err != nil {
		t.Fatal(err)
	}
	got := layout.Values[float32](to[0].Dest.ColumnWriter).Data
	if !slices.Equal(got, []float32{0, 0, 1, 2, 3, 4, 5, 6}) {
		t.Errorf("c is %v", got)
	}
	if got := layout.Values[int32](to[1].Dest.ColumnWriter).Data; !slices.Equal(got,
		[]int32{0, 1, -2, 3}) {
		t.Errorf("a is %v", got)
	}
}

func TestMissingValuesAreMarkedAfterTheValues(t *testing.T) {
	header, sent := puttest.ColumnBytes(t, "x", "float64", []int64{2, 2}, []float64{1, 2, 3, 4})
	header.Missing, header.Bytes = true, header.Bytes+4
	sent = append(sent, 0, 1, 1, 0)
	r, described := describe(t, []put.Column{header}, bytes.NewReader(sent))
	to := destination(t, 2, described, storedAs(described)...)
	if err := r.ReadRows(context.Background(), to, &progress.Meter{}); err != nil {
		t.Fatal(err)
	}
	got := layout.Values[uint64](to[0].Dest.ColumnWriter).Data
	nan := math.Float64bits(column.NaN)
	if want := []uint64{math.Float64bits(1), nan, nan,
		math.Float64bits(4)}; !slices.Equal(got, want) {
		t.Errorf("bits %x, want %x", got, want)
	}

	header, sent = puttest.ColumnBytes(t, "i", "int32", []int64{3}, []int32{1, 2, 3})
	header.Missing, header.Bytes = true, header.Bytes+3
	r, described = describe(t, []put.Column{header}, bytes.NewReader(append(sent, 0, 0, 1)))
	to = destination(t, 3, described, storedAs(described)...)
	err := r.ReadRows(context.Background(), to, &progress.Meter{})
	loadtest.Refused(t, err, `row 3, column "i": the value is missing`, "`fill={\"i\":0}`")
}

func TestValuesOutsideTheColumnTypeAreRefused(t *testing.T) {
	for _, c := range []struct {
		dtype  string
		values any
		stored layout.DType
		want   string
	}{
		{"bool", []uint8{0, 1, 2}, layout.Bool, `row 3, column "x": "2" is not a boolean`},
		{"timestamp", []int64{0, math.MinInt64, 0}, layout.Timestamp,
			`row 2, column "x": "NaT" is not a time`},
		{"int32", []int32{1, 300, 2}, layout.Int8, `row 2, column "x": "300" does not fit int8`},
	} {
		h, sent := puttest.ColumnBytes(t, "x", c.dtype, []int64{3}, c.values)
		if c.dtype == "timestamp" {
			h.Unit = "s"
		}
		r, described := describe(t, []put.Column{h}, bytes.NewReader(sent))
		stored := storedAs(described)
		stored[0].DType = c.stored
		err := r.ReadRows(context.Background(), destination(t, 3, described, stored...),
			&progress.Meter{})
		loadtest.Refused(t, err, c.want, "")
	}
}

// textBytes returns the header and bytes of a column of texts with the given offsets.
func textBytes(offsets []int64, text string) (put.Column, []byte) {
	var b bytes.Buffer
	_ = binary.Write(&b, binary.LittleEndian, offsets)
	b.WriteString(text)
	return put.Column{
		Name: "w", DType: "utf8", Shape: []int64{int64(len(offsets) - 1)}, Bytes: int64(b.Len()),
	}, b.Bytes()
}

func TestTextsAreReadAsTheyWereSent(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(r *rapid.T) {
		offsets, text, want := []int64{0}, "", []string{}
		for range rapid.IntRange(1, 20).Draw(r, "rows") {
			if rapid.IntRange(0, 3).Draw(r, "missing") == 0 {
				want = append(want, "-")
				offsets = append(offsets, -int64(len(text))-1)
				continue
			}
			word := rapid.StringMatching("[a-cä]{0,3}").Draw(r, "word")
			want, text = append(want, word), text+word
			offsets = append(offsets, int64(len(text)))
		}
		header, sent := textBytes(offsets, text)
		reader, err := put.Open([]put.Column{header},
			iotest.OneByteReader(bytes.NewReader(sent)), dir)
		if err != nil {
			r.Fatal(err)
		}
		described, err := reader.Describe([]column.Want{{}})
		if err != nil {
			r.Fatal(err)
		}
		to := destination(t, reader.Rows(), described, storedAs(described)...)
		if err := reader.ReadRows(context.Background(), to, &progress.Meter{}); err != nil {
			r.Fatal(err)
		}
		if got := textsOf(to[0]); !slices.Equal(got, want) {
			r.Fatalf("%q, want %q", got, want)
		}
	})
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v is left in the directory of scratch files, %v", left, err)
	}
}

func TestInvalidOffsetsOfTextsAreRefused(t *testing.T) {
	for _, c := range []struct {
		offsets []int64
		text    string
		role    layout.Role
		want    string
	}{
		{[]int64{1, 2, 3}, "abc", layout.RoleValue, "its texts go from byte 1 to 3, want 0 to 3"},
		{[]int64{0, 1, 2}, "abc", layout.RoleValue, "its texts go from byte 0 to 2, want 0 to 3"},
		{[]int64{0, 2, 1, 3}, "abc", layout.RoleValue,
			"row 2, column \"w\": a text from byte 2 to 1"},
		{[]int64{0, 9, 3}, "abc", layout.RoleValue, "row 1, column \"w\": a text from byte 0 to 9"},
		// A missing text that is not empty.
		{[]int64{0, -3, 3}, "abc", layout.RoleValue,
			"row 1, column \"w\": a text from byte 0 to 2"},
		{[]int64{0, math.MinInt64, 3}, "abc", layout.RoleValue, "row 1"},
		{[]int64{0, 3, -4}, "abc", layout.RoleItemID, source.ReasonItem},
		{[]int64{0, 3, 3}, "abc", layout.RoleItemID, "row 2, column \"w\": the text is empty"},
		{[]int64{0, 1, 2}, "a\xff", layout.RoleValue, source.ReasonUTF8},
	} {
		header, sent := textBytes(c.offsets, c.text)
		r, described := describe(t, []put.Column{header}, bytes.NewReader(sent))
		stored := storedAs(described)
		stored[0].Role = c.role
		to := destination(t, r.Rows(), described, stored...)
		loadtest.Refused(t, r.ReadRows(context.Background(), to, &progress.Meter{}), c.want, "")
	}
}

func TestAConnectionThatEndsAtAnyByteIsRefused(t *testing.T) {
	a, bytesA := puttest.ColumnBytes(t, "a", "float32", []int64{2}, []float32{1, 2})
	a.Missing, a.Bytes = true, a.Bytes+2
	b, bytesB := puttest.ColumnBytes(t, "b", "utf8", []int64{2}, []string{"xy", "z"})
	c, bytesC := puttest.ColumnBytes(t, "c", "int8", []int64{2}, []int8{1, 2}) // not wanted
	sent := slices.Concat(bytesA, []byte{0, 1}, bytesB, bytesC)
	for n := range len(sent) {
		r, described := describe(t, []put.Column{a, b, c}, bytes.NewReader(sent[:n]))
		to := destination(t, 2, described[:2], storedAs(described[:2])...)
		err := r.ReadRows(context.Background(), to, &progress.Meter{})
		want := fmt.Sprintf("the connection ended after %d of %d bytes", n, len(sent))
		loadtest.Refused(t, err, want, "keep the connection open")
	}
}

func TestAFailedConnectionIsNamedAsTheReason(t *testing.T) {
	h := put.Column{Name: "x", DType: "int8", Shape: []int64{3}, Bytes: 3}
	r, described := describe(t, []put.Column{h}, iotest.ErrReader(errors.New("reset by peer")))
	to := destination(t, 3, described, storedAs(described)...)
	err := r.ReadRows(context.Background(), to, &progress.Meter{})
	loadtest.Refused(t, err, "the connection failed: reset by peer", "")
}

func TestACanceledFillStops(t *testing.T) {
	h, sent := puttest.ColumnBytes(t, "x", "int8", []int64{3}, []int8{1, 2, 3})
	conn := bytes.NewReader(sent)
	r, described := describe(t, []put.Column{h}, conn)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := r.ReadRows(ctx, destination(t, 3, described, storedAs(described)...), &progress.Meter{})
	if !errors.Is(err, context.Canceled) || conn.Len() != len(sent) {
		t.Errorf("%v after %d bytes", err, len(sent)-conn.Len())
	}
}
