package load

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/ingest/source/put/puttest"
)

// TestCompressedBuffersTooShortForTheirRowsAreRefused reduces the declared uncompressed size of
// each compressed buffer of a stream by 8 bytes, one buffer at a time.
func TestCompressedBuffersTooShortForTheirRowsAreRefused(t *testing.T) {
	_, good := puttest.ArrowFileBytes(t, ipc.WithZstd())
	for at, shortened := 0, 0; ; {
		next := bytes.Index(good[at:], []byte{0x28, 0xb5, 0x2f, 0xfd})
		if next < 0 {
			if shortened < 4 {
				t.Errorf("%d buffers were shortened, want 4 or more", shortened)
			}
			return
		}
		at += next
		b := bytes.Clone(good)
		prefix := b[at-8 : at]
		at += 4
		n := binary.LittleEndian.Uint64(prefix)
		if n <= 8 {
			continue
		}
		shortened++
		binary.LittleEndian.PutUint64(prefix, n-8)
		o := arrowOptions()
		o.Sources = []string{loadtest.File(t, "x.arrows", string(b))}
		if _, _, err := loadInProcess(t, o); err == nil {
			t.Errorf("a buffer of %d bytes was accepted, want %d", n-8, n)
		} else {
			loadtest.Refused(t, err, "x.arrows", "damaged")
		}
	}
}

// TestAnEmptyCompressedBufferMayHaveNoFrame writes the bytes of a column of empty texts as Arrow's
// Java library does: the uncompressed size 0, without a compressed frame after it.
func TestAnEmptyCompressedBufferMayHaveNoFrame(t *testing.T) {
	texts := array.NewStringBuilder(memory.DefaultAllocator)
	texts.AppendValues([]string{"", ""}, nil)
	column := texts.NewArray()
	fields := []arrow.Field{{Name: "a", Type: arrow.BinaryTypes.String},
		{Name: "b", Type: arrow.BinaryTypes.String}}
	record := array.NewRecord(arrow.NewSchema(fields, nil), []arrow.Array{column, column}, 2)
	for magic, codec := range map[string]ipc.Option{"\x28\xb5\x2f\xfd": ipc.WithZstd(),
		"\x04\x22\x4d\x18": ipc.WithLZ4()} {
		var b bytes.Buffer
		w := ipc.NewWriter(&b, ipc.WithSchema(record.Schema()), codec)
		if err := errors.Join(w.Write(record), w.Close()); err != nil {
			t.Fatal(err)
		}
		body := b.Bytes()[bytes.Index(b.Bytes(), []byte(magic))-8:]
		// The end of the offsets of a, where the empty buffers are. Go's library writes no bytes
		// for them.
		frame := uint64(bytes.Index(body[9:], []byte(magic)) + 1)
		zeros := uint64(8) // the position of eight zero bytes: an uncompressed size of 0
		for !bytes.HasPrefix(body[zeros:], make([]byte, 8)) {
			zeros += 8
		}
		buffer := func(at, length uint64) []byte {
			return binary.LittleEndian.AppendUint64(
				binary.LittleEndian.AppendUint64(nil, at), length)
		}
		empty := buffer(frame, 0)
		if bytes.Count(b.Bytes(), empty) != 2 { // the texts of a and the validity bits of b
			t.Fatalf("%x has no empty buffer at %d", b.Bytes(), frame)
		}
		stream := bytes.Replace(b.Bytes(), empty, buffer(zeros, 8), 1)
		if l := mustLoad(t,
			option.Options{Sources: []string{loadtest.File(t, "x.arrows",
				string(stream))}}); l.Manifest.Vocab["a"].Count != 1 {
			t.Error(l.Manifest.Vocab)
		}
	}
}
