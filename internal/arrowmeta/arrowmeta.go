// Package arrowmeta holds the metadata of Arrow's IPC format, which is flatbuffers, against how the format builds it.
//
// Arrow v15 reads on wherever a damaged offset leads and takes what is found there: for a length too, so that one flipped bit of a
// footer asks for more memory than there is, which no recover catches. [Check] goes before it, over sources and over our own files
// alike.
package arrowmeta

import "encoding/binary"

// flatSort is what a field of a flatbuffer's table holds.
type flatSort uint8

const (
	flatNumber  flatSort = iota // in the table itself, of size bytes
	flatText                    // the others are elsewhere, by an offset
	flatNumbers                 // a vector of numbers or structs, of size bytes each
	flatTable
	flatTables // a vector of tables
	flatUnion  // a table whose kind the number in the field before tells
)

// flatField is one field of a table, in the order of the schema.
type flatField struct {
	sort flatSort
	size int
	of   string   // the table that it is, or that each element is
	any  []string // those of a union, by number; "" for none
	must bool     // it may not be absent
}

func flatOf(size int) flatField          { return flatField{sort: flatNumber, size: size} }
func flatVector(size int) flatField      { return flatField{sort: flatNumbers, size: size} }
func flatTo(table string) flatField      { return flatField{sort: flatTable, of: table} }
func flatListOf(table string) flatField  { return flatField{sort: flatTables, of: table} }
func flatAny(tables ...string) flatField { return flatField{sort: flatUnion, any: tables} }

var flatString = flatField{sort: flatText}

// needed is a field without which pyarrow reads nothing.
func (f flatField) needed() flatField {
	f.must = true
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
var arrowTables = map[string][]flatField{
	Message:           {flatOf(2), flatOf(1), flatAny("", "Schema", "DictionaryBatch", "RecordBatch").needed(), flatOf(8), flatListOf("KeyValue")},
	Footer:            {flatOf(2), flatTo("Schema").needed(), flatVector(blockSize), flatVector(blockSize), flatListOf("KeyValue")},
	"Schema":          {flatOf(2), flatListOf("Field").needed(), flatListOf("KeyValue"), flatVector(8)},
	"DictionaryBatch": {flatOf(8), flatTo("RecordBatch").needed(), flatOf(1)},
	"RecordBatch":     {flatOf(8), flatVector(16), flatVector(16), flatTo("BodyCompression"), flatVector(8)},
	"BodyCompression": {flatOf(1), flatOf(1)},
	"KeyValue":        {flatString.needed(), flatString.needed()},
	"Field": {flatString, flatOf(1), flatOf(1), flatAny("", "Null", "Int", "FloatingPoint", "Binary", "Utf8", "Bool", "Decimal", "Date",
		"Time", "Timestamp", "Interval", "List", "Struct", "Union", "FixedSizeBinary", "FixedSizeList", "Map", "Duration", "LargeBinary",
		"LargeUtf8", "LargeList", "RunEndEncoded", "BinaryView", "Utf8View", "ListView", "LargeListView").needed(),
		flatTo("DictionaryEncoding"), flatListOf("Field"), flatListOf("KeyValue")},
	"DictionaryEncoding": {flatOf(8), flatTo("Int").needed(), flatOf(1), flatOf(2)},
	"Int":                {flatOf(4), flatOf(1)},
	"FloatingPoint":      {flatOf(2)},
	"Decimal":            {flatOf(4), flatOf(4), flatOf(4)},
	"Date":               {flatOf(2)},
	"Time":               {flatOf(2), flatOf(4)},
	"Timestamp":          {flatOf(2), flatString},
	"Interval":           {flatOf(2)},
	"Union":              {flatOf(2), flatVector(4)},
	"FixedSizeBinary":    {flatOf(4)},
	"FixedSizeList":      {flatOf(4)},
	"Map":                {flatOf(1)},
	"Duration":           {flatOf(2)},
	"Null":               {}, "Binary": {}, "Utf8": {}, "Bool": {}, "List": {}, "Struct": {}, "LargeBinary": {}, "LargeUtf8": {}, "LargeList": {},
	"RunEndEncoded": {}, "BinaryView": {}, "Utf8View": {}, "ListView": {}, "LargeListView": {},
}

// flatDepth is how many tables may stand in each other, as in pyarrow.
const flatDepth = 128

// Check reports whether metadata is built as its root, [Message] or [Footer], says, by the rules of flatbuffers' verifier for C++
// (https://github.com/google/flatbuffers, verifier.h), which pyarrow goes by: whatever is pointed to lies in the bytes and is aligned.
//
// Nor may there be more tables than have room: pyarrow would take some that are in several places, and no writer makes them.
func Check(b []byte, root string) bool {
	v := &flatVerifier{bytes: b, left: len(b) / 4}
	at, ok := v.follow(0)
	return ok && v.table(at, root)
}

// flatVerifier walks over the tables of a flatbuffer. Its places are bytes from the beginning, and may be anything: has reports whether they
// are in it.
type flatVerifier struct {
	bytes []byte
	depth int
	left  int // tables
}

// has reports whether size bytes from a place on are there, and aligned; nothing fills all of them.
func (v *flatVerifier) has(at, size, align uint64) bool {
	all := uint64(len(v.bytes))
	return at%align == 0 && size < all && at <= all-size
}

func (v *flatVerifier) uint16(at uint64) uint64 {
	return uint64(binary.LittleEndian.Uint16(v.bytes[at:]))
}
func (v *flatVerifier) uint32(at uint64) uint64 {
	return uint64(binary.LittleEndian.Uint32(v.bytes[at:]))
}

// follow reads the offset at a place.
func (v *flatVerifier) follow(at uint64) (to uint64, ok bool) {
	if !v.has(at, 4, 4) {
		return 0, false
	}
	offset := v.uint32(at)
	return at + offset, offset != 0 && int32(offset) > 0 && v.has(at+offset, 1, 1)
}

// table holds a table and all it points to against its fields.
func (v *flatVerifier) table(at uint64, name string) bool {
	v.left--
	if v.left < 0 || v.depth == flatDepth || !v.has(at, 4, 4) {
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
	kind := uint64(0)
	for i, field := range arrowTables[name] {
		slot := uint64(4 + 2*i)
		if slot >= size || v.uint16(slots+slot) == 0 {
			if field.must {
				return false
			}
			kind = 0
			continue
		}
		place := at + v.uint16(slots+slot)
		if !v.field(place, field, kind) {
			return false
		}
		if field.sort == flatNumber && field.size == 1 {
			kind = uint64(v.bytes[place])
		}
	}
	return true
}

// field holds the field at a place against what it is. kind is the number in the field before.
func (v *flatVerifier) field(at uint64, field flatField, kind uint64) bool {
	if field.sort == flatNumber {
		return v.has(at, uint64(field.size), uint64(field.size))
	}
	to, ok := v.follow(at)
	if !ok {
		return false
	}
	switch field.sort {
	case flatText:
		end, ok := v.vector(to, 1)
		return ok && v.has(end, 1, 1) && v.bytes[end] == 0
	case flatNumbers:
		_, ok := v.vector(to, field.size)
		return ok
	case flatTables:
		end, ok := v.vector(to, 4)
		for at := to + 4; ok && at < end; at += 4 {
			ok = v.table(at+v.uint32(at), field.of)
		}
		return ok
	case flatUnion:
		// One of a number that is not known yet is nothing that could be held against something; the reader refuses it.
		return kind >= uint64(len(field.any)) || field.any[kind] == "" || v.table(to, field.any[kind])
	default:
		return v.table(to, field.of)
	}
}

// vector tells where the elements at a place end.
func (v *flatVerifier) vector(at uint64, size int) (end uint64, ok bool) {
	if !v.has(at, 4, 4) {
		return 0, false
	}
	bytes := 4 + uint64(size)*v.uint32(at)
	return at + bytes, v.has(at, bytes, 1)
}
