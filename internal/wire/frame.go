package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Protocol is the version of what passes over feed.sock and of daemon.json.
//
//	1  the first
const Protocol = 1

// Kinds of frames on feed.sock.
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

// Sizes of what passes over feed.sock, in bytes.
const (
	HeaderSize     = 8
	DescriptorSize = 40
	SeekSize       = 24
	MeterSize      = 16
	WaitSize       = 8
	MaxRequest     = 16 << 20 // and of a body over control.sock
	MaxFrame       = 1 << 16  // of what a client sends after its request
)

// ErrFrame is returned for a frame that the protocol does not allow.
var ErrFrame = errors.New("protocol error")

// PutHeader writes a frame's header into b.
func PutHeader(b []byte, kind uint32, length int) {
	binary.LittleEndian.PutUint32(b, uint32(length))
	binary.LittleEndian.PutUint32(b[4:], kind)
}

// ParseHeader reads what PutHeader wrote.
func ParseHeader(b []byte) (kind, length uint32) {
	return binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint32(b)
}

// ReadHeader reads a frame's header; a length over most is refused before anything is allocated.
func ReadHeader(r io.Reader, scratch []byte, most uint32) (kind, length uint32, err error) {
	if _, err := io.ReadFull(r, scratch[:HeaderSize]); err != nil {
		return 0, 0, err
	}
	kind, length = ParseHeader(scratch)
	if length > most {
		return 0, 0, fmt.Errorf("%w: a frame of kind %d says %d bytes, at most %d", ErrFrame, kind,
			length, most)
	}
	return kind, length, nil
}

// Descriptor announces a batch in the ring.
type Descriptor struct {
	Slot, Rows, Stream, Flags uint32
	Epoch                     uint64
	Consumed                  int64
	// of a batch with FlagRun: where in the dataset its first window starts
	Row int64
}

// FlagLast marks the last batch of a rank's epoch, FlagRun (in a feed of views) one whose windows
// follow each other in one item, so that only the first one's place is written; NoSlot is a
// descriptor without a batch.
const (
	FlagLast uint32 = 1
	FlagRun  uint32 = 2
	NoSlot   uint32 = 0xFFFFFFFF
)

// Append adds the descriptor's bytes.
func (d Descriptor) Append(b []byte) []byte {
	for _, v := range [...]uint32{d.Slot, d.Rows, d.Stream, d.Flags} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	b = binary.LittleEndian.AppendUint64(b, d.Epoch)
	b = binary.LittleEndian.AppendUint64(b, uint64(d.Consumed))
	return binary.LittleEndian.AppendUint64(b, uint64(d.Row))
}

// ParseDescriptor reads what Append wrote.
func ParseDescriptor(b []byte) Descriptor {
	u, v := binary.LittleEndian.Uint32, binary.LittleEndian.Uint64
	return Descriptor{u(b), u(b[4:]), u(b[8:]), u(b[12:]), v(b[16:]), int64(v(b[24:])),
		int64(v(b[32:]))}
}

// Seek asks a feed to go on elsewhere.
type Seek struct {
	Stream   uint32
	Epoch    uint64
	Consumed int64
}

// Append adds the seek's bytes.
func (s Seek) Append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(s.Stream))
	b = binary.LittleEndian.AppendUint64(b, s.Epoch)
	return binary.LittleEndian.AppendUint64(b, uint64(s.Consumed))
}

// ParseSeek reads what Append wrote.
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
