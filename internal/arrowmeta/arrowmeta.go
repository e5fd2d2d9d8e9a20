// Package arrowmeta holds the metadata of Arrow's IPC format, which is flatbuffers, against how the format builds it.
//
// Arrow v15 reads on wherever a damaged offset leads and takes what is found there: for a length too, so that one flipped bit of a
// footer asks for more memory than there is, which no recover catches. [Check] goes before it, over sources and over our own files
// alike.
package arrowmeta

import "encoding/binary"

// fieldKind is what a field of a flatbuffer's table holds.
type fieldKind uint8

const (
	kindNumber fieldKind = iota // in the table itself, of size bytes
	kindText                    // the others are elsewhere, by an offset
	kindVector                  // a vector of numbers or structs, of size bytes each
	kindTable
	kindTableVector // a vector of tables
	kindUnion       // a table whose kind the number in the field before tells
)

// tableField is one field of a table, in the order of the schema.
type tableField struct {
	kind     fieldKind
	size     int
	table    string   // the table that it is, or that each element is
	members  []string // those of a union, by number; "" for none
	required bool     // it may not be absent
}

func number(size int) tableField          { return tableField{kind: kindNumber, size: size} }
func vectorOf(size int) tableField        { return tableField{kind: kindVector, size: size} }
func tableOf(table string) tableField     { return tableField{kind: kindTable, table: table} }
func tablesOf(table string) tableField    { return tableField{kind: kindTableVector, table: table} }
func unionOf(tables ...string) tableField { return tableField{kind: kindUnion, members: tables} }

var text = tableField{kind: kindText}

// mandatory is a field without which pyarrow reads nothing.
func (f tableField) mandatory() tableField {
	f.required = true
	return f
}

// Roots of Arrow's flatbuffers.
const (
	Message = "Message"
	Footer  = "Footer"
)

// blockSize is that of the struct Block.
const blockSize = 24

// arrowTables are the tables of Arrow's Schema.fbs, Message.fbs and File.fbs, without those of tensors, which no dataset is made of.
var arrowTables = map[string][]tableField{
	Message:           {number(2), number(1), unionOf("", "Schema", "DictionaryBatch", "RecordBatch").mandatory(), number(8), tablesOf("KeyValue")},
	Footer:            {number(2), tableOf("Schema").mandatory(), vectorOf(blockSize), vectorOf(blockSize), tablesOf("KeyValue")},
	"Schema":          {number(2), tablesOf("Field").mandatory(), tablesOf("KeyValue"), vectorOf(8)},
	"DictionaryBatch": {number(8), tableOf("RecordBatch").mandatory(), number(1)},
	"RecordBatch":     {number(8), vectorOf(16), vectorOf(16), tableOf("BodyCompression"), vectorOf(8)},
	"BodyCompression": {number(1), number(1)},
	"KeyValue":        {text.mandatory(), text.mandatory()},
	"Field": {text, number(1), number(1), unionOf("", "Null", "Int", "FloatingPoint", "Binary", "Utf8", "Bool", "Decimal", "Date",
		"Time", "Timestamp", "Interval", "List", "Struct", "Union", "FixedSizeBinary", "FixedSizeList", "Map", "Duration", "LargeBinary",
		"LargeUtf8", "LargeList", "RunEndEncoded", "BinaryView", "Utf8View", "ListView", "LargeListView").mandatory(),
		tableOf("DictionaryEncoding"), tablesOf("Field"), tablesOf("KeyValue")},
	"DictionaryEncoding": {number(8), tableOf("Int").mandatory(), number(1), number(2)},
	"Int":                {number(4), number(1)},
	"FloatingPoint":      {number(2)},
	"Decimal":            {number(4), number(4), number(4)},
	"Date":               {number(2)},
	"Time":               {number(2), number(4)},
	"Timestamp":          {number(2), text},
	"Interval":           {number(2)},
	"Union":              {number(2), vectorOf(4)},
	"FixedSizeBinary":    {number(4)},
	"FixedSizeList":      {number(4)},
	"Map":                {number(1)},
	"Duration":           {number(2)},
	"Null":               {}, "Binary": {}, "Utf8": {}, "Bool": {}, "List": {}, "Struct": {}, "LargeBinary": {}, "LargeUtf8": {}, "LargeList": {},
	"RunEndEncoded": {}, "BinaryView": {}, "Utf8View": {}, "ListView": {}, "LargeListView": {},
}

// maxDepth is how many tables may stand in each other, as in pyarrow.
const maxDepth = 128

// Check reports whether metadata is built as its root, [Message] or [Footer], says, by the rules of flatbuffers' verifier for C++
// (https://github.com/google/flatbuffers, verifier.h), which pyarrow goes by: whatever is pointed to lies in the bytes and is aligned.
//
// Nor may there be more tables than have room: pyarrow would take some that are in several places, and no writer makes them.
func Check(b []byte, root string) bool {
	v := &verifier{bytes: b, tablesLeft: len(b) / 4}
	at, ok := v.follow(0)
	return ok && v.table(at, root)
}

// verifier walks over the tables of a flatbuffer. Its places are bytes from the beginning, and may be anything: has reports whether they
// are in it.
type verifier struct {
	bytes      []byte
	depth      int
	tablesLeft int // tables
}

// has reports whether size bytes from a place on are there, and aligned; nothing fills all of them.
func (v *verifier) has(at, size, align uint64) bool {
	all := uint64(len(v.bytes))
	return at%align == 0 && size < all && at <= all-size
}

func (v *verifier) uint16(at uint64) uint64 {
	return uint64(binary.LittleEndian.Uint16(v.bytes[at:]))
}
func (v *verifier) uint32(at uint64) uint64 {
	return uint64(binary.LittleEndian.Uint32(v.bytes[at:]))
}

// follow reads the offset at a place.
func (v *verifier) follow(at uint64) (to uint64, ok bool) {
	if !v.has(at, 4, 4) {
		return 0, false
	}
	offset := v.uint32(at)
	return at + offset, offset != 0 && int32(offset) > 0 && v.has(at+offset, 1, 1)
}

// table holds a table and all it points to against its fields.
func (v *verifier) table(at uint64, name string) bool {
	v.tablesLeft--
	if v.tablesLeft < 0 || v.depth == maxDepth || !v.has(at, 4, 4) {
		return false
	}
	v.depth++
	defer func() { v.depth-- }()
	slots := at - uint64(int64(int32(v.uint32(at)))) // where the fields are; one that is before the beginning wraps around
	if !v.has(slots, 2, 2) {
		return false
	}
	size := v.uint16(slots)
	if size%2 != 0 || !v.has(slots, size, 1) {
		return false
	}
	unionType := uint64(0)
	for i, field := range arrowTables[name] {
		slot := uint64(4 + 2*i)
		if slot >= size || v.uint16(slots+slot) == 0 {
			if field.required {
				return false
			}
			unionType = 0
			continue
		}
		place := at + v.uint16(slots+slot)
		if !v.field(place, field, unionType) {
			return false
		}
		if field.kind == kindNumber && field.size == 1 {
			unionType = uint64(v.bytes[place])
		}
	}
	return true
}

// field holds the field at a place against what it is. kind is the number in the field before.
func (v *verifier) field(at uint64, field tableField, unionType uint64) bool {
	if field.kind == kindNumber {
		return v.has(at, uint64(field.size), uint64(field.size))
	}
	to, ok := v.follow(at)
	if !ok {
		return false
	}
	switch field.kind {
	case kindText:
		end, ok := v.vector(to, 1)
		return ok && v.has(end, 1, 1) && v.bytes[end] == 0
	case kindVector:
		_, ok := v.vector(to, field.size)
		return ok
	case kindTableVector:
		end, ok := v.vector(to, 4)
		for at := to + 4; ok && at < end; at += 4 {
			ok = v.table(at+v.uint32(at), field.table)
		}
		return ok
	case kindUnion:
		// One of a number that is not known yet is nothing that could be held against something; the reader refuses it.
		return unionType >= uint64(len(field.members)) || field.members[unionType] == "" || v.table(to, field.members[unionType])
	default:
		return v.table(to, field.table)
	}
}

// vector tells where the elements at a place end.
func (v *verifier) vector(at uint64, size int) (end uint64, ok bool) {
	if !v.has(at, 4, 4) {
		return 0, false
	}
	bytes := 4 + uint64(size)*v.uint32(at)
	return at + bytes, v.has(at, bytes, 1)
}
