package text

import (
	"math"

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
	step   int64
	unit   int
	f64    []float64
	f32    []float32
	i64    []int64
	i32    []int32
	u8     []uint8
	dict   *column.Dictionary
	loss   *column.Loss // of narrowed floats, nil where they are not
	lost   layout.DTypeError
	last   []byte // the word of the row before, and its code
	code32 int32

	dest     layout.Dest
	whole    bool  // cells are integers and the column holds float64
	collects bool  // the values of a span are collected before they are written
	first    int64 // the row of the column that the collected values begin at, else 0
	tile     any   // what they are collected in: []T of the column's type
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

// begin turns to the rows of a span.
func (op *csvOp) begin(s source.Span) {
	op.first, op.collects = 0, op.dest.Collects(s.Rows)
	if op.collects {
		op.first = op.row0 + s.Row0
	}
	switch op.code {
	case opFloat64:
		op.f64 = room[float64](op, s.Rows)
	case opFloat32:
		op.f32 = room[float32](op, s.Rows)
	case opInt64, opItem, opTime:
		op.i64 = room[int64](op, s.Rows)
	case opBool:
		op.u8 = room[uint8](op, s.Rows)
	case opText:
		op.i32 = room[int32](op, s.Rows)
	}
}

// room is where values are written: the column, or where they are collected.
func room[T layout.Native](op *csvOp, rows int64) []T {
	if !op.collects {
		return layout.Values[T](op.dest).Data
	}
	tile, _ := op.tile.([]T)
	if int64(len(tile)) < rows {
		tile = make([]T, rows+rows/16) // spans differ a little
		op.tile = tile
	}
	return tile
}

// end writes what was collected of a span.
func (op *csvOp) end(s source.Span) {
	if op.loss != nil {
		op.loss.Add(op.lost)
	}
	if op.whole && op.code == opInt64 {
		op.toFloats(s)
	}
	if !op.collects {
		return
	}
	switch op.code {
	case opFloat64:
		layout.Put(op.dest, op.first, op.f64[:s.Rows])
	case opFloat32:
		layout.Put(op.dest, op.first, op.f32[:s.Rows])
	case opInt64, opItem, opTime:
		layout.Put(op.dest, op.first, op.i64[:s.Rows]) // of whole, too, whose bits are those of floats by now
	case opBool:
		layout.Put(op.dest, op.first, op.u8[:s.Rows])
	case opText:
		layout.Put(op.dest, op.first, op.i32[:s.Rows])
	}
}

// toFloats replaces the integers of a span by floats, in the same memory.
func (op *csvOp) toFloats(s source.Span) {
	at := (op.row0+s.Row0)*op.step - op.first
	for range s.Rows {
		op.i64[at] = int64(math.Float64bits(float64(op.i64[at])))
		at += op.step
	}
}
