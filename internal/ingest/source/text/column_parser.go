package text

import (
	"unsafe"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
	"github.com/tensorcache/tensorcache/layout"
)

// columnParser stores the values of one column of the file. Values of a span are collected in a
// buffer and written at once.
type columnParser struct {
	op         cellOp
	target     int
	role       layout.Role
	row0       int64
	spanRow    int64 // row of the file at which the span begins
	unit       int
	f64        []float64
	f32        []float32
	i64        []int64
	i32        []int32
	u8         []uint8
	dictionary *column.Dictionary
	loss       *column.Loss // collects what narrowing loses, nil without narrowing
	narrowing  layout.DTypeError
	lastText   []byte // the last text and its code
	lastCode   int32

	dest       layout.ColumnWriter
	intToFloat bool // cells are integers, and the column stores float64
	buffer     any  // []T of the column's type: the values of the span
}

// opOf returns the operation on the cells of a target.
func opOf(t source.Target) cellOp {
	switch t.Dest.DType {
	case layout.Float64:
		if t.Kind == column.KindInt64 {
			return opInt64
		}
		return opFloat64
	case layout.Float32:
		return opFloat32
	case layout.Int64:
		if t.Role == layout.RoleItemID {
			return opItem
		}
		return opInt64
	case layout.Timestamp:
		return opTime
	case layout.Bool:
		return opBool
	case layout.Text:
		return opText
	}
	return opSkip
}

// beginSpan prepares the buffer for the rows of a span.
func (col *columnParser) beginSpan(s source.Span) {
	col.spanRow = s.Row0
	switch col.op {
	case opFloat64:
		col.f64 = bufferFor[float64](col, s.Rows)
	case opFloat32:
		col.f32 = bufferFor[float32](col, s.Rows)
	case opInt64, opItem, opTime:
		col.i64 = bufferFor[int64](col, s.Rows)
	case opBool:
		col.u8 = bufferFor[uint8](col, s.Rows)
	case opText:
		col.i32 = bufferFor[int32](col, s.Rows)
	}
}

// bufferFor returns a buffer of at least the given number of rows. It is reused from span to span.
func bufferFor[T layout.Native](col *columnParser, rows int64) []T {
	buffer, _ := col.buffer.([]T)
	if int64(len(buffer)) < rows {
		buffer = make([]T, rows+rows/16) // spare rows: spans differ in length
		col.buffer = buffer
	}
	return buffer
}

// endSpan writes the values of a span to the destination.
func (col *columnParser) endSpan(s source.Span) {
	if col.loss != nil {
		col.loss.Add(col.narrowing)
	}
	row := col.row0 + s.Row0
	switch col.op {
	case opFloat64:
		layout.WriteAt(col.dest, row, col.f64[:s.Rows])
	case opFloat32:
		layout.WriteAt(col.dest, row, col.f32[:s.Rows])
	case opInt64, opItem, opTime:
		if col.intToFloat {
			layout.WriteAt(col.dest, row, asFloats(col.i64[:s.Rows]))
			return
		}
		layout.WriteAt(col.dest, row, col.i64[:s.Rows])
	case opBool:
		layout.WriteAt(col.dest, row, col.u8[:s.Rows])
	case opText:
		layout.WriteAt(col.dest, row, col.i32[:s.Rows])
	}
}

// asFloats converts integers to floats in the same memory.
func asFloats(values []int64) []float64 {
	floats := unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(values))), len(values))
	for i, v := range values {
		floats[i] = float64(v)
	}
	return floats
}
