package files

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/tensorcache/tensorcache/internal/fault"
	"github.com/tensorcache/tensorcache/internal/ingest/charset"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
)

// Limits of a compressed file. Tables of numbers compress to 1/2 to 1/10 of their size, tables
// that repeat one line to 1/100 to 1/1000. A small file may have such a ratio; a large file with
// such a ratio is refused as a decompression bomb.
const (
	FreeBytes  = 1 << 30   // decompressed bytes that every file may have
	MaxRatio   = 200       // largest ratio of decompressed to compressed bytes beyond FreeBytes
	zstdWindow = 128 << 20 // bytes; largest window of a zstd frame
)

// Decompression contains the directory and the limits for decompressed files.
type Decompression struct {
	// Dir is the job's directory, where the decompressed files are created.
	Dir string
	// Free and Ratio limit the decompressed size of a file. It is at most the larger of Free bytes
	// and Ratio times the compressed size.
	Free, Ratio int64
	// OnRead is called with the number of compressed bytes read since the last call. It may be nil.
	OnRead func(int64)
}

// codecs lists the supported compressions of files. begins reports whether the first bytes of a file
// are those of the compression.
var codecs = []struct {
	name, suffix string
	begins       func(head []byte) bool
	open         func(io.Reader) (io.ReadCloser, error)
}{
	{"gzip", ".gz", func(head []byte) bool {
		return bytes.HasPrefix(head, []byte(gzipMagic))
	}, openGzip},
	{"zstd", ".zst", beginsZstd, func(r io.Reader) (io.ReadCloser, error) {
		d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderMaxWindow(zstdWindow))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	}},
}

// beginsZstd reports whether a file begins with a frame of zstd, or with one that decoders skip, as
// those of pzstd do (RFC 8878, section 3.1.2).
func beginsZstd(head []byte) bool {
	return bytes.HasPrefix(head, []byte("\x28\xb5\x2f\xfd")) ||
		len(head) >= 4 && head[0]&^0xf == 0x50 && string(head[1:4]) == "\x2a\x4d\x18"
}

// Decompress decompresses a file. head is the first bytes of f. plain is an open file without a
// name in the job's directory, which the caller closes. name is path without the suffix of the
// compression. ok is false if the file is not compressed.
func Decompress(
	path string, f *File, head []byte, u Decompression,
) (plain *File, name string, ok bool, err error) {
	for _, c := range codecs {
		if !c.begins(head) {
			continue
		}
		to, err := u.create()
		if err != nil {
			return nil, "", true, err
		}
		if err := decompress(path, f, to, c.name, c.open, u); err != nil {
			to.Close()
			return nil, "", true, err
		}
		name := path
		if ext := filepath.Ext(path); strings.EqualFold(ext, c.suffix) {
			name = strings.TrimSuffix(path, ext)
		}
		return NewFile(to), name, true, nil
	}
	return nil, "", false, nil
}

// Decode decodes a text file into a temporary one, as [Decompress] decompresses it. path names f in
// messages. found states that the encoding was found: then the error may be [charset.ErrNotFound]. The
// caller closes the result.
func Decode(path string, f *File, e charset.Encoding, found bool, u Decompression) (*File, error) {
	decode := e.Decode
	if found {
		decode = e.DecodeFound
	}
	return Rewrite(path, f, "decode", u, func(r io.Reader, write func([]byte) error) error {
		return decode(path, r, write)
	})
}

// Rewrite writes the output of edit to a temporary file, which the caller closes. Messages name path
// and what, the action. An error of edit is returned as it is if it is [charset.ErrNotFound].
func Rewrite(path string, f *File, what string, u Decompression,
	edit func(r io.Reader, write func([]byte) error) error) (*File, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, AsSourceError(path, err)
	}
	to, err := u.create()
	if err != nil {
		return nil, err
	}
	total := int64(0)
	err = edit(io.NewSectionReader(f, 0, st.Size()), func(b []byte) error {
		total += int64(len(b))
		return u.write(to, b, total, what+" "+path)
	})
	if err != nil {
		to.Close()
		if errors.Is(err, charset.ErrNotFound) {
			return nil, err
		}
		return nil, AsSourceError(path, err)
	}
	return NewFile(to), nil
}

// create creates a file without a name.
func (u Decompression) create() (*os.File, error) {
	to, err := os.CreateTemp(u.Dir, "unpacked")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(to.Name()); err != nil {
		return nil, errors.Join(err, to.Close())
	}
	return to, nil
}

// write writes bytes to a file that has total bytes with them. what is done, for messages.
func (u Decompression) write(to *os.File, b []byte, total int64, what string) error {
	err := fault.At("ingest.unpack")
	if err == nil {
		_, err = to.Write(b)
	}
	if IsFull(err) {
		return &loaderr.NoSpaceError{
			Dir: u.Dir, Need: total, Have: max(0, FreeSpace(u.Dir)),
			Text: what + ": " + err.Error(),
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// decompress writes the decompressed bytes of f to plain, up to the limits of u.
func decompress(
	path string, f *File, plain *os.File, codec string, open func(io.Reader) (io.ReadCloser, error),
	u Decompression,
) error {
	st, err := f.Stat()
	if err != nil {
		return AsSourceError(path, err)
	}
	damaged := func(err error) error {
		e := &loaderr.SourceError{
			Path: path, Reason: fmt.Sprintf("cannot be decompressed as %s: %v", codec, err),
			Hint: loaderr.HintDamaged,
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			e.Reason = fmt.Sprintf("is cut off: its %s data does not end", codec)
		}
		if errors.Is(err, errTrailingBytes) {
			e.Reason, e.Hint = err.Error(),
				"decompress it first with gunzip, which leaves them out, if the rest is sound"
		}
		if errors.Is(err, zstd.ErrWindowSizeExceeded) {
			e.Reason, e.Hint = fmt.Sprintf("needs a %s window beyond %d MiB", codec,
				zstdWindow>>20),
				"compress it with a smaller window, or decompress it first"
		}
		return e
	}
	r, err := open(&countingReader{io.NewSectionReader(f, 0, st.Size()), u.OnRead})
	if err != nil {
		return damaged(err)
	}
	defer r.Close()
	maxBytes := max(u.Free, u.Ratio*st.Size())
	buf := make([]byte, BlockBytes)
	for total := int64(0); ; {
		n, err := r.Read(buf)
		if total += int64(n); total > maxBytes {
			return &loaderr.SourceError{
				Path: path,
				Reason: fmt.Sprintf("holds more than %d times its size of %d bytes",
					total/st.Size(), st.Size()),
				Hint: "decompress it first if it is sound",
			}
		}
		if err := u.write(plain, buf[:n], total, "decompress "+path); err != nil {
			return err
		}
		switch {
		case err == io.EOF && total == 0:
			return &loaderr.SourceError{Path: path, Reason: "holds nothing when it is decompressed"}
		case err == io.EOF:
			return nil
		case err != nil:
			return damaged(err)
		}
	}
}

// countingReader reports the number of bytes of each read.
type countingReader struct {
	io.Reader
	report func(int64) // may be nil
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if c.report != nil {
		c.report(int64(n))
	}
	return n, err
}

// IsCompressed reports whether the first bytes of a file are those of a compression.
func IsCompressed(head []byte) bool {
	for _, c := range codecs {
		if c.begins(head) {
			return true
		}
	}
	return false
}

// Compressed reports whether a file name has the suffix of a compression.
func Compressed(path string) bool {
	for _, c := range codecs {
		if strings.HasSuffix(strings.ToLower(path), c.suffix) {
			return true
		}
	}
	return false
}
