package ingest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/tensorcache/tensorcache/internal/cached"
	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
)

// frameOf is a compressed frame of so many bytes that take several blocks.
func frameOf(t *testing.T, codec string, n int) []byte {
	t.Helper()
	values := make([]byte, n)
	for i := range values {
		values[i] = byte(i * i >> 7)
	}
	var b bytes.Buffer
	switch codec {
	case "zstd":
		w, err := zstd.NewWriter(nil, zstd.WithEncoderCRC(true))
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		return w.EncodeAll(values, nil)
	default:
		w := lz4.NewWriter(&b)
		if err := w.Apply(lz4.BlockSizeOption(lz4.Block64Kb), lz4.SizeOption(uint64(n))); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(values); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// streamOf is a stream of so many bytes.
func streamOf(t *testing.T, b []byte) *arrowStream {
	t.Helper()
	f, err := os.Open(loadtest.File(t, "frame", string(b)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return &arrowStream{file: cached.File{File: f}, bytes: int64(len(b))}
}

func TestFramesThatAreNotWholeAreRefused(t *testing.T) {
	const n = 300_000
	for _, codec := range []string{"zstd", "lz4"} {
		frame := frameOf(t, codec, n)
		check := func(frame []byte, holds int64) error {
			s := streamOf(t, frame)
			if codec == "lz4" {
				return s.checkLZ4(0, s.bytes, holds)
			}
			return s.checkZstd(0, s.bytes, holds)
		}
		if err := check(frame, n); err != nil {
			t.Errorf("%s: %v", codec, err)
		}
		for _, cut := range []int{0, 3, 7, 12, len(frame) / 2, len(frame) - 1} {
			loadtest.Refused(t, check(frame[:cut], n), "that are no whole", "damaged")
		}
		loadtest.Refused(t, check(frame, n-1), "that are no whole", "damaged")
		if codec == "lz4" {
			last := bytes.Clone(frame)
			last[len(last)-5] = 0x80 // of the end mark, before the content's checksum: a block of no bytes that is not compressed
			loadtest.Refused(t, check(last, n), "that are no whole", "damaged")
		}
		other := bytes.Clone(frame)
		other[0]++
		loadtest.Refused(t, check(other, n), "that are no whole", "damaged")
	}
}

// TestAFrameThatHoldsMoreThanItSaysIsRefused writes a lower size in a frame's head: its first bytes could be read all the same.
func TestAFrameThatHoldsMoreThanItSaysIsRefused(t *testing.T) {
	w, err := zstd.NewWriter(nil, zstd.WithSingleSegment(true), zstd.WithEncoderCRC(false))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	frame := w.EncodeAll(bytes.Repeat([]byte("0123456789"), 60), nil)
	check := func(holds int64) error {
		binary.LittleEndian.PutUint16(frame[5:], uint16(holds-256)) // RFC 8878, section 3.1.1.1.4
		s := streamOf(t, frame)
		return s.checkZstd(0, s.bytes, holds)
	}
	if err := check(600); err != nil {
		t.Error(err)
	}
	loadtest.Refused(t, check(512), "are no whole Zstandard frame of 512", "damaged")
	loadtest.Refused(t, check(601), "are no whole Zstandard frame of 601", "damaged")
}

// TestLZ4IsOneFrameOfWhatItsBufferSays leaves out the size of the content, as Arrow's libraries do.
func TestLZ4IsOneFrameOfWhatItsBufferSays(t *testing.T) {
	var b bytes.Buffer
	w := lz4.NewWriter(&b)
	if _, err := w.Write(bytes.Repeat([]byte("0123456789"), 60)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	check := func(frames []byte, holds int64) error {
		s := streamOf(t, frames)
		return s.checkLZ4(0, s.bytes, holds)
	}
	if err := check(b.Bytes(), 600); err != nil {
		t.Error(err)
	}
	loadtest.Refused(t, check(b.Bytes(), 512), "are no whole LZ4 frame of 512", "damaged")
	loadtest.Refused(t, check(b.Bytes(), 601), "are no whole LZ4 frame of 601", "damaged")
	loadtest.Refused(t, check(bytes.Repeat(b.Bytes(), 2), 600), "are no whole LZ4 frame of 600", "damaged")
}

// TestCompressedBuffersAreAsLongAsTheirRows says of each compressed buffer of a stream that it holds 8 bytes less.
func TestCompressedBuffersAreAsLongAsTheirRows(t *testing.T) {
	_, good := arrowFileBytes(t, ipc.WithZstd())
	for at, shortened := 0, 0; ; {
		next := bytes.Index(good[at:], []byte{0x28, 0xb5, 0x2f, 0xfd})
		if next < 0 {
			if shortened < 4 {
				t.Errorf("%d buffers were compressed", shortened)
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
		if _, _, err := inProcess(t, o); err == nil {
			t.Errorf("a buffer of %d bytes that should have %d is taken", n-8, n)
		} else {
			loadtest.Refused(t, err, "x.arrows", "damaged")
		}
	}
}

// TestNothingMayBeCompressedToNoFrame says of the bytes of words that are empty what Java's library does: that they are none, and nothing behind it.
func TestNothingMayBeCompressedToNoFrame(t *testing.T) {
	words := array.NewStringBuilder(memory.DefaultAllocator)
	words.AppendValues([]string{"", ""}, nil)
	column := words.NewArray()
	fields := []arrow.Field{{Name: "a", Type: arrow.BinaryTypes.String}, {Name: "b", Type: arrow.BinaryTypes.String}}
	record := array.NewRecord(arrow.NewSchema(fields, nil), []arrow.Array{column, column}, 2)
	for magic, codec := range map[string]ipc.Option{"\x28\xb5\x2f\xfd": ipc.WithZstd(), "\x04\x22\x4d\x18": ipc.WithLZ4()} {
		var b bytes.Buffer
		w := ipc.NewWriter(&b, ipc.WithSchema(record.Schema()), codec)
		if err := errors.Join(w.Write(record), w.Close()); err != nil {
			t.Fatal(err)
		}
		body := b.Bytes()[bytes.Index(b.Bytes(), []byte(magic))-8:]
		frame := uint64(bytes.Index(body[9:], []byte(magic)) + 1) // of the offsets of a; Go's library leaves out what is empty
		zeros := uint64(8)
		for !bytes.HasPrefix(body[zeros:], make([]byte, 8)) {
			zeros += 8
		}
		buffer := func(at, length uint64) []byte {
			return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, at), length)
		}
		empty := buffer(frame, 0)
		if bytes.Count(b.Bytes(), empty) != 2 { // the words of a, and what is missing in b
			t.Fatalf("%x has no empty buffer at %d", b.Bytes(), frame)
		}
		stream := bytes.Replace(b.Bytes(), empty, buffer(zeros, 8), 1)
		if l := mustLoad(t, Options{Sources: []string{loadtest.File(t, "x.arrows", string(stream))}}); l.Manifest.Vocab["a"].Count != 1 {
			t.Error(l.Manifest.Vocab)
		}
	}
}
