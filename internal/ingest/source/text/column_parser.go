package text

import (
	"unsafe"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
	"github.com/tensorcache/tensorcache/layout"
)

// csvOp is one column of the file and where its values go.
type csvOp struct {
	code   opcode
	target int
	role   layout.Role
	row0   int64
	first  int64 // the row of the file that the tile begins at
	unit   int
	f64    []float64
	f32    []float32
	i64    []int64
	i32    []int32
	u8     []uint8
	dict   *column.Dictionary
	loss   *column.Loss // of narrowed floats, nil if they are not
	lost   layout.DTypeError
	last   []byte // the word of the row before, and its code
	code32 int32

	dest  layout.ColumnWriter
	whole bool // cells are integers and the column holds float64
	tile  any  // the values of a span before they are written: []T of the column's type
}

// codeOf is what is done with the cells of a column.
func codeOf(t source.Target) opcode {
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

// begin prepares the tile for the rows of a span.
func (op *csvOp) begin(s source.Span) {
	op.first = s.Row0
	switch op.code {
	case opFloat64:
		op.f64 = tileFor[float64](op, s.Rows)
	case opFloat32:
		op.f32 = tileFor[float32](op, s.Rows)
	case opInt64, opItem, opTime:
		op.i64 = tileFor[int64](op, s.Rows)
	case opBool:
		op.u8 = tileFor[uint8](op, s.Rows)
	case opText:
		op.i32 = tileFor[int32](op, s.Rows)
	}
}

// tileFor is where the values of some rows are gathered before they are written.
func tileFor[T layout.Native](op *csvOp, rows int64) []T {
	tile, _ := op.tile.([]T)
	if int64(len(tile)) < rows {
		tile = make([]T, rows+rows/16) // spans differ a little
		op.tile = tile
	}
	return tile
}

// end writes the values of a span.
func (op *csvOp) end(s source.Span) {
	if op.loss != nil {
		op.loss.Add(op.lost)
	}
	row := op.row0 + s.Row0
	switch op.code {
	case opFloat64:
		layout.WriteAt(op.dest, row, op.f64[:s.Rows])
	case opFloat32:
		layout.WriteAt(op.dest, row, op.f32[:s.Rows])
	case opInt64, opItem, opTime:
		if op.whole {
			layout.WriteAt(op.dest, row, asFloats(op.i64[:s.Rows]))
			return
		}
		layout.WriteAt(op.dest, row, op.i64[:s.Rows])
	case opBool:
		layout.WriteAt(op.dest, row, op.u8[:s.Rows])
	case opText:
		layout.WriteAt(op.dest, row, op.i32[:s.Rows])
	}
}

// asFloats replaces integers by floats, in the same memory.
func asFloats(values []int64) []float64 {
	floats := unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(values))), len(values))
	for i, v := range values {
		floats[i] = float64(v)
	}
	return floats
}
