package layout

import (
	"fmt"
	"io"
	"os"

	"github.com/cespare/xxhash/v2"

	"github.com/tensorcache/tensorcache/internal/arrowfile"
)

// Checksums are xxHash64. The files of a generation have them as follows:
//
//   - a column: of its values in row order, by accumulator.go during the writes, and by check.go;
//   - items and vocabularies: hashBuffers, because an Arrow file has padding between its buffers;
//   - the rest of an Arrow file: hashFrame;
//   - the file of missing cells: hashWhole;
//   - the manifest itself: manifest_checksum.go.

// formatHash returns a checksum as manifests write it.
func formatHash(sum uint64) string { return fmt.Sprintf("%016x", sum) }

// hashFrame returns the checksum of the bytes of an Arrow file before its first buffer and after
// its last one. They contain the schema and the offsets that other readers use.
func hashFrame(f *os.File) (string, error) {
	st, err := f.Stat()
	if err != nil {
		return "", err
	}
	spans, err := arrowfile.Buffers(f, st.Size())
	if err != nil {
		return "", err
	}
	first, end := st.Size(), int64(0)
	for _, s := range spans {
		if s.Bytes > 0 {
			first, end = min(first, s.Offset), max(end, s.Offset+s.Bytes)
		}
	}
	h := xxhash.New()
	if _, err = io.Copy(h, io.NewSectionReader(f, 0, first)); err == nil && first < st.Size() {
		_, err = io.Copy(h, io.NewSectionReader(f, end, st.Size()-end))
	}
	return formatHash(h.Sum64()), err
}

// hashBuffers returns the checksum of the buffers of an Arrow file's record batch, in their order.
func hashBuffers(f *os.File) (string, error) {
	spans, err := arrowfile.FileBuffers(f)
	if err != nil {
		return "", err
	}
	h := xxhash.New()
	for _, s := range spans {
		b := make([]byte, s.Bytes)
		if _, err := f.ReadAt(b, s.Offset); err != nil {
			return "", err
		}
		h.Write(b)
	}
	return formatHash(h.Sum64()), nil
}

// hashWhole returns the checksum of all bytes of a file.
func hashWhole(f *os.File) (string, error) {
	h := xxhash.New()
	st, err := f.Stat()
	if err == nil {
		_, err = io.Copy(h, io.NewSectionReader(f, 0, st.Size()))
	}
	return formatHash(h.Sum64()), err
}
