package put

import (
	"context"
	"fmt"
	"io"
	"slices"
	"unsafe"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
	"github.com/tensorcache/tensorcache/layout"
)

// Arrays reads columns that a connection transfers one after the other, as docs/PROTOCOL.md
// describes for put.
type Arrays struct {
	Headers []Column // in the order in which the columns are transferred
	Count   int64    // number of rows
	Total   int64    // bytes of all columns
	dir     string   // directory of the scratch file for the offsets of texts
	Conn    *Connection
}

// utf8Name is the dtype of a column of texts in a header.
const utf8Name = "utf8"

// arrayKind returns the kind of the values for a dtype in a header. ok is false if it is not known.
func arrayKind(name string) (k column.Kind, ok bool) {
	if name == utf8Name {
		return column.KindText, true
	}
	k, ok = column.KindOf(name)
	return k, ok && k != column.KindText
}

// Open returns a reader of the columns that conn transfers. It returns an error if a header is
// invalid, or if the columns have different numbers of rows or no rows. dir is the directory of
// scratch files.
func Open(headers []Column, conn io.Reader, dir string) (source.Reader, error) {
	a := &Arrays{Headers: headers, dir: dir, Conn: &Connection{From: conn}}
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
		if a.Total += h.Bytes; a.Total < 0 {
			return nil, &loaderr.SourceError{Column: h.Name, Reason: "more bytes than there can be"}
		}
	}
	if a.Count = headers[0].Shape[0]; a.Count == 0 {
		return nil, &loaderr.SourceError{Reason: "the columns have no rows"}
	}
	return a, nil
}

// Path returns "": a connection has no path.
func (a *Arrays) Path() string { return "" }

// Rows returns the number of rows.
func (a *Arrays) Rows() int64 { return a.Count }

// Line returns 0: arrays have no lines.
func (a *Arrays) Line(int64) int64 { return 0 }

// Size returns the number of bytes of all columns.
func (a *Arrays) Size() int64 { return a.Total }

// Close does nothing. The caller closes the connection.
func (a *Arrays) Close() error { return nil }

// Names returns the names of the columns.
func (a *Arrays) Names() []string {
	out := make([]string, len(a.Headers))
	for i, h := range a.Headers {
		out[i] = h.Name
	}
	return out
}

// Describe returns the types of the wanted columns, from their headers.
func (a *Arrays) Describe(w []column.Want) ([]column.Column, error) {
	out := make([]column.Column, len(w))
	for i, x := range w {
		h := a.Headers[x.Index]
		k, _ := arrayKind(h.DType) // succeeds: Check has validated the dtype
		c := column.Column{Name: h.Name, Kind: k}
		if k == column.KindTime || k == column.KindDuration {
			c.Unit = h.Unit
		}
		if k == column.KindTime {
			c.Zone = h.Zone
		}
		if len(h.Shape) == 2 {
			c.Width = h.Shape[1]
		}
		out[i] = c
	}
	return out, nil
}

// ReadRows reads the columns in the order in which they are transferred. It discards the values of
// columns that are not wanted.
func (a *Arrays) ReadRows(ctx context.Context, to []source.Target, m *progress.Meter) error {
	for i, h := range a.Headers {
		if err := ctx.Err(); err != nil {
			return err
		}
		at := slices.IndexFunc(to, func(t source.Target) bool { return t.Index == i })
		var err error
		if at < 0 {
			err = a.skip(h.Bytes)
		} else if err = a.ReadColumn(h, to[at]); err == nil && h.Missing {
			err = a.readMissing(to[at])
		}
		if err != nil {
			if e, ok := err.(*loaderr.SourceError); ok && at >= 0 && e.Column == "" {
				e.Column = h.Name
			}
			return err
		}
		m.Bytes.Store(a.Conn.bytes)
		m.Rows.Store(int64(float64(a.Count) * float64(a.Conn.bytes) / float64(a.Total)))
	}
	return nil
}

func (a *Arrays) skip(n int64) error {
	if _, err := io.CopyN(io.Discard, a.Conn, n); err != nil {
		return endedEarly(a.Conn.bytes, a.Total)
	}
	return nil
}

// ReadColumn reads the values of one column and writes them to the target. It does not read the
// bytes that mark missing values.
func (a *Arrays) ReadColumn(h Column, t source.Target) error {
	switch k, _ := arrayKind(h.DType); k {
	case column.KindFloat16:
		return receive[layout.Half](a, t)
	case column.KindFloat32:
		return receive[float32](a, t)
	case column.KindFloat64:
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
func receive[S column.Storable](a *Arrays, t source.Target) error {
	width := max(1, t.Width)
	if d, ok := direct[S](t); ok {
		return a.Conn.readFull(column.BytesOf(d[:a.Count*width]), a.Total)
	}
	rows := max(1, files.BlockBytes/(width*int64(unsafe.Sizeof(*new(S)))))
	block := make([]S, rows*width)
	for row := int64(0); row < a.Count; row += rows {
		block = block[:min(rows, a.Count-row)*width]
		if err := a.Conn.readFull(column.BytesOf(block), a.Total); err != nil {
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
func (a *Arrays) readMissing(t source.Target) error {
	width := max(1, t.Width)
	rows := max(1, files.BlockBytes/width)
	block := make([]byte, rows*width)
	for row := int64(0); row < a.Count; row += rows {
		block = block[:min(rows, a.Count-row)*width]
		if err := a.Conn.readFull(block, a.Total); err != nil {
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
	return v.Data, v.Contiguous() && t.Row0 == 0
}
