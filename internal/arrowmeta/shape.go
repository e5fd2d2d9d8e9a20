package arrowmeta

import (
	"slices"

	flatbuffers "github.com/google/flatbuffers/go"
)

// Slots of the flatbuffer tables Schema, Field, DictionaryEncoding, DictionaryBatch and Union, as
// vtable offsets, and numbers of field types.
const (
	SchemaFields    = 6
	FieldName       = 4
	FieldTypeKind   = 8
	FieldType       = 10
	FieldDictionary = 12
	FieldChildren   = 14
	DictionaryID    = 4
	unionMode       = 4

	typeUnion = 14
)

// Shape is the number of arrays (field nodes) and buffers of a record batch, by its schema, or of a
// dictionary.
type Shape struct{ Nodes, Buffers int }

// buffersOfType is the number of buffers of an array, without those of its children, by the number
// of its type in arrowTables.
var buffersOfType = [...]int{0, 0, 2, 2, 3, 3, 2, 2, 2, 2, 2, 2, 2, 1, 1, 2, 1, 2, 2, 3, 3, 2,
	0, 2, 2, 3, 3}

// ShapeOf returns the sum of the shapes of a schema's fields, or of a field's children. It adds the
// shapes of dictionaries to dictionaries, by dictionary number.
func ShapeOf(t flatbuffers.Table, fields flatbuffers.VOffsetT,
	dictionaries map[int64]Shape) (s Shape) {
	o := flatbuffers.UOffsetT(t.Offset(fields))
	for i := 0; o != 0 && i < t.VectorLen(o); i++ {
		f := shapeOfField(
			flatbuffers.Table{Bytes: t.Bytes,
				Pos: t.Indirect(t.Vector(o) + flatbuffers.UOffsetT(i)*4)}, dictionaries)
		s.Nodes, s.Buffers = s.Nodes+f.Nodes, s.Buffers+f.Buffers
	}
	return s
}

func shapeOfField(field flatbuffers.Table, dictionaries map[int64]Shape) Shape {
	f := ShapeOf(field, FieldChildren, dictionaries)
	f.Nodes++
	if kind := int(field.GetByteSlot(FieldTypeKind, 0)); kind < len(buffersOfType) {
		f.Buffers += buffersOfType[kind]
		if kind == typeUnion {
			union := flatbuffers.Table{Bytes: field.Bytes}
			field.Union(&union, flatbuffers.UOffsetT(field.Offset(FieldType)))
			f.Buffers += int(union.GetInt16Slot(unionMode, 0) & 1) // a dense union has offsets
		}
	}
	if o := flatbuffers.UOffsetT(field.Offset(FieldDictionary)); o != 0 {
		encoding := flatbuffers.Table{Bytes: field.Bytes, Pos: field.Indirect(field.Pos + o)}
		dictionaries[encoding.GetInt64Slot(DictionaryID, 0)] = f
		f = Shape{1, 2} // its rows are indices
	}
	return f
}

// Column is a field of a schema or of a dictionary. end is the sum of the shapes up to and
// including it.
type Column struct {
	Name string
	end  Shape
}

// ColumnsOf returns the fields of a schema, and by dictionary number the name of the field that
// uses it.
func ColumnsOf(schema flatbuffers.Table) (columns []Column, dictionaries map[int64]string) {
	dictionaries = map[int64]string{}
	end := Shape{}
	o := flatbuffers.UOffsetT(schema.Offset(SchemaFields))
	for i := 0; o != 0 && i < schema.VectorLen(o); i++ {
		field := flatbuffers.Table{Bytes: schema.Bytes,
			Pos: schema.Indirect(schema.Vector(o) + flatbuffers.UOffsetT(i)*4)}
		name, its := string(Text(field, FieldName)), map[int64]Shape{}
		f := shapeOfField(field, its)
		end = Shape{end.Nodes + f.Nodes, end.Buffers + f.Buffers}
		columns = append(columns, Column{name, end})
		for number := range its {
			dictionaries[number] = name
		}
	}
	return columns, dictionaries
}

// ColumnOfArray returns the name of the column of the i-th array of a batch, or "".
func ColumnOfArray(columns []Column, i int) string {
	return firstName(columns, func(c Column) bool { return i < c.end.Nodes })
}

// ColumnOfBuffer returns the name of the column of the i-th buffer of a batch, or "".
func ColumnOfBuffer(columns []Column, i int) string {
	return firstName(columns, func(c Column) bool { return i < c.end.Buffers })
}

func firstName(columns []Column, is func(Column) bool) string {
	if i := slices.IndexFunc(columns, is); i >= 0 {
		return columns[i].Name
	}
	return ""
}

// DictionaryNumbers returns the dictionary numbers of a schema's fields, or of a field's children,
// in order.
func DictionaryNumbers(t flatbuffers.Table, fields flatbuffers.VOffsetT) (numbers []int64) {
	o := flatbuffers.UOffsetT(t.Offset(fields))
	for i := 0; o != 0 && i < t.VectorLen(o); i++ {
		field := flatbuffers.Table{Bytes: t.Bytes,
			Pos: t.Indirect(t.Vector(o) + flatbuffers.UOffsetT(i)*4)}
		if o := flatbuffers.UOffsetT(field.Offset(FieldDictionary)); o != 0 {
			encoding := flatbuffers.Table{Bytes: t.Bytes, Pos: field.Indirect(field.Pos + o)}
			numbers = append(numbers, encoding.GetInt64Slot(DictionaryID, 0))
		}
		numbers = append(numbers, DictionaryNumbers(field, FieldChildren)...)
	}
	return numbers
}

// Has returns the shape of a batch. enough is false if the batch has fewer arrays or buffers than
// s: Arrow v15 would then read beyond their ends.
func (s Shape) Has(batch flatbuffers.Table) (got Shape, enough bool) {
	count := func(slot flatbuffers.VOffsetT) int {
		if o := flatbuffers.UOffsetT(batch.Offset(slot)); o != 0 {
			return batch.VectorLen(o)
		}
		return 0
	}
	got = Shape{count(BatchNodes), count(BatchBuffers)}
	return got, got.Nodes >= s.Nodes && got.Buffers >= s.Buffers
}

// Slots of the flatbuffer tables Message and RecordBatch, as vtable offsets.
const (
	MessageType   = 6
	MessageHeader = 8
	BatchNodes    = 6
	BatchBuffers  = 8
)

// TypeSchema is the message type of a schema.
const TypeSchema = 1

// Text returns a string of a table, or nil if it is absent.
func Text(t flatbuffers.Table, slot flatbuffers.VOffsetT) []byte {
	o := flatbuffers.UOffsetT(t.Offset(slot))
	if o == 0 {
		return nil
	}
	return t.ByteVector(o + t.Pos)
}
