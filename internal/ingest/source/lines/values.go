package lines

import (
	"bytes"
	"fmt"
	"math"
	"sync/atomic"
	"unsafe"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
	"github.com/tensorcache/tensorcache/internal/ingest/textvalue"
	"github.com/tensorcache/tensorcache/layout"
)

// Op is the operation on the cells of a column.
type Op uint8

// Operations.
const (
	Skip      Op = iota
	Float64      // store it in F64
	Float32      // store it in F32
	Int64        // store it in I64
	Item         // store an integer that names an item in I64
	Time         // store it in I64
	Bool         // store it in U8
	BoolFloat    // store 0, 1 or NaN in F64: the column may have missing booleans
	Text         // store its code in I32
	Check        // the column will be widened: check its cells and store nothing
)

// StoresMissing reports whether the operation stores a missing number or boolean, as NaN.
func (op Op) StoresMissing() bool { return op == Float64 || op == Float32 || op == BoolFloat }

// Values stores the values of one column of the file. Values of a span are collected in a buffer
// and written at once. The zero value skips the column.
type Values struct {
	Op      Op
	Target  int // index of the target
	Role    layout.Role
	Unit    int   // of a time, an index in [textvalue.Units]
	SpanRow int64 // row of the file at which the span begins

	// values of the span, by row in the span
	F64 []float64
	F32 []float32
	I64 []int64
	I32 []int32
	U8  []uint8

	row0       int64
	dictionary *column.Dictionary
	capitals   *atomic.Bool
	lastText   []byte // the last text, as the file writes it, and its code
	lastCode   int32
	loss       *column.Loss // collects what narrowing loses, nil without narrowing
	narrowing  layout.DTypeError
	dest       layout.ColumnWriter
	intToFloat bool // cells are integers, and the column stores float64
	buffer     any  // []T of the column's type: the values of the span
}

// NewValues returns the values of a target. i is the index of the target. The reader describes its
// columns as [column.Column.Inferred]: the load then stores other dtypes than float64, float32 and
// int64 in a second pass, and no target has them.
func NewValues(i int, t source.Target) Values {
	return Values{
		Op:         opOf(t),
		Target:     i,
		Role:       t.Role,
		Unit:       textvalue.UnitDigits(t.Unit),
		row0:       t.Row0,
		capitals:   t.Capitals,
		dictionary: t.Words,
		lastCode:   -1,
		loss:       t.Dest.Loss,
		dest:       t.Dest.ColumnWriter,
		intToFloat: t.Dest.DType == layout.Float64 && t.Kind == column.KindInt64,
	}
}

// opOf returns the operation on the cells of a target.
func opOf(t source.Target) Op {
	switch t.Dest.DType {
	case layout.Float64:
		switch t.Kind {
		case column.KindInt64:
			return Int64
		case column.KindBool:
			return BoolFloat
		}
		return Float64
	case layout.Float32:
		return Float32
	case layout.Int64:
		if t.Role == layout.RoleItemID {
			return Item
		}
		return Int64
	case layout.Timestamp:
		return Time
	case layout.Bool:
		return Bool
	case layout.Text:
		return Text
	}
	panic(fmt.Sprintf("column %q: no reader of lines stores %s", t.Name, t.Dest.DType))
}

// BeginSpan prepares the buffer for the rows of a span.
func (v *Values) BeginSpan(s source.Span) {
	v.SpanRow = s.Row0
	switch v.Op {
	case Float64, BoolFloat:
		v.F64 = bufferFor[float64](v, s.Rows)
	case Float32:
		v.F32 = bufferFor[float32](v, s.Rows)
	case Int64, Item, Time:
		v.I64 = bufferFor[int64](v, s.Rows)
	case Bool:
		v.U8 = bufferFor[uint8](v, s.Rows)
	case Text:
		v.I32 = bufferFor[int32](v, s.Rows)
	}
}

// bufferFor returns a buffer of at least the given number of rows. It is reused from span to span.
func bufferFor[T layout.Native](v *Values, rows int64) []T {
	buffer, _ := v.buffer.([]T)
	if int64(len(buffer)) < rows {
		buffer = make([]T, rows+rows/16) // spare rows: spans differ in length
		v.buffer = buffer
	}
	return buffer
}

// EndSpan writes the values of a span to the destination.
func (v *Values) EndSpan(s source.Span) {
	if v.loss != nil {
		v.loss.Add(v.narrowing)
	}
	row := v.row0 + s.Row0
	switch v.Op {
	case Float64, BoolFloat:
		layout.WriteAt(v.dest, row, v.F64[:s.Rows])
	case Float32:
		layout.WriteAt(v.dest, row, v.F32[:s.Rows])
	case Int64, Item, Time:
		if v.intToFloat {
			layout.WriteAt(v.dest, row, asFloats(v.I64[:s.Rows]))
			return
		}
		layout.WriteAt(v.dest, row, v.I64[:s.Rows])
	case Bool:
		layout.WriteAt(v.dest, row, v.U8[:s.Rows])
	case Text:
		layout.WriteAt(v.dest, row, v.I32[:s.Rows])
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

// SetFloat32 stores a value as the nearest float32. ok is false if that is an infinity and value is
// finite. at is the row in the span.
func (v *Values) SetFloat32(at int64, value float64) (ok bool) {
	x := float32(value)
	if math.IsInf(float64(x), 0) && !math.IsInf(value, 0) {
		return false
	}
	v.F32[at] = x
	v.narrowing = column.WithError(v.narrowing, value, float64(x))
	return true
}

// NoteCapitals notes that a boolean is TRUE or FALSE.
func (v *Values) NoteCapitals() {
	if v.capitals != nil {
		v.capitals.Store(true)
		v.capitals = nil // once is enough
	}
}

// SetBool stores a boolean. at is the row in the span.
func (v *Values) SetBool(at int64, value bool) {
	var number uint8
	if value {
		number = 1
	}
	if v.Op == BoolFloat {
		v.F64[at] = float64(number)
	} else {
		v.U8[at] = number
	}
}

// SetText stores the code of a text. raw is the text as the file writes it. at is the row in the
// span.
func (v *Values) SetText(at int64, raw, text []byte) {
	v.lastText = append(v.lastText[:0], raw...)
	v.lastCode = v.dictionary.Code(text)
	v.I32[at] = v.lastCode
}

// SetTextAgain stores the text of the last call of SetText, if the file writes it as raw. It
// reports whether it does.
func (v *Values) SetTextAgain(at int64, raw []byte) bool {
	if v.lastCode < 0 || !bytes.Equal(raw, v.lastText) {
		return false
	}
	v.I32[at] = v.lastCode
	return true
}

// WidenTime returns c with a unit that has the digits of a time. ok is false if c has a zone and
// the time has none, or the other way round.
func WidenTime(c column.Column, t textvalue.Time) (wider column.Column, ok bool) {
	other := c
	other.Kind, other.Unit, other.Zone = column.KindTime, textvalue.Units[t.Unit], ""
	if t.Zoned {
		other.Zone = "UTC"
	}
	return column.Widest(c, other)
}
