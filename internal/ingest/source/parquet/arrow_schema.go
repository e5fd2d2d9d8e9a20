package parquet

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"unicode/utf8"

	flatbuffers "github.com/google/flatbuffers/go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/tensorcache/tensorcache/internal/arrowmeta"
	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/textvalue"
)

// arrowSchemaKey is the key of the file's metadata in which pyarrow, Polars and arrow-rs store the
// Arrow schema: an IPC message in base64.
const arrowSchemaKey = "ARROW:schema"

// Slots of the flatbuffer tables Timestamp and Duration, as vtable offsets, and the values of
// Field.type that select these tables.
const (
	timeUnit = 4
	timeZone = 6

	typeTimestamp = 10
	typeDuration  = 18
)

// arrowHint is a type that the Arrow schema states and Parquet's own types cannot express. The zero
// value states none.
type arrowHint struct {
	name     string
	duration string // unit of a duration that is stored as int64
	zone     string // time zone of a time that is stored as UTC
}

// parseArrowHints returns one hint per field of the Arrow schema in the file's metadata. It parses
// the flatbuffer itself: Arrow v15 fails on types that it does not know, even in columns that are
// not loaded.
func parseArrowHints(path, text string) (hints []arrowHint, err error) {
	damaged := &loaderr.SourceError{
		Path:   path,
		Reason: "its metadata " + arrowSchemaKey + " cannot be read",
		Hint:   loaderr.HintDamaged + ", or write it without store_schema",
	}
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(b) < 16 {
		return nil, damaged
	}
	// A stream from before Arrow 0.15 begins with the length instead of this mark.
	if binary.LittleEndian.Uint32(b) == 0xffffffff {
		b = b[4:]
	}
	b = b[4:] // the length of the message, which ends with the text
	if !arrowmeta.Check(b, arrowmeta.Message) {
		return nil, damaged
	}
	message := flatbuffers.Table{Bytes: b, Pos: flatbuffers.GetUOffsetT(b)}
	var schema flatbuffers.Table
	if message.Union(&schema,
		flatbuffers.UOffsetT(message.Offset(arrowmeta.MessageHeader))); message.GetByteSlot(
		arrowmeta.MessageType, 0) != arrowmeta.TypeSchema {
		return nil, damaged
	}
	fields := flatbuffers.UOffsetT(schema.Offset(arrowmeta.SchemaFields))
	for i := range schema.VectorLen(fields) {
		field := flatbuffers.Table{Bytes: b,
			Pos: schema.Indirect(schema.Vector(fields) + flatbuffers.UOffsetT(i)*4)}
		h, ok := arrowHintOf(field)
		if h.name = string(arrowmeta.Text(field, arrowmeta.FieldName)); !ok ||
			!utf8.ValidString(h.zone) {
			return nil, damaged
		}
		hints = append(hints, h)
	}
	return hints, nil
}

// arrowHintOf returns the hint of one field. ok is false if the field has an unknown unit.
func arrowHintOf(field flatbuffers.Table) (h arrowHint, ok bool) {
	kind, at := field.GetByteSlot(arrowmeta.FieldTypeKind, 0),
		flatbuffers.UOffsetT(field.Offset(arrowmeta.FieldType))
	if at == 0 || kind != typeTimestamp && kind != typeDuration {
		return h, true
	}
	var t flatbuffers.Table
	field.Union(&t, at)
	if kind == typeTimestamp {
		h.zone = string(arrowmeta.Text(t, timeZone))
		return h, true
	}
	const milliseconds = 1 // the default of the slot
	unit := t.GetInt16Slot(timeUnit, milliseconds)
	if unit < 0 || int(unit) >= len(textvalue.Units) {
		return h, false
	}
	h.duration = textvalue.Units[unit]
	return h, true
}

// applyArrowHint changes the type of a plain int64, or of a time in UTC, to the one that the Arrow
// schema states. If the hint does not fit the stored type, it is ignored, as pyarrow does. If the
// hint names another column, applyArrowHint returns an error.
func (f *columnType) applyArrowHint(h arrowHint, name string, logical any) error {
	t, integer := logical.(*format.IntType)
	switch {
	case h.duration != "" && f.Kind == column.KindInt64 &&
		(logical == nil || integer && t.IsSigned):
		f.Kind, f.Unit = column.KindDuration, h.duration
	case h.zone != "" && f.Kind == column.KindTime && f.Zone == "UTC":
		f.Zone = h.zone
	default:
		return nil
	}
	if h.name != name {
		return &loaderr.HintedError{
			Reason: fmt.Sprintf("is called %q in the metadata %s, which says what it is", h.name,
				arrowSchemaKey),
			Hint: "write the file again, or leave the column out with `columns`",
		}
	}
	return nil
}
