package arrow

import (
	"bytes"
	"encoding/binary"
	"os"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
)

func TestBuffersThatAreTooShortAreFound(t *testing.T) {
	bytesOf := func(n int) *memory.Buffer { return memory.NewBufferBytes(make([]byte, n, 128)) }
	floats := func(n, offset int, bits *memory.Buffer, values int) *array.Data {
		return array.NewData(arrow.PrimitiveTypes.Float64, n,
			[]*memory.Buffer{bits, bytesOf(values)}, nil, 0, offset)
	}
	texts := array.NewData(arrow.BinaryTypes.String, 2,
		[]*memory.Buffer{nil, bytesOf(12), bytesOf(0)}, nil, 0, 0)
	for name, c := range map[string]struct {
		data       arrow.ArrayData
		have, need int64
	}{
		"none":              {floats(0, 0, nil, 0), 0, 0},
		"values":            {floats(4, 0, nil, 32), 0, 0},
		"values of a slice": {floats(3, 1, nil, 31), 31, 32},
		"bits":              {floats(9, 0, bytesOf(1), 72), 1, 2},
		"values of lists": {array.NewData(
			arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float64), 2, []*memory.Buffer{nil},
			[]arrow.ArrayData{floats(4, 0, nil, 24)}, 0, 0), 24, 32},
		"booleans": {array.NewData(arrow.FixedWidthTypes.Boolean, 17,
			[]*memory.Buffer{nil, bytesOf(2)}, nil, 0, 0), 2, 3},
		"no values": {array.NewData(arrow.PrimitiveTypes.Int8, 3,
			[]*memory.Buffer{nil, nil}, nil, 0, 0), 0, 3},
		"codes": {dictionaryOf(bytesOf(3), texts), 3, 4},
		"words": {dictionaryOf(bytesOf(4), array.NewData(arrow.BinaryTypes.String, 2,
			[]*memory.Buffer{nil, bytesOf(7), nil}, nil, 0, 0)), 7, 8},
		"codes and words": {dictionaryOf(bytesOf(4), texts), 0, 0},
		"type null": {array.NewData(arrow.Null, 3, []*memory.Buffer{nil}, nil,
			3, 0), 0, 0},
	} {
		if have, need := shortBuffer(c.data); have != c.have || need != c.need {
			t.Errorf("%s: %d of %d bytes, want %d of %d", name, have, need, c.have, c.need)
		}
	}
}

func dictionaryOf(codes *memory.Buffer, words *array.Data) arrow.ArrayData {
	kind := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16,
		ValueType: arrow.BinaryTypes.String}
	return array.NewDataWithDictionary(kind, 2, []*memory.Buffer{nil, codes}, 0, 0, words)
}

func TestZonesThatAreNotUTF8AreRefused(t *testing.T) {
	_, err := columnOf(&arrow.TimestampType{TimeZone: "Eur\x95pe"})
	if err == nil || err.Error() != `has a time zone "Eur\x95pe", which is not UTF-8` {
		t.Error(err)
	}
}

// frameOf returns a compressed frame of n bytes in several blocks.
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
		if err := w.Apply(lz4.BlockSizeOption(lz4.Block64Kb),
			lz4.SizeOption(uint64(n))); err != nil {
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

// streamOf returns a stream of the bytes b.
func streamOf(t *testing.T, b []byte) *streamReader {
	t.Helper()
	f, err := os.Open(loadtest.File(t, "frame", string(b)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return &streamReader{file: files.NewFile(f), bytes: int64(len(b))}
}

func TestIncompleteFramesAreRefused(t *testing.T) {
	const n = 300_000
	for _, codec := range []string{"zstd", "lz4"} {
		frame := frameOf(t, codec, n)
		check := func(frame []byte, contentSize int64) error {
			s := streamOf(t, frame)
			if codec == "lz4" {
				return s.checkLZ4(0, s.bytes, contentSize)
			}
			return s.checkZstd(0, s.bytes, contentSize)
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
			last[len(last)-5] = 0x80 // the end mark becomes an empty uncompressed block
			loadtest.Refused(t, check(last, n), "that are no whole", "damaged")
		}
		other := bytes.Clone(frame)
		other[0]++
		loadtest.Refused(t, check(other, n), "that are no whole", "damaged")
	}
}

// TestAFrameLongerThanItsDeclaredSizeIsRefused writes a smaller size into the header of a frame.
// The first bytes can still be decompressed.
func TestAFrameLongerThanItsDeclaredSizeIsRefused(t *testing.T) {
	w, err := zstd.NewWriter(nil, zstd.WithSingleSegment(true), zstd.WithEncoderCRC(false))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	frame := w.EncodeAll(bytes.Repeat([]byte("0123456789"), 60), nil)
	check := func(contentSize int64) error {
		// RFC 8878, section 3.1.1.1.4
		binary.LittleEndian.PutUint16(frame[5:], uint16(contentSize-256))
		s := streamOf(t, frame)
		return s.checkZstd(0, s.bytes, contentSize)
	}
	if err := check(600); err != nil {
		t.Error(err)
	}
	loadtest.Refused(t, check(512), "are no whole Zstandard frame of 512", "damaged")
	loadtest.Refused(t, check(601), "are no whole Zstandard frame of 601", "damaged")
}

// TestLZ4IsOneFrameOfTheDeclaredSize omits the content size from the frame, as Arrow's libraries
// do.
func TestLZ4IsOneFrameOfTheDeclaredSize(t *testing.T) {
	var b bytes.Buffer
	w := lz4.NewWriter(&b)
	if _, err := w.Write(bytes.Repeat([]byte("0123456789"), 60)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	check := func(frames []byte, contentSize int64) error {
		s := streamOf(t, frames)
		return s.checkLZ4(0, s.bytes, contentSize)
	}
	if err := check(b.Bytes(), 600); err != nil {
		t.Error(err)
	}
	loadtest.Refused(t, check(b.Bytes(), 512), "are no whole LZ4 frame of 512", "damaged")
	loadtest.Refused(t, check(b.Bytes(), 601), "are no whole LZ4 frame of 601", "damaged")
	loadtest.Refused(t, check(bytes.Repeat(b.Bytes(), 2), 600),
		"are no whole LZ4 frame of 600", "damaged")
}
