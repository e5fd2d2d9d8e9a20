// Package arrowmeta checks the metadata of Arrow's IPC format, which are flatbuffers, and computes
// from a schema how many arrays and buffers its record batches have.
//
// Arrow v15 follows damaged offsets and uses the bytes there, also as a length. One flipped bit in
// a footer can make it allocate more memory than exists, which recover cannot catch. Call [Check]
// first, for sources and for our own files.
//
// # Caveats
//
// The functions other than Check may panic on damaged metadata.
package arrowmeta

import "encoding/binary"

// fieldKind is the kind of a field of a flatbuffer table.
type fieldKind uint8

const (
	kindNumber fieldKind = iota // in the table itself, of size bytes
	kindText                    // this and all following kinds are stored by offset
	kindVector                  // a vector of numbers or structs, of size bytes each
	kindTable
	kindTableVector // a vector of tables
	kindUnion       // a table; the number in the previous field selects its type
)

// tableField is one field of a table. Fields are in the order of the schema.
type tableField struct {
	kind     fieldKind
	size     int
	table    string   // type of the table, or of each element
	members  []string // types of a union, by number; "" is no table
	required bool     // the field must be present
}

func number(size int) tableField          { return tableField{kind: kindNumber, size: size} }
func vectorOf(size int) tableField        { return tableField{kind: kindVector, size: size} }
func tableOf(table string) tableField     { return tableField{kind: kindTable, table: table} }
func tablesOf(table string) tableField    { return tableField{kind: kindTableVector, table: table} }
func unionOf(tables ...string) tableField { return tableField{kind: kindUnion, members: tables} }

var text = tableField{kind: kindText}

// mandatory returns f as a required field. pyarrow refuses a table without it.
func (f tableField) mandatory() tableField {
	f.required = true
	return f
}

// Roots of Arrow's flatbuffers.
const (
	Message = "Message"
	Footer  = "Footer"
)

// blockSize is the size of the struct Block, in bytes.
const blockSize = 24

// arrowTables are the tables of Arrow's Schema.fbs, Message.fbs and File.fbs, except those of
// tensors, which datasets do not contain.
var arrowTables = map[string][]tableField{
	Message: {number(2), number(1), unionOf("", "Schema", "DictionaryBatch",
		"RecordBatch").mandatory(), number(8), tablesOf("KeyValue")},
	Footer: {number(2), tableOf("Schema").mandatory(), vectorOf(blockSize),
		vectorOf(blockSize), tablesOf("KeyValue")},
	"Schema": {number(2), tablesOf("Field").mandatory(), tablesOf("KeyValue"),
		vectorOf(8)},
	"DictionaryBatch": {number(8), tableOf("RecordBatch").mandatory(), number(1)},
	"RecordBatch": {number(8), vectorOf(16), vectorOf(16), tableOf("BodyCompression"),
		vectorOf(8)},
	"BodyCompression": {number(1), number(1)},
	"KeyValue":        {text.mandatory(), text.mandatory()},
	"Field": {text, number(1), number(1), unionOf("", "Null", "Int", "FloatingPoint", "Binary",
		"Utf8", "Bool", "Decimal", "Date",
		"Time", "Timestamp", "Interval", "List", "Struct", "Union", "FixedSizeBinary",
		"FixedSizeList", "Map", "Duration", "LargeBinary",
		"LargeUtf8", "LargeList", "RunEndEncoded", "BinaryView", "Utf8View", "ListView",
		"LargeListView").mandatory(),
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
	"Null":               {}, "Binary": {}, "Utf8": {}, "Bool": {}, "List": {}, "Struct": {},
	"LargeBinary": {}, "LargeUtf8": {}, "LargeList": {},
	"RunEndEncoded": {}, "BinaryView": {}, "Utf8View": {}, "ListView": {}, "LargeListView": {},
}

// maxDepth is the largest depth of nested tables, as in pyarrow.
const maxDepth = 128

// Check reports whether metadata has the structure of its root, [Message] or [Footer]. It applies
// the rules of flatbuffers' verifier for C++ (https://github.com/google/flatbuffers, verifier.h),
// which pyarrow uses: everything that an offset refers to is inside the bytes and aligned.
//
// Check also refuses more tables than fit into the bytes. pyarrow accepts a few tables that several
// offsets refer to, but no writer makes them.
func Check(b []byte, root string) bool {
	v := &verifier{bytes: b, tablesLeft: len(b) / 4}
	at, ok := v.follow(0)
	return ok && v.table(at, root)
}

// verifier checks the tables of a flatbuffer. Its places are byte offsets from the beginning and
// may have any value: has reports whether they are inside the bytes.
type verifier struct {
	bytes      []byte
	depth      int
	tablesLeft int // number of tables that may still follow
}

// has reports whether size bytes at offset at are inside the bytes, and at is aligned. It returns
// false if they are all of the bytes, because no object is that large.
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

// follow returns the place that the offset at a place refers to.
func (v *verifier) follow(at uint64) (to uint64, ok bool) {
	if !v.has(at, 4, 4) {
		return 0, false
	}
	offset := v.uint32(at)
	return at + offset, offset != 0 && int32(offset) > 0 && v.has(at+offset, 1, 1)
}

// table reports whether a table, and everything it refers to, is valid.
func (v *verifier) table(at uint64, name string) bool {
	v.tablesLeft--
	if v.tablesLeft < 0 || v.depth == maxDepth || !v.has(at, 4, 4) {
		return false
	}
	v.depth++
	defer func() { v.depth-- }()
	slots := at - uint64(int64(int32(v.uint32(at)))) // of the vtable; a negative one wraps around
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

// field reports whether the field at a place is valid. unionType is the number in the previous
// field.
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
		// A table of an unknown type cannot be checked. The reader refuses it.
		return unionType >= uint64(len(field.members)) || field.members[unionType] == "" ||
			v.table(to, field.members[unionType])
	default:
		return v.table(to, field.table)
	}
}

// vector returns where the elements of the vector at a place end.
func (v *verifier) vector(at uint64, size int) (end uint64, ok bool) {
	if !v.has(at, 4, 4) {
		return 0, false
	}
	bytes := 4 + uint64(size)*v.uint32(at)
	return at + bytes, v.has(at, bytes, 1)
}
