package put

import (
	"context"
	"fmt"
	"io"
	"unsafe"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
	"github.com/tensorcache/tensorcache/layout"
)

// arrays reads columns that a connection transfers one after the other, as docs/PROTOCOL.md
// describes for put.
type arrays struct {
	headers []Column // in the order in which the columns are transferred
	count   int64    // number of rows
	total   int64    // bytes of all columns
	dir     string   // directory of the scratch file for the offsets of texts
	conn    *connection
}

// Dtypes of a header that are no dtypes of values: texts, and missing values of no type.
const (
	utf8Name = "utf8"
	nullName = "null"
)

// arrayKind returns the kind of the values for a dtype in a header. ok is false if it is not known.
func arrayKind(name string) (k column.Kind, ok bool) {
	switch name {
	case utf8Name:
		return column.KindText, true
	case nullName:
		return column.KindUnknown, true
	}
	k, ok = column.KindOf(name)
	return k, ok && k != column.KindText
}

// Open returns a reader of the columns that conn transfers. It returns an error if a header is
// invalid, or if the columns have different numbers of rows or no rows. dir is the directory of
// scratch files.
func Open(headers []Column, conn io.Reader, dir string) (source.Reader, error) {
	a := &arrays{headers: headers, dir: dir, conn: &connection{from: conn}}
	if len(headers) == 0 {
		return nil, &loaderr.SourceError{Reason: "no columns were sent"}
	}
	for _, h := range headers {
		if err := h.Check(); err != nil {
			return nil, &loaderr.SourceError{Column: h.Name, Reason: err.Error()}
		}
		if h.Shape[0] != headers[0].Shape[0] {
			return nil, &loaderr.SourceError{
				Column: h.Name,
				Reason: fmt.Sprintf("has %s, column %q has %d",
					loaderr.Count(int(h.Shape[0]), "row"), headers[0].Name, headers[0].Shape[0]),
			}
		}
		if a.total += h.Bytes; a.total < 0 {
			return nil, &loaderr.SourceError{Column: h.Name, Reason: "more bytes than there can be"}
		}
	}
	if a.count = headers[0].Shape[0]; a.count == 0 {
		return nil, &loaderr.SourceError{Reason: "the columns have no rows",
			Hint: "send at least one row"}
	}
	return a, nil
}

// Path returns "": a connection has no path.
func (a *arrays) Path() string { return "" }

// Rows returns the number of rows.
func (a *arrays) Rows() int64 { return a.count }

// Line returns 0: arrays have no lines.
func (a *arrays) Line(int64) int64 { return 0 }

// Size returns the number of bytes of all columns.
func (a *arrays) Size() int64 { return a.total }

// Close does nothing. The caller closes the connection.
func (a *arrays) Close() error { return nil }

// Names returns the names of the columns.
func (a *arrays) Names() []string {
	out := make([]string, len(a.headers))
	for i, h := range a.headers {
		out[i] = h.Name
	}
	return out
}

// Describe returns the types of the wanted columns, from their headers.
func (a *arrays) Describe(w []column.Want) ([]column.Column, error) {
	out := make([]column.Column, len(w))
	for i, x := range w {
		out[i] = a.headers[x.Index].Describe()
	}
	return out, nil
}

// Describe returns the type of a column that [Column.Check] accepts.
func (h Column) Describe() column.Column {
	k, _ := arrayKind(h.DType)
	c := column.Column{Name: h.Name, Kind: k, NamedOnly: h.NamedOnly, Calendar: h.Calendar, Decimal: h.Decimal,
		PartOfFilled: h.PartOfFilled}
	if k == column.KindTime || k == column.KindDuration {
		c.Unit = h.Unit
	}
	if k == column.KindTime {
		c.Zone = h.Zone
	}
	if len(h.Shape) == 2 {
		c.Width = h.Shape[1]
	}
	return c
}

// ReadValues reads all values of a column that is not text. With several targets, it reads that
// number of rows for each of them in turn.
func ReadValues(from io.Reader, h Column, to ...source.Target) error {
	a := &arrays{count: h.Shape[0], total: h.Bytes, conn: &connection{from: from}}
	for _, t := range to {
		if err := a.readColumn(h, t); err != nil {
			return err
		}
	}
	return nil
}

// ReadRows reads the columns in the order in which they are transferred. It discards the values of
// columns that are not wanted.
func (a *arrays) ReadRows(ctx context.Context, to []source.Target, m *progress.Meter) error {
	wanted := make(map[int]source.Target, len(to))
	for _, t := range to {
		wanted[t.Index] = t
	}
	for i, h := range a.headers {
		if err := ctx.Err(); err != nil {
			return err
		}
		t, isWanted := wanted[i]
		var err error
		if !isWanted {
			err = a.skip(h.Bytes)
		} else if err = a.readColumn(h, t); err == nil && h.Missing {
			err = a.readMissing(t)
		}
		if err != nil {
			if e, ok := err.(*loaderr.SourceError); ok && isWanted && e.Column == "" {
				e.Column = h.Name
			}
			return err
		}
		m.Bytes.Store(a.conn.bytes)
		m.Rows.Store(int64(float64(a.count) * float64(a.conn.bytes) /
			float64(max(1, a.total))))
	}
	return nil
}

func (a *arrays) skip(n int64) error {
	if _, err := io.CopyN(io.Discard, a.conn, n); err != nil {
		return endedEarly(a.conn.bytes, a.total)
	}
	return nil
}

// readColumn reads the values of one column and writes them to the target. It does not read the
// bytes that mark missing values.
func (a *arrays) readColumn(h Column, t source.Target) error {
	switch k, _ := arrayKind(h.DType); k {
	case column.KindUnknown:
		if !column.WriteMissing(t.Dest, t.Row0, a.count) {
			return t.MissingError(1)
		}
		return nil
	case column.KindFloat16:
		return receive[layout.Half](a, t)
	case column.KindFloat32:
		return receive[float32](a, t)
	case column.KindFloat64:
		if h.Decimal && t.Kind.IsInteger() { // float64 may have rounded items or times from 2^53 on
			t.Dest.Loss, t.Dest.MayBeRounded = &column.Loss{}, true
		}
		return receive[float64](a, t)
	case column.KindInt8:
		return receive[int8](a, t)
	case column.KindInt16:
		return receive[int16](a, t)
	case column.KindInt32:
		return receive[int32](a, t)
	case column.KindInt64, column.KindTime, column.KindDuration:
		return receive[int64](a, t)
	case column.KindUint8, column.KindBool:
		return receive[uint8](a, t)
	case column.KindUint16:
		return receive[uint16](a, t)
	case column.KindUint32:
		return receive[uint32](a, t)
	case column.KindUint64:
		return receive[uint64](a, t)
	}
	return a.readTexts(h, t)
}

// receive reads the values of a column. If they need no check and no conversion, it reads them
// directly into the destination.
func receive[S column.Storable](a *arrays, t source.Target) error {
	width := max(1, t.Width)
	if d, ok := direct[S](t); ok {
		return a.conn.readFull(column.BytesOf(d[:a.count*width]), a.total)
	}
	rows := max(1, files.BlockBytes/(width*int64(unsafe.Sizeof(*new(S)))))
	block := make([]S, min(rows, a.count)*width)
	for row := int64(0); row < a.count; row += rows {
		block = block[:min(rows, a.count-row)*width]
		if err := a.conn.readFull(column.BytesOf(block), a.total); err != nil {
			return err
		}
		bad := column.CheckCells(t.Kind, block)
		if bad < 0 {
			bad = column.Write(t.Dest, t.Row0+row, block)
		}
		if bad >= 0 {
			return t.RangeError(row+int64(bad)/width+1, block[bad])
		}
	}
	return nil
}

// readMissing reads the bytes that mark missing values, which follow the values of a column.
func (a *arrays) readMissing(t source.Target) error {
	width := max(1, t.Width)
	rows := max(1, files.BlockBytes/width)
	block := make([]byte, min(rows, a.count)*width)
	for row := int64(0); row < a.count; row += rows {
		block = block[:min(rows, a.count-row)*width]
		if err := a.conn.readFull(block, a.total); err != nil {
			return err
		}
		for i := range int64(len(block)) {
			if block[i] != 0 && !column.WriteMissing(t.Dest.Feature(i%width), t.Row0+row+i/width, 1) {
				return t.MissingError(row + i/width + 1)
			}
		}
	}
	return nil
}

// direct returns the destination of a column if values of type S can be read into it directly.
func direct[S column.Storable](t source.Target) ([]S, bool) {
	if !column.IsDType[S](t.Dest.DType) ||
		t.Kind == column.KindBool || t.Kind == column.KindTime || t.Kind == column.KindDuration {
		return nil, false // the values must be converted, or checked with CheckCells
	}
	v := layout.Values[S](t.Dest.ColumnWriter)
	if !v.Contiguous() {
		return nil, false
	}
	return v.Data[t.Row0*max(1, t.Width):], true
}
