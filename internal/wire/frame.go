package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Kinds of frames on feed.sock. The client sends those below 100, the daemon the others.
const (
	FrameRequest uint32 = 1
	FrameCredit  uint32 = 2
	FrameSeek    uint32 = 3
	FrameDone    uint32 = 4
	FrameMeter   uint32 = 5
	FrameWait    uint32 = 6
	FrameReply   uint32 = 101
	FrameBatches uint32 = 102
	FrameError   uint32 = 103
)

// Sizes on feed.sock, in bytes.
const (
	HeaderSize     = 8
	DescriptorSize = 40
	SeekSize       = 24
	MeterSize      = 16
	WaitSize       = 8
	MaxRequest     = 16 << 20 // also the largest body on control.sock
	MaxFrame       = 1 << 16  // the largest payload that a client sends after its request
)

// ErrFrame is returned for a frame that the protocol does not allow.
var ErrFrame = errors.New("protocol error")

// PutHeader writes a frame's header into b.
func PutHeader(b []byte, kind uint32, length int) {
	binary.LittleEndian.PutUint32(b, uint32(length))
	binary.LittleEndian.PutUint32(b[4:], kind)
}

// ParseHeader parses a frame's header.
func ParseHeader(b []byte) (kind, length uint32) {
	return binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint32(b)
}

// ReadHeader reads a frame's header. It refuses a length above limit with ErrFrame.
func ReadHeader(r io.Reader, scratch []byte, limit uint32) (kind, length uint32, err error) {
	if _, err := io.ReadFull(r, scratch[:HeaderSize]); err != nil {
		return 0, 0, err
	}
	kind, length = ParseHeader(scratch)
	if length > limit {
		return 0, 0, fmt.Errorf("%w: a frame of kind %d says %d bytes, at most %d", ErrFrame, kind,
			length, limit)
	}
	return kind, length, nil
}

// Descriptor announces a batch in the ring.
type Descriptor struct {
	Slot, Rows, Stream, Flags uint32
	Epoch                     uint64
	Consumed                  int64
	// Row is the row in the dataset at which the first window of a batch with FlagRun starts, else
	// 0.
	Row int64
}

// FlagLast marks the last batch of a rank's epoch. FlagRun, in a feed of views, marks a batch whose
// windows are consecutive in one item: the daemon writes only the place of the first one. NoSlot is
// the slot of a descriptor without a batch.
const (
	FlagLast uint32 = 1
	FlagRun  uint32 = 2
	NoSlot   uint32 = 0xFFFFFFFF
)

// Append appends the descriptor's bytes to b.
func (d Descriptor) Append(b []byte) []byte {
	for _, v := range [...]uint32{d.Slot, d.Rows, d.Stream, d.Flags} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	b = binary.LittleEndian.AppendUint64(b, d.Epoch)
	b = binary.LittleEndian.AppendUint64(b, uint64(d.Consumed))
	return binary.LittleEndian.AppendUint64(b, uint64(d.Row))
}

// ParseDescriptor parses the bytes that Append writes.
func ParseDescriptor(b []byte) Descriptor {
	u, v := binary.LittleEndian.Uint32, binary.LittleEndian.Uint64
	return Descriptor{u(b), u(b[4:]), u(b[8:]), u(b[12:]), v(b[16:]), int64(v(b[24:])),
		int64(v(b[32:]))}
}

// Seek asks a feed to continue at another cursor.
type Seek struct {
	Stream   uint32
	Epoch    uint64
	Consumed int64
}

// Append appends the seek's bytes to b.
func (s Seek) Append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(s.Stream))
	b = binary.LittleEndian.AppendUint64(b, s.Epoch)
	return binary.LittleEndian.AppendUint64(b, uint64(s.Consumed))
}

// ParseSeek parses the bytes that Append writes. Else the error is ErrFrame.
func ParseSeek(b []byte) (Seek, error) {
	if len(b) != SeekSize {
		return Seek{}, fmt.Errorf("%w: a seek of %d bytes, want %d", ErrFrame, len(b), SeekSize)
	}
	u := binary.LittleEndian.Uint64
	if u(b)>>32 != 0 || int64(u(b[16:])) < 0 {
		return Seek{}, fmt.Errorf("%w: a seek to stream %d, consumed %d", ErrFrame, u(b),
			int64(u(b[16:])))
	}
	return Seek{uint32(u(b)), u(b[8:]), int64(u(b[16:]))}, nil
}
