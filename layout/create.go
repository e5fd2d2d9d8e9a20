package layout

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/tensorcache/tensorcache/internal/arrowfile"
	"github.com/tensorcache/tensorcache/internal/mmapfile"
)

// Writer writes a generation into a directory.
type Writer struct {
	dir          string
	table        Table
	fields       []field
	offsets      []int64        // of each column's first value
	strides      []int64        // bytes between rows, by column
	fieldNames   []string       // of the Arrow field of each column
	accumulators []*accumulator // by column; nil if Finish reads the column
	data         *mmapfile.Writable
	leaveMapped  bool // see LeaveMapped
}

// Create creates data.arrow in an existing directory. It writes all bytes except the values and
// reserves the space of the values. A disk without that space is an error here, which wraps ENOSPC,
// and not while values are written. The caller must call Finish or Abort.
func Create(dir string, t Table) (*Writer, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	w := &Writer{
		dir: dir, table: t, fields: t.fields(),
		offsets: make([]int64, len(t.Columns)), strides: make([]int64, len(t.Columns)),
		fieldNames:   make([]string, len(t.Columns)),
		accumulators: make([]*accumulator, len(t.Columns)),
	}
	names := map[string]bool{}
	for _, f := range w.fields {
		if names[f.name] {
			return nil, fmt.Errorf("%w: column %q has the name of a packed field",
				ErrSchema, f.name)
		}
		names[f.name] = true
	}
	f, size, err := w.createFile()
	if err != nil {
		return nil, err
	}
	if w.data, err = mmapfile.NewWritable(f, size); err != nil {
		return nil, err
	}
	return w, nil
}

// createFile creates the file, of size bytes, with holes for the values, and sets the offset of
// each column.
func (w *Writer) createFile() (out *os.File, size int64, err error) {
	var longest int64
	for _, f := range w.fields {
		longest = max(longest, arrowfile.Align(w.table.Rows*f.width*f.dtype.Size()))
	}
	ph, err := mmapfile.NewPlaceholder(longest)
	if err != nil {
		return nil, 0, err
	}
	defer ph.Close()
	fields := make([]arrow.Field, len(w.fields))
	bodies := make([]arrow.Array, len(w.fields))
	for i, f := range w.fields {
		fields[i], bodies[i] = f.arrow, placeholderArray(f, w.table.Rows, ph.Bytes())
	}
	path := filepath.Join(w.dir, DataFile)
	out, err = arrowfile.Create(path, fields, bodies, w.table.Rows, ph.Bytes())
	if err != nil {
		return nil, 0, err
	}
	st, err := out.Stat()
	if err == nil {
		var buffers map[string][]arrowfile.Span
		if buffers, err = arrowfile.FieldBuffers(out, st.Size()); err == nil {
			w.setOffsets(buffers)
		}
	}
	if err != nil {
		out.Close()
		return nil, 0, fmt.Errorf("lay out %s: %w", path, err)
	}
	return out, st.Size(), nil
}

// setOffsets sets each column's offset and stride from the buffers of the fields.
func (w *Writer) setOffsets(buffers map[string][]arrowfile.Span) {
	for _, f := range w.fields {
		at := buffers[f.name][0].Offset
		for _, c := range f.columns {
			w.offsets[c], w.strides[c], w.fieldNames[c] = at, f.width*f.dtype.Size(), f.name
			at += w.table.Columns[c].values() * f.dtype.Size()
		}
	}
}

// LeaveMapped makes Finish leave the file mapped until the process ends, which should be soon.
// Unmapping the pages that steps wrote takes a tenth of the time of a load, and the caller of the
// load would wait for it.
func (w *Writer) LeaveMapped() { w.leaveMapped = true }

// Abort ends the writer. The files stay in the directory, which the caller removes.
func (w *Writer) Abort() error {
	if w.data == nil {
		return nil
	}
	err := w.data.Close()
	w.data = nil
	return err
}

// errFinished is returned by methods that are called after Finish or Abort.
var errFinished = errors.New("generation is already finished or aborted")
