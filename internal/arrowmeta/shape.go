package arrowmeta

import (
	"slices"

	flatbuffers "github.com/google/flatbuffers/go"
)

// Slots of the flatbuffer tables Schema, Field, DictionaryEncoding, DictionaryBatch and Union, as vtable offsets, and types of fields.
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

// Shape is how many arrays and buffers rows take, of a schema or of a dictionary.
type Shape struct{ Nodes, Buffers int }

// buffersOfType are the buffers of an array without its children's, by the number of its type in arrowTables.
var buffersOfType = [...]int{0, 0, 2, 2, 3, 3, 2, 2, 2, 2, 2, 2, 2, 1, 1, 2, 1, 2, 2, 3, 3, 2, 0, 2, 2, 3, 3}

// ShapeOf adds up the fields of a schema, or the children of a field, and finds the dictionaries' shapes by their numbers.
func ShapeOf(t flatbuffers.Table, fields flatbuffers.VOffsetT, dictionaries map[int64]Shape) (s Shape) {
	o := flatbuffers.UOffsetT(t.Offset(fields))
	for i := 0; o != 0 && i < t.VectorLen(o); i++ {
		f := shapeOfField(flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(t.Vector(o) + flatbuffers.UOffsetT(i)*4)}, dictionaries)
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
			f.Buffers += int(union.GetInt16Slot(unionMode, 0) & 1) // a dense one has offsets
		}
	}
	if o := flatbuffers.UOffsetT(field.Offset(FieldDictionary)); o != 0 {
		encoding := flatbuffers.Table{Bytes: field.Bytes, Pos: field.Indirect(field.Pos + o)}
		dictionaries[encoding.GetInt64Slot(DictionaryID, 0)] = f
		f = Shape{1, 2} // its rows are integers
	}
	return f
}

// Column is a field of a schema, or the dictionary of one, and where its arrays and buffers end among those of a batch.
type Column struct {
	Name string
	end  Shape
}

// ColumnsOf are the fields of a schema, and those that the dictionaries belong to, by number.
func ColumnsOf(schema flatbuffers.Table) (columns []Column, dictionaries map[int64]string) {
	dictionaries = map[int64]string{}
	end := Shape{}
	o := flatbuffers.UOffsetT(schema.Offset(SchemaFields))
	for i := 0; o != 0 && i < schema.VectorLen(o); i++ {
		field := flatbuffers.Table{Bytes: schema.Bytes, Pos: schema.Indirect(schema.Vector(o) + flatbuffers.UOffsetT(i)*4)}
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

// ColumnOfArray and ofBuffer name the column that an array or a buffer of a batch is of, "" for none.
func ColumnOfArray(columns []Column, i int) string {
	return firstName(columns, func(c Column) bool { return i < c.end.Nodes })
}

func ColumnOfBuffer(columns []Column, i int) string {
	return firstName(columns, func(c Column) bool { return i < c.end.Buffers })
}

func firstName(columns []Column, is func(Column) bool) string {
	if i := slices.IndexFunc(columns, is); i >= 0 {
		return columns[i].Name
	}
	return ""
}

// DictionaryNumbers are the numbers of the dictionaries of a schema's fields, or of a field's children, in their order.
func DictionaryNumbers(t flatbuffers.Table, fields flatbuffers.VOffsetT) (numbers []int64) {
	o := flatbuffers.UOffsetT(t.Offset(fields))
	for i := 0; o != 0 && i < t.VectorLen(o); i++ {
		field := flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(t.Vector(o) + flatbuffers.UOffsetT(i)*4)}
		if o := flatbuffers.UOffsetT(field.Offset(FieldDictionary)); o != 0 {
			encoding := flatbuffers.Table{Bytes: t.Bytes, Pos: field.Indirect(field.Pos + o)}
			numbers = append(numbers, encoding.GetInt64Slot(DictionaryID, 0))
		}
		numbers = append(numbers, DictionaryNumbers(field, FieldChildren)...)
	}
	return numbers
}

// Has returns how many arrays and buffers a batch has; enough is false if those are fewer than s, as
// Arrow v15 then reads what lies behind them.
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

const MessageType = 6

const MessageHeader = 8

const BatchNodes = 6

const BatchBuffers = 8

const TypeSchema = 1

// Text is a string of a table, empty where it is not there.
func Text(t flatbuffers.Table, slot flatbuffers.VOffsetT) []byte {
	o := flatbuffers.UOffsetT(t.Offset(slot))
	if o == 0 {
		return nil
	}
	return t.ByteVector(o + t.Pos)
}
