// Package arrowfile writes Arrow IPC files of one record batch and returns the offsets of their
// buffers.
//
// [Create] leaves holes in the file where values will be written later. All buffers begin at
// multiples of [Alignment], so that a mapping of the file has aligned values. Only package layout
// uses it, for the files of a generation; internal/ingest/source/arrow reads Arrow sources.
//
// # Caveats
//
// A file that is read may be damaged in any way. [Buffers] and [FieldBuffers] return an error that
// wraps [ErrTorn], or the error of reading the file, and never panic.
package arrowfile

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unsafe"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"

	"github.com/tensorcache/tensorcache/internal/fault"
)

// Alignment is the alignment of every buffer in the file, in bytes.
const Alignment = 64

// metaPad is the key of a schema metadata entry. Its length is chosen so that the first buffer is
// aligned.
const metaPad = "tensorcache.pad"

// holeWriter writes a file, but seeks over bytes that are in the placeholder. The values of columns
// become holes in the file, which are filled later.
type holeWriter struct {
	*os.File
	placeholder []byte
}

func (h holeWriter) Write(p []byte) (int, error) {
	if !h.isHole(p) {
		return h.File.Write(p)
	}
	if _, err := h.Seek(int64(len(p)), io.SeekCurrent); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (h holeWriter) isHole(p []byte) bool {
	if len(p) == 0 || len(h.placeholder) == 0 {
		return false
	}
	start := uintptr(unsafe.Pointer(unsafe.SliceData(h.placeholder)))
	at := uintptr(unsafe.Pointer(unsafe.SliceData(p)))
	return at >= start && at < start+uintptr(len(h.placeholder))
}

// Create writes one record batch as an Arrow IPC file. Its first buffer is aligned, and all other
// buffers are too if the lengths of all buffers are multiples of Alignment. Arrow v15 aligns
// messages and buffers to 8 bytes only, so Create pads the schema metadata. Values inside
// placeholder become holes.
func Create(path string, fields []arrow.Field, columns []arrow.Array, rows int64,
	placeholder []byte) (*os.File, error) {
	if err := fault.At("create"); err != nil {
		return nil, fmt.Errorf("create %s: %w", path, err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	for pad := 0; ; {
		if err = writeBatch(holeWriter{f, placeholder}, fields, columns, rows, pad); err != nil {
			break
		}
		var spans []Span
		if spans, err = FileBuffers(f); err != nil {
			break
		}
		shift := firstBuffer(spans) % Alignment
		if shift == 0 {
			return f, nil
		}
		pad += int(Alignment - shift)
		if err = f.Truncate(0); err != nil {
			break
		}
		if _, err = f.Seek(0, io.SeekStart); err != nil {
			break
		}
	}
	f.Close()
	return nil, fmt.Errorf("write %s: %w", path, err)
}

func writeBatch(w holeWriter, fields []arrow.Field, columns []arrow.Array, rows int64,
	pad int) error {
	if err := fault.At("write"); err != nil {
		return err
	}
	meta := arrow.NewMetadata([]string{metaPad}, []string{strings.Repeat(" ", pad)})
	schema := arrow.NewSchema(fields, &meta)
	out, err := ipc.NewFileWriter(w, ipc.WithSchema(schema))
	if err != nil {
		return err
	}
	batch := array.NewRecord(schema, columns, rows)
	defer batch.Release()
	if err := out.Write(batch); err != nil {
		return err
	}
	return out.Close()
}

// Align rounds n up to a multiple of Alignment.
func Align(n int64) int64 { return (n + Alignment - 1) / Alignment * Alignment }
