package ingest

import (
	"encoding/binary"
	"fmt"

	flatbuffers "github.com/google/flatbuffers/go"
)

// Slots of the flatbuffer tables of Arrow's Schema.fbs that hold vectors, as vtable offsets.
const (
	schemaFields   = 6
	schemaMetadata = 8
	fieldChildren  = 14
	fieldMetadata  = 16
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
	compressed := batch.Offset(batchCompression) != 0
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
		packed += length
		if !compressed || s.most == 0 {
			continue
		}
		if _, err := s.data().ReadAt(prefix, body+offset); err != nil {
			return err
		}
		n := int64(binary.LittleEndian.Uint64(prefix))
		if n == -1 { // as it is
			n = length - 8
		}
		if total += max(n, 0); n < 0 || total < 0 || total > s.most {
			return &SourceError{Reason: fmt.Sprintf("has a batch of %d bytes that would hold more than %d", bodyBytes, s.most), Hint: hintDamaged}
		}
	}
	return nil
}
