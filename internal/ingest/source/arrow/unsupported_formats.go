package arrow

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/tensorcache/tensorcache/internal/arrowmeta"
	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
)

const hintOldArrow = "read it with pyarrow and write it again, without use_legacy_format"

// schemaEndianness is a slot of Schema.fbs. Its default 0 is little-endian.
const schemaEndianness = 4

// checkEndianness refuses a schema with big-endian values. Arrow v15 swaps the bytes of most types,
// but silently leaves those of the others as they are.
func checkEndianness(schema flatbuffers.Table) error {
	if schema.GetInt16Slot(schemaEndianness, 0) == 0 {
		return nil
	}
	return &loaderr.SourceError{
		Reason: "holds big-endian values, which are not read",
		Hint:   "pyarrow reads it: write it again on a little-endian machine",
	}
}

// Numbers of a decimal and of a fixed_size_list in the union of field types, the slots of their
// tables, and the largest number of a type that Arrow v15 knows.
const (
	typeDecimal       = 7
	decimalPrecision  = 4
	decimalScale      = 6
	decimalBits       = 8
	typeFixedSizeList = 16
	listSize          = 4
	typeLast          = 26
)

// checkTypes refuses types of later versions of Arrow, and lists of no values, in a table's fields
// or in their children. Arrow v15 cannot decode batches of which it does not know a type, also if
// that column is not loaded.
func checkTypes(t flatbuffers.Table, fields flatbuffers.VOffsetT) error {
	o := flatbuffers.UOffsetT(t.Offset(fields))
	for i := 0; o != 0 && i < t.VectorLen(o); i++ {
		field := flatbuffers.Table{Bytes: t.Bytes,
			Pos: t.Indirect(t.Vector(o) + flatbuffers.UOffsetT(i)*4)}
		err := checkType(field)
		if err == nil {
			err = checkTypes(field, arrowmeta.FieldChildren)
		}
		if e := (*loaderr.SourceError)(nil); errors.As(err, &e) {
			e.Column = string(arrowmeta.Text(field, arrowmeta.FieldName)) // the outermost field
			return e
		}
	}
	return nil
}

// checkType refuses the type of a field if Arrow v15 does not know it or panics on it.
func checkType(field flatbuffers.Table) error {
	kind := field.GetByteSlot(arrowmeta.FieldTypeKind, 0)
	if kind > typeLast {
		return &loaderr.SourceError{
			Reason: fmt.Sprintf("is of type %d of a later version of Arrow, which is not read", kind),
			Hint:   "cast the column before it is written",
		}
	}
	if kind != typeDecimal && kind != typeFixedSizeList {
		return nil
	}
	var t flatbuffers.Table
	field.Union(&t, flatbuffers.UOffsetT(field.Offset(arrowmeta.FieldType)))
	if kind == typeFixedSizeList {
		if size := t.GetInt32Slot(listSize, 0); size < 1 {
			return &loaderr.SourceError{
				Reason: fmt.Sprintf("is a fixed_size_list of %d values, want at least 1", size),
				Hint:   "leave the column out before it is written",
			}
		}
		return nil
	}
	if bits := t.GetInt32Slot(decimalBits, 128); bits == 32 || bits == 64 {
		return &loaderr.SourceError{
			Reason: fmt.Sprintf("is decimal%d(%d, %d), which is not read", bits,
				t.GetInt32Slot(decimalPrecision, 0), t.GetInt32Slot(decimalScale, 0)),
			Hint: "cast it to decimal128 or float64 before it is written",
		}
	}
	return nil
}

// checkVersion refuses metadata of a version in which nothing that follows is known. version is the
// number in the message, which is 1 less than the name of the version.
func (s *streamReader) checkVersion(version int16) error {
	const mostVersions = 16 // more are damage
	if version == versionV4 || version == versionV5 {
		return nil
	}
	e := &loaderr.SourceError{
		Reason: fmt.Sprintf("has metadata of version %d, want 4 or 5", int(version)+1),
		Hint:   "write it again with metadata of version 5, as pyarrow 1.0 and later do",
	}
	if version < 0 || version >= mostVersions {
		e.Hint = s.hint(e.Hint)
	}
	return e
}

// CheckOldStream refuses a file if it is an Arrow stream of a version before 0.15.
func CheckOldStream(path string, f *files.File) error {
	st, err := f.Stat()
	if err != nil {
		return files.AsSourceError(path, err)
	}
	old, err := isOldMessage(f, 0, st.Size())
	if err != nil {
		return files.AsSourceError(path, err)
	}
	if old {
		e := oldFormat()
		e.Path = path
		return e
	}
	return nil
}

// oldFormat returns the error for messages of a version before 0.15.
func oldFormat() *loaderr.SourceError {
	return &loaderr.SourceError{
		Reason: "is in the form that Arrow had before version 0.15, which is not read",
		Hint:   hintOldArrow,
	}
}

// maxOldMetadata is the largest metadata of an old message in bytes that is recognized.
const maxOldMetadata = 64 << 20

// isOldMessage reports whether a message of a version before 0.15 begins at an offset. Arrow wrote
// only the length of the metadata before it then.
func isOldMessage(r io.ReaderAt, at, size int64) (bool, error) {
	if size-at < 4 {
		return false, nil
	}
	prefix := make([]byte, 4)
	if _, err := r.ReadAt(prefix, at); err != nil {
		return false, err
	}
	length := int64(int32(binary.LittleEndian.Uint32(prefix)))
	if length < 8 || length > min(size-at-4, maxOldMetadata) {
		return false, nil
	}
	meta := make([]byte, length)
	_, err := r.ReadAt(meta, at+4)
	return err == nil && arrowmeta.Check(meta, arrowmeta.Message), err
}

// messageError returns the error for bytes that begin no message.
func (s *streamReader) messageError(at int64) error {
	if old, err := isOldMessage(s.data(), at, s.bytes); err != nil {
		return err
	} else if old {
		return oldFormat()
	}
	return &loaderr.SourceError{
		Reason: fmt.Sprintf("byte %d is not the beginning of an Arrow message", s.begin+at),
		Hint:   s.hint("send an Arrow IPC stream"),
	}
}
