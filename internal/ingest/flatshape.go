package ingest

import (
	"fmt"

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
		field := flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(t.Vector(o) + flatbuffers.UOffsetT(i)*4)}
		f := shapeOf(field, fieldChildren, dictionaries)
		f.nodes++
		if kind := int(field.GetByteSlot(fieldTypeKind, 0)); kind < len(flatBuffers) {
			f.buffers += flatBuffers[kind]
			if kind == typeUnion {
				union := flatbuffers.Table{Bytes: t.Bytes}
				field.Union(&union, flatbuffers.UOffsetT(field.Offset(fieldType)))
				f.buffers += int(union.GetInt16Slot(unionMode, 0) & 1) // a dense one has offsets
			}
		}
		if o := flatbuffers.UOffsetT(field.Offset(fieldDictionary)); o != 0 {
			encoding := flatbuffers.Table{Bytes: t.Bytes, Pos: field.Indirect(field.Pos + o)}
			dictionaries[encoding.GetInt64Slot(dictionaryID, 0)] = f
			f = flatShape{1, 2} // its rows are integers
		}
		s.nodes, s.buffers = s.nodes+f.nodes, s.buffers+f.buffers
	}
	return s
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

// check refuses a batch with fewer arrays or buffers than its schema has: Arrow v15 reads what stands behind them.
func (s flatShape) check(batch flatbuffers.Table) error {
	have := func(slot flatbuffers.VOffsetT) int {
		if o := flatbuffers.UOffsetT(batch.Offset(slot)); o != 0 {
			return batch.VectorLen(o)
		}
		return 0
	}
	if n, b := have(batchNodes), have(batchBuffers); n < s.nodes || b < s.buffers {
		return &SourceError{Reason: fmt.Sprintf("has a batch of %d arrays and %d buffers, its schema %d and %d", n, b, s.nodes, s.buffers), Hint: hintDamaged}
	}
	return nil
}
