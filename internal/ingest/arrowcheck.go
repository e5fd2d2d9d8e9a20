package ingest

import (
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/bitutil"
	flatbuffers "github.com/google/flatbuffers/go"
)

// Slots of the flatbuffer tables of Arrow's Schema.fbs that hold vectors, as vtable offsets.
const (
	schemaFields   = 6
	schemaMetadata = 8
	fieldChildren  = 14
	fieldMetadata  = 16
)

// Of a BodyCompression table.
const (
	compressionCodec = 4
	codecLZ4         = 0
)

// checkSchema refuses a schema whose vectors are longer than its bytes: Arrow v15 makes room for what they say.
func checkSchema(schema flatbuffers.Table) error {
	left := len(schema.Bytes) / 8 // no field takes less
	return checkFields(schema, schemaFields, schemaMetadata, &left)
}

func checkFields(t flatbuffers.Table, fields, metadata flatbuffers.VOffsetT, left *int) error {
	vector := func(slot flatbuffers.VOffsetT) (at flatbuffers.UOffsetT, n int, err error) {
		o := flatbuffers.UOffsetT(t.Offset(slot))
		if o == 0 {
			return 0, 0, nil
		}
		at, n = t.Vector(o), t.VectorLen(o)
		if n < 0 || n > (len(t.Bytes)-int(at))/4 {
			return 0, 0, &SourceError{Reason: fmt.Sprintf("has a schema with a list of %d in %d bytes", n, len(t.Bytes)), Hint: hintDamaged}
		}
		return at, n, nil
	}
	if _, _, err := vector(metadata); err != nil {
		return err
	}
	at, n, err := vector(fields)
	if err != nil {
		return err
	}
	for i := range n {
		if *left--; *left < 0 {
			return &SourceError{Reason: fmt.Sprintf("has more fields than its schema of %d bytes can hold", len(t.Bytes)), Hint: hintDamaged}
		}
		field := flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(at + flatbuffers.UOffsetT(i)*4)}
		if err := checkFields(field, fieldChildren, fieldMetadata, left); err != nil {
			return err
		}
	}
	return nil
}

// checkBuffers holds the buffers of a batch against its body, and adds up what compressed ones say they hold, so that none asks for
// more memory than a sound file would.
func (s *arrowStream) checkBuffers(batch flatbuffers.Table, body, bodyBytes int64) error {
	buffers := flatbuffers.UOffsetT(batch.Offset(batchBuffers))
	if buffers == 0 {
		return nil
	}
	if o := flatbuffers.UOffsetT(batch.Offset(batchNodes)); o != 0 {
		rows := batch.GetInt64Slot(batchLength, 0)
		for i := range batch.VectorLen(o) {
			at := batch.Vector(o) + flatbuffers.UOffsetT(i)*16
			if n, nulls := batch.GetInt64(at), batch.GetInt64(at+8); i == 0 && n != rows || n < 0 || nulls < 0 || nulls > n {
				return &SourceError{Reason: fmt.Sprintf("has an array of %d rows and %d nulls in a batch of %d rows", n, nulls, rows), Hint: hintDamaged}
			}
		}
	}
	compressed, lz4 := batch.Offset(batchCompression) != 0, false
	if compressed {
		c := flatbuffers.Table{Bytes: batch.Bytes, Pos: batch.Indirect(batch.Pos + flatbuffers.UOffsetT(batch.Offset(batchCompression)))}
		lz4 = c.GetInt8Slot(compressionCodec, codecLZ4) == codecLZ4
	}
	var total, packed int64
	prefix := make([]byte, 8)
	first := batch.Vector(buffers)
	for i := range batch.VectorLen(buffers) {
		at := first + flatbuffers.UOffsetT(i)*16
		offset, length := batch.GetInt64(at), batch.GetInt64(at+8)
		if length == 0 {
			continue
		}
		if offset < 0 || length < 0 || compressed && length < 8 || offset > bodyBytes-length || packed > bodyBytes-length {
			return &SourceError{Reason: fmt.Sprintf("has a buffer of %d bytes at %d in a batch of %d", length, offset, bodyBytes), Hint: hintDamaged}
		}
		if offset%8 != 0 {
			return &SourceError{Reason: fmt.Sprintf("has a buffer at %d, no multiple of 8", offset), Hint: hintDamaged}
		}
		packed += length
		if !compressed {
			continue
		}
		if _, err := s.data().ReadAt(prefix, body+offset); err != nil {
			return err
		}
		n := int64(binary.LittleEndian.Uint64(prefix))
		if n == -1 { // as it is
			n = length - 8
		} else if lz4 {
			if err := s.checkFrame(body+offset+8, length-8); err != nil {
				return err
			}
		}
		if total += max(n, 0); n < 0 || total < 0 || s.most > 0 && total > s.most {
			return &SourceError{Reason: fmt.Sprintf("has a batch of %d bytes that would hold more than %d", bodyBytes, s.most), Hint: hintDamaged}
		}
	}
	return nil
}

// miscounted holds the number of nulls that an array, or the values of its lists or its dictionary, says it has against its bits: both
// numbers, where they differ. Readers go by either.
func miscounted(a arrow.Array) (said, found int) {
	switch a := a.(type) {
	case *array.FixedSizeList:
		said, found = miscounted(a.ListValues())
	case *array.Dictionary:
		said, found = miscounted(a.Dictionary())
	}
	switch bits := a.NullBitmapBytes(); {
	case said != found || a.DataType().ID() == arrow.NULL:
		return said, found
	case len(bits) == 0: // all are there
		return a.NullN(), 0
	default:
		return a.NullN(), a.Len() - bitutil.CountSetBits(bits, a.Data().Offset(), a.Len())
	}
}

// checkFrame walks over the blocks of an LZ4 frame up to its end mark: Arrow v15 stops reading where it has enough bytes, and so takes frames that
// are cut off or damaged there.
func (s *arrowStream) checkFrame(at, length int64) error {
	damaged := &SourceError{Reason: fmt.Sprintf("has %d bytes that are no whole LZ4 frame", length), Hint: hintDamaged}
	head := make([]byte, 6)
	if length < 7 {
		return damaged
	}
	if _, err := s.data().ReadAt(head, at); err != nil {
		return err
	}
	flags, most := head[4], head[5]
	if binary.LittleEndian.Uint32(head) != 0x184d2204 || flags>>6 != 1 || most&0x8f != 0 || most>>4 < 4 {
		return damaged
	}
	here := int64(7) // magic, flags, the largest block, the head's checksum
	if flags&8 != 0 {
		here += 8 // the size of the content
	}
	if flags&1 != 0 {
		here += 4 // a dictionary's number
	}
	size := head[:4]
	for {
		if here > length-4 {
			return damaged
		}
		if _, err := s.data().ReadAt(size, at+here); err != nil {
			return err
		}
		n := int64(binary.LittleEndian.Uint32(size) &^ (1 << 31)) // the bit says that the block is not compressed
		if here += 4 + n; n == 0 {
			break
		}
		if flags&16 != 0 {
			here += 4 // the block's checksum
		}
	}
	if flags&4 != 0 {
		here += 4 // the content's
	}
	if here > length {
		return damaged
	}
	return nil
}
