package ingest

import (
	"slices"

	flatbuffers "github.com/google/flatbuffers/go"
)

// Slots of the flatbuffer tables Schema, Field, DictionaryEncoding, DictionaryBatch and Union, as vtable offsets, and types of fields.
const (
	schemaFields    = 6
	fieldName       = 4
	fieldTypeKind   = 8
	fieldType       = 10
	fieldDictionary = 12
	fieldChildren   = 14
	dictionaryID    = 4
	unionMode       = 4

	typeUnion = 14
)

// flatShape is how many arrays and buffers rows take, of a schema or of a dictionary.
type flatShape struct{ nodes, buffers int }

// flatBuffers are the buffers of an array without its children's, by the number of its type in arrowTables.
var flatBuffers = [...]int{0, 0, 2, 2, 3, 3, 2, 2, 2, 2, 2, 2, 2, 1, 1, 2, 1, 2, 2, 3, 3, 2, 0, 2, 2, 3, 3}

// shapeOf adds up the fields of a schema, or the children of a field, and finds the dictionaries' shapes by their numbers.
func shapeOf(t flatbuffers.Table, fields flatbuffers.VOffsetT, dictionaries map[int64]flatShape) (s flatShape) {
	o := flatbuffers.UOffsetT(t.Offset(fields))
	for i := 0; o != 0 && i < t.VectorLen(o); i++ {
		f := shapeOfField(flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(t.Vector(o) + flatbuffers.UOffsetT(i)*4)}, dictionaries)
		s.nodes, s.buffers = s.nodes+f.nodes, s.buffers+f.buffers
	}
	return s
}

func shapeOfField(field flatbuffers.Table, dictionaries map[int64]flatShape) flatShape {
	f := shapeOf(field, fieldChildren, dictionaries)
	f.nodes++
	if kind := int(field.GetByteSlot(fieldTypeKind, 0)); kind < len(flatBuffers) {
		f.buffers += flatBuffers[kind]
		if kind == typeUnion {
			union := flatbuffers.Table{Bytes: field.Bytes}
			field.Union(&union, flatbuffers.UOffsetT(field.Offset(fieldType)))
			f.buffers += int(union.GetInt16Slot(unionMode, 0) & 1) // a dense one has offsets
		}
	}
	if o := flatbuffers.UOffsetT(field.Offset(fieldDictionary)); o != 0 {
		encoding := flatbuffers.Table{Bytes: field.Bytes, Pos: field.Indirect(field.Pos + o)}
		dictionaries[encoding.GetInt64Slot(dictionaryID, 0)] = f
		f = flatShape{1, 2} // its rows are integers
	}
	return f
}

// flatColumn is a field of a schema, or the dictionary of one, and where its arrays and buffers end among those of a batch.
type flatColumn struct {
	name string
	end  flatShape
}

// columnsOf are the fields of a schema, and those that the dictionaries belong to, by number.
func columnsOf(schema flatbuffers.Table) (columns []flatColumn, dictionaries map[int64]string) {
	dictionaries = map[int64]string{}
	end := flatShape{}
	o := flatbuffers.UOffsetT(schema.Offset(schemaFields))
	for i := 0; o != 0 && i < schema.VectorLen(o); i++ {
		field := flatbuffers.Table{Bytes: schema.Bytes, Pos: schema.Indirect(schema.Vector(o) + flatbuffers.UOffsetT(i)*4)}
		name, its := string(slotString(field, fieldName)), map[int64]flatShape{}
		f := shapeOfField(field, its)
		end = flatShape{end.nodes + f.nodes, end.buffers + f.buffers}
		columns = append(columns, flatColumn{name, end})
		for number := range its {
			dictionaries[number] = name
		}
	}
	return columns, dictionaries
}

// ofArray and ofBuffer name the column that an array or a buffer of a batch is of, "" for none.
func ofArray(columns []flatColumn, i int) string {
	return ofFirst(columns, func(c flatColumn) bool { return i < c.end.nodes })
}

func ofBuffer(columns []flatColumn, i int) string {
	return ofFirst(columns, func(c flatColumn) bool { return i < c.end.buffers })
}

func ofFirst(columns []flatColumn, is func(flatColumn) bool) string {
	if i := slices.IndexFunc(columns, is); i >= 0 {
		return columns[i].name
	}
	return ""
}

// dictionaryNumbers are the numbers of the dictionaries of a schema's fields, or of a field's children, in their order.
func dictionaryNumbers(t flatbuffers.Table, fields flatbuffers.VOffsetT) (numbers []int64) {
	o := flatbuffers.UOffsetT(t.Offset(fields))
	for i := 0; o != 0 && i < t.VectorLen(o); i++ {
		field := flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(t.Vector(o) + flatbuffers.UOffsetT(i)*4)}
		if o := flatbuffers.UOffsetT(field.Offset(fieldDictionary)); o != 0 {
			encoding := flatbuffers.Table{Bytes: t.Bytes, Pos: field.Indirect(field.Pos + o)}
			numbers = append(numbers, encoding.GetInt64Slot(dictionaryID, 0))
		}
		numbers = append(numbers, dictionaryNumbers(field, fieldChildren)...)
	}
	return numbers
}

// has returns how many arrays and buffers a batch has; enough is false if those are fewer than s, as
// Arrow v15 then reads what lies behind them.
func (s flatShape) has(batch flatbuffers.Table) (got flatShape, enough bool) {
	count := func(slot flatbuffers.VOffsetT) int {
		if o := flatbuffers.UOffsetT(batch.Offset(slot)); o != 0 {
			return batch.VectorLen(o)
		}
		return 0
	}
	got = flatShape{count(batchNodes), count(batchBuffers)}
	return got, got.nodes >= s.nodes && got.buffers >= s.buffers
}

const messageType = 6

const messageHeader = 8

const batchNodes = 6

const batchBuffers = 8

const typeSchema = 1

// slotString is a string of a table, empty where it is not there.
func slotString(t flatbuffers.Table, slot flatbuffers.VOffsetT) []byte {
	o := flatbuffers.UOffsetT(t.Offset(slot))
	if o == 0 {
		return nil
	}
	return t.ByteVector(o + t.Pos)
}
