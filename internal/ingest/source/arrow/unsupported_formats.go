package arrow

import (
	"encoding/binary"
	"fmt"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/tensorcache/tensorcache/internal/arrowmeta"
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

// messageError returns the error for bytes that begin no message. Before version 0.15, Arrow wrote
// only the length there.
func (s *streamReader) messageError(at int64) error {
	prefix := make([]byte, 4)
	if _, err := s.data().ReadAt(prefix, at); err != nil {
		return err
	}
	length := int64(int32(binary.LittleEndian.Uint32(prefix)))
	if length >= 8 && length <= s.bytes-at-4 {
		meta := make([]byte, length)
		if _, err := s.data().ReadAt(meta, at+4); err != nil {
			return err
		}
		if arrowmeta.Check(meta, arrowmeta.Message) {
			return &loaderr.SourceError{
				Reason: "is in the form that Arrow had before version 0.15, which is not read",
				Hint:   hintOldArrow,
			}
		}
	}
	return &loaderr.SourceError{
		Reason: fmt.Sprintf("byte %d is not the beginning of an Arrow message", s.begin+at),
		Hint:   s.hint("send an Arrow IPC stream"),
	}
}
