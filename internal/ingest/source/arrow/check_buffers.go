package arrow

import (
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/bitutil"
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/tensorcache/tensorcache/internal/arrowmeta"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
)

// Slots and values of the flatbuffer table BodyCompression.
const (
	compressionCodec = 4
	codecLZ4         = 0
)

// checkBuffers compares the arrays and buffers of a batch with its schema and its body. It also
// adds up the declared sizes of compressed buffers, so that a damaged batch cannot allocate more
// than a valid one.
func (s *streamReader) checkBuffers(
	batch flatbuffers.Table, shape arrowmeta.Shape, columns []arrowmeta.Column,
	body, bodyBytes int64,
) error {
	if got, enough := shape.Has(batch); !enough {
		return &loaderr.SourceError{
			Reason: fmt.Sprintf("has a batch of %d arrays and %d buffers, its schema %d and %d",
				got.Nodes, got.Buffers, shape.Nodes, shape.Buffers),
			Hint: loaderr.HintDamaged,
		}
	}
	buffers := flatbuffers.UOffsetT(batch.Offset(arrowmeta.BatchBuffers))
	if buffers == 0 {
		return nil
	}
	if err := checkArrays(batch, columns); err != nil {
		return err
	}
	check := s.frameCheck(batch)
	var total, packed int64
	first := batch.Vector(buffers)
	for i := range batch.VectorLen(buffers) {
		at := first + flatbuffers.UOffsetT(i)*16
		offset, length := batch.GetInt64(at), batch.GetInt64(at+8)
		if length == 0 {
			continue
		}
		if err := checkPlace(offset, length, packed, bodyBytes, check != nil); err != nil {
			return addPlace(err, arrowmeta.ColumnOfBuffer(columns, i), 0)
		}
		packed += length
		if check == nil {
			continue
		}
		n, err := s.bufferBytes(body+offset, length, check)
		if err != nil {
			return addPlace(err, arrowmeta.ColumnOfBuffer(columns, i), 0)
		}
		if total += max(n, 0); n < 0 || total < 0 || s.maxBatchBytes > 0 &&
			total > s.maxBatchBytes {
			return &loaderr.SourceError{
				Reason: fmt.Sprintf("has a batch of %d bytes that would hold more than %d",
					bodyBytes, s.maxBatchBytes),
				Hint: loaderr.HintDamaged,
			}
		}
	}
	return nil
}

// checkArrays compares the rows and nulls of the arrays of a batch with its number of rows.
func checkArrays(batch flatbuffers.Table, columns []arrowmeta.Column) error {
	nodes := flatbuffers.UOffsetT(batch.Offset(arrowmeta.BatchNodes))
	if nodes == 0 {
		return nil
	}
	rows := batch.GetInt64Slot(batchLength, 0)
	for i := range batch.VectorLen(nodes) {
		at := batch.Vector(nodes) + flatbuffers.UOffsetT(i)*16
		if n, nulls := batch.GetInt64(at), batch.GetInt64(at+8); i == 0 && n != rows || n < 0 ||
			nulls < 0 || nulls > n {
			return &loaderr.SourceError{
				Column: arrowmeta.ColumnOfArray(columns, i),
				Reason: fmt.Sprintf("has an array of %d rows and %d nulls in a batch of %d rows",
					n, nulls, rows),
				Hint: loaderr.HintDamaged,
			}
		}
	}
	return nil
}

// checkPlace checks the place of a buffer in the body of a batch. packed is the number of bytes of
// the buffers before it.
func checkPlace(offset, length, packed, bodyBytes int64, compressed bool) error {
	if offset < 0 || length < 0 || compressed && length < 8 || offset > bodyBytes-length ||
		packed > bodyBytes-length {
		return &loaderr.SourceError{
			Reason: fmt.Sprintf("has a buffer of %d bytes at %d in a batch of %d", length,
				offset, bodyBytes),
			Hint: loaderr.HintDamaged,
		}
	}
	if offset%8 != 0 {
		return &loaderr.SourceError{
			Reason: fmt.Sprintf("has a buffer at %d, no multiple of 8", offset),
			Hint:   loaderr.HintDamaged,
		}
	}
	return nil
}

// frameCheck returns the function that checks the compressed frame of a buffer: it is at an offset,
// of length bytes, and declares n bytes. frameCheck returns nil if the batch is not compressed.
func (s *streamReader) frameCheck(batch flatbuffers.Table) func(offset, length, n int64) error {
	slot := flatbuffers.UOffsetT(batch.Offset(batchCompression))
	if slot == 0 {
		return nil
	}
	c := flatbuffers.Table{Bytes: batch.Bytes, Pos: batch.Indirect(batch.Pos + slot)}
	if c.GetInt8Slot(compressionCodec, codecLZ4) == codecLZ4 {
		return s.checkLZ4
	}
	return s.checkZstd
}

// bufferBytes returns the number of decompressed bytes of a buffer in a compressed batch, as the
// first 8 of its length bytes declare it, after check has checked its frame. It is negative if the
// buffer declares such a number.
func (s *streamReader) bufferBytes(
	offset, length int64, check func(offset, length, n int64) error,
) (int64, error) {
	var prefix [8]byte
	if _, err := s.data().ReadAt(prefix[:], offset); err != nil {
		return 0, err
	}
	n := int64(binary.LittleEndian.Uint64(prefix[:]))
	switch {
	case n == -1: // not compressed
		return length - 8, nil
	case n == 0 && length == 8: // Arrow for Java writes no frame for an empty buffer
		return 0, nil
	}
	return n, check(offset+8, length-8, n)
}

// nullCounts returns the null count that an array declares and the null count of its bitmap. If
// they differ for its list values or its dictionary, it returns those counts instead. Readers use
// either count.
func nullCounts(a arrow.Array) (declared, found int) {
	switch a := a.(type) {
	case *array.FixedSizeList:
		declared, found = nullCounts(a.ListValues())
	case *array.Dictionary:
		declared, found = nullCounts(a.Dictionary())
	}
	switch bits := a.NullBitmapBytes(); {
	case declared != found || a.DataType().ID() == arrow.NULL:
		return declared, found
	case len(bits) == 0: // no nulls
		return a.NullN(), 0
	default:
		return a.NullN(), a.Len() - bitutil.CountSetBits(bits, a.Data().Offset(), a.Len())
	}
}

// shortBuffer finds a buffer of an array, of its list values or of its dictionary that is too short
// for the rows. If there is one, it returns the buffer's length and the required length; otherwise
// have is not less than need. Arrow v15 reads beyond such a buffer.
func shortBuffer(a arrow.ArrayData) (have, need int64) {
	for i, spec := range a.DataType().Layout().Buffers {
		end := int64(a.Offset()) + int64(a.Len())
		switch spec.Kind {
		case arrow.KindBitmap:
			need = (end + 7) / 8
		case arrow.KindFixedWidth:
			need = end * int64(spec.ByteWidth)
		default: // variable length: the offsets are checked when they are read
			continue
		}
		if i >= len(a.Buffers()) || i == 0 && a.Buffers()[i] == nil { // no bitmap: no nulls
			continue
		}
		have = 0
		if b := a.Buffers()[i]; b != nil {
			have = int64(b.Len())
		}
		if a.Len() > 0 && have < need {
			return have, need
		}
	}
	for _, child := range a.Children() {
		if have, need := shortBuffer(child); have < need {
			return have, need
		}
	}
	if a.DataType().ID() == arrow.DICTIONARY {
		return shortBuffer(a.Dictionary())
	}
	return 0, 0
}
