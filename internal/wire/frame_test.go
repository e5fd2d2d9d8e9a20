package wire

import (
	"bytes"
	"errors"
	"io"
	"math"
	"testing"
)

func TestFramesRoundTrip(t *testing.T) {
	d := Descriptor{Slot: 3, Rows: 32, Stream: math.MaxUint32, Flags: FlagLast,
		Epoch: math.MaxUint64, Consumed: 640}
	if b := d.Append(nil); len(b) != DescriptorSize || ParseDescriptor(b) != d {
		t.Errorf("%+v became %x", d, b)
	}
	s := Seek{Stream: 7, Epoch: 1 << 63, Consumed: math.MaxInt64}
	if got, err := ParseSeek(s.Append(nil)); err != nil || got != s {
		t.Errorf("%+v became %+v, %v", s, got, err)
	}
	var header [HeaderSize]byte
	PutHeader(header[:], FrameBatches, 1<<20)
	if kind, length, err := ReadHeader(bytes.NewReader(header[:]), make([]byte, HeaderSize),
		1<<20); err != nil || kind != FrameBatches || length != 1<<20 {
		t.Errorf("kind %d, length %d, %v", kind, length, err)
	}
}

// TestFrameBytesEqualThoseOfTheProtocol compares frames with the bytes in docs/PROTOCOL.md, because
// clients in other languages rely on that page.
func TestFrameBytesEqualThoseOfTheProtocol(t *testing.T) {
	want := []byte{2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0,
		0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0}
	if got := (Descriptor{2, 3, 4, 1, 5, 256, 9}).Append(nil); !bytes.Equal(got, want) {
		t.Errorf("descriptor %v, want %v", got, want)
	}
	want = []byte{6, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0}
	if got := (Seek{6, 7, 8}).Append(nil); !bytes.Equal(got, want) {
		t.Errorf("seek %v, want %v", got, want)
	}
}

func TestInvalidFramesAreRefused(t *testing.T) {
	var header [HeaderSize]byte
	PutHeader(header[:], FrameCredit, 101)
	if _, _, err := ReadHeader(bytes.NewReader(header[:]), make([]byte, HeaderSize),
		100); !errors.Is(err, ErrFrame) {
		t.Errorf("got %v, want ErrFrame", err)
	}
	if _, _, err := ReadHeader(bytes.NewReader(header[:5]), make([]byte, HeaderSize),
		100); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v, want ErrUnexpectedEOF", err)
	}
	for _, b := range [][]byte{nil, make([]byte, 23), make([]byte, 25),
		Seek{Consumed: -1}.Append(nil), bytes.Repeat([]byte{1}, SeekSize)} {
		if s, err := ParseSeek(b); !errors.Is(err, ErrFrame) {
			t.Errorf("%x became %+v, %v, want ErrFrame", b, s, err)
		}
	}
}
