package arrow

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
)

// Arrow v15 stops reading a compressed frame after the bytes that it needs, so it accepts frames
// that are truncated or damaged after them. These checks read all blocks of a frame.

// checkLZ4 checks that length bytes of the messages are one complete frame of LZ4 with the given
// content size. The format is https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md.
func (s *streamReader) checkLZ4(at, length, contentSize int64) error {
	damaged := &loaderr.SourceError{
		Reason: fmt.Sprintf("has %d bytes that are no whole LZ4 frame of %d", length, contentSize),
		Hint:   loaderr.HintDamaged,
	}
	head := make([]byte, 6)
	if length < 7 {
		return damaged
	}
	if _, err := s.data().ReadAt(head, at); err != nil {
		return err
	}
	flags, descriptor := head[4], head[5]
	if binary.LittleEndian.Uint32(head) != 0x184d2204 || flags>>6 != 1 || descriptor&0x8f != 0 ||
		descriptor>>4 < 4 {
		return damaged
	}
	pos := int64(7) // magic, flags, maximum block size, header checksum
	if flags&8 != 0 {
		content := make([]byte, 8)
		if _, err := s.data().ReadAt(content, at+pos-1); err != nil ||
			int64(binary.LittleEndian.Uint64(content)) != contentSize {
			return damaged
		}
		pos += 8
	}
	if flags&1 != 0 {
		pos += 4 // dictionary id
	}
	size := head[:4]
	for {
		if pos > length-4 {
			return damaged
		}
		if _, err := s.data().ReadAt(size, at+pos); err != nil {
			return err
		}
		mark := binary.LittleEndian.Uint32(size)
		if pos += 4 + int64(mark&^(1<<31)); mark == 0 { // the top bit: block is not compressed
			break
		}
		if flags&16 != 0 {
			pos += 4 // block checksum
		}
	}
	if flags&4 != 0 {
		pos += 4 // content checksum
	}
	if pos != length { // bytes after it are refused too: Arrow C++ reads one frame
		return damaged
	}
	if s.lz4 == nil {
		s.lz4 = lz4.NewReader(nil)
	}
	s.lz4.Reset(s.section(at, length))
	return readToEnd(s.lz4, contentSize, damaged)
}

// checkZstd checks that length bytes of the messages are one complete frame of Zstandard (RFC 8878,
// section 3.1.1) with the given content size.
func (s *streamReader) checkZstd(at, length, contentSize int64) error {
	damaged := &loaderr.SourceError{
		Reason: fmt.Sprintf("has %d bytes that are no whole Zstandard frame of %d", length,
			contentSize),
		Hint: loaderr.HintDamaged,
	}
	if length < 5 { // the magic and one byte
		return damaged
	}
	head := make([]byte, min(length, zstd.HeaderMaxSize))
	if _, err := s.data().ReadAt(head, at); err != nil {
		return err
	}
	var h zstd.Header
	if h.Decode(head) != nil || h.Skippable || h.HasFCS &&
		h.FrameContentSize != uint64(contentSize) {
		return damaged
	}
	pos, last := int64(h.HeaderSize), false
	for !last {
		if pos > length-3 {
			return damaged
		}
		if _, err := s.data().ReadAt(head[:3], at+pos); err != nil {
			return err
		}
		block := int64(head[0]) | int64(head[1])<<8 | int64(head[2])<<16
		size := block >> 3
		if block>>1&3 == 1 { // an RLE block: one byte, repeated
			size = 1
		}
		pos, last = pos+3+size, block&1 == 1
	}
	if h.HasCheckSum {
		pos += 4
	}
	if pos != length {
		return damaged
	}
	if s.zstd == nil {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return err
		}
		s.zstd = d
	}
	if err := s.zstd.Reset(s.section(at, length)); err != nil {
		return err
	}
	return readToEnd(s.zstd, contentSize, damaged)
}

// section returns a reader of length bytes of the messages.
func (s *streamReader) section(at, length int64) io.Reader {
	return bufio.NewReader(io.NewSectionReader(messageReader{s}, at, length))
}

// readToEnd decompresses a whole frame and requires the content size. Only that finds a frame that
// holds more bytes than its buffer declares.
func readToEnd(frame io.Reader, contentSize int64, damaged error) error {
	if n, err := io.Copy(io.Discard, frame); err != nil || n != contentSize {
		return damaged
	}
	return nil
}
