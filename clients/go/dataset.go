package tensorcache

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/tensorcache/tensorcache/internal/mmapfile"
	"github.com/tensorcache/tensorcache/internal/near"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
)

// Dataset is one generation of a dataset, mapped read-only: every process that opens it shares the
// same pages. It stays on the generation that it opened, and keeps that in the cache until Close.
// It is safe for concurrent use.
type Dataset struct {
	cache      *Cache
	name       string
	generation int64
	data       *layout.Data
	close      func() error

	offsets []int64 // each item's first row, and the number of rows at the end

	mu     sync.Mutex
	closed bool
	feeds  int // that read the maps here: after Close the last of them unmaps
}

// Dataset opens the newest generation of a dataset. The error is of type DatasetNotFound where
// there is none of the name; the message lists near names.
func (c *Cache) Dataset(ctx context.Context, name string) (*Dataset, error) {
	return c.Generation(ctx, name, 0)
}

// Generation opens one load of a dataset, numbered from 1; 0 is the newest. The error is of type
// GenerationGone where it has left the cache.
func (c *Cache) Generation(ctx context.Context, name string, generation int64) (*Dataset, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	var said wire.OpenReply
	lease, files,
		err := c.ask(ctx, wire.OpenRequest{RequestHeader: hello("open"), Dataset: name,
		Generation: generation}, &said)
	if err != nil {
		return nil, err
	}
	d := &Dataset{cache: c, name: said.Dataset, generation: said.Generation}
	if d.data, err = mapAll(said, files); err == nil {
		d.offsets, err = d.data.ItemOffsets()
	}
	d.close = sync.OnceValue(func() error {
		d.mu.Lock()
		d.closed = true
		read := d.feeds > 0
		d.mu.Unlock()
		err := lease.Close()
		if d.data != nil && !read {
			err = errors.Join(err, d.data.Close())
		}
		return err
	})
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// mapAll maps the files of a reply and closes them.
func mapAll(said wire.OpenReply, files []*os.File) (*layout.Data, error) {
	maps := make([]*mmapfile.Map, 0, len(files))
	for i, f := range files {
		m, err := mmapfile.New(f)
		if err != nil {
			closeAll(files[i+1:])
			for _, m := range maps {
				err = errors.Join(err, m.Close())
			}
			return nil, err
		}
		maps = append(maps, m)
	}
	return layout.OpenMapped(fmt.Sprintf("dataset %q", said.Dataset), said.Manifest,
		said.Files, maps)
}

// Close gives the generation back, which may then leave the cache, and unmaps it: slices that
// [Column] and [View] gave end here. Feeds of it go on. Calling it again does nothing.
func (d *Dataset) Close() error { return d.close() }

// Name is the dataset's name.
func (d *Dataset) Name() string { return d.name }

// Generation says which load of the dataset it is, from 1.
func (d *Dataset) Generation() int64 { return d.generation }

// Digest is 32 hex digits that stand for the content.
func (d *Dataset) Digest() string { return d.data.Manifest.Digest }

// Rows is the number of rows.
func (d *Dataset) Rows() int64 { return d.data.Manifest.Rows }

// Manifest is what docs/FORMAT.md describes: columns with their dtypes, shapes and scalings, the
// recipe, the sources. It is not to be changed.
func (d *Dataset) Manifest() *layout.Manifest { return d.data.Manifest }

// Columns are the names of all columns, in order.
func (d *Dataset) Columns() []string {
	names := make([]string, len(d.data.Manifest.Columns))
	for i, c := range d.data.Manifest.Columns {
		names[i] = c.Name
	}
	return names
}

// acquire keeps the maps until release, for which Close waits.
func (d *Dataset) acquire() (release func(), err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, d.errClosed()
	}
	return d.data.Acquire()
}

// retain keeps the maps until release, for which Close does not wait: the program that closes a
// dataset may be the one that has to close the feed.
func (d *Dataset) retain() (release func(), err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, d.errClosed()
	}
	d.feeds++
	return sync.OnceFunc(func() {
		d.mu.Lock()
		d.feeds--
		unmap := d.closed && d.feeds == 0
		d.mu.Unlock()
		if unmap {
			_ = d.data.Close()
		}
	}), nil
}

func (d *Dataset) errClosed() error {
	return fmt.Errorf("this handle of dataset %q is %w", d.name, ErrClosed)
}

// column finds a column; the error is of type ColumnNotFound and lists near names.
func (d *Dataset) column(name string) (*layout.ManifestColumn, error) {
	c, err := d.data.Manifest.Column(name)
	if err == nil {
		return c, nil
	}
	e := refuse(ColumnNotFound, name, "no column of dataset %q is named %q", d.name, name)
	if like := near.Names(name, d.Columns()); len(like) > 0 {
		e.Detail += "; near: " + strings.Join(like, ", ")
	} else {
		names := d.Columns()
		e.Hint = "its columns: " + strings.Join(names[:min(len(names), 20)], ", ")
	}
	return nil, e
}

// Word is the text that a code of a text column stands for.
func (d *Dataset) Word(column string, code int32) (string, error) {
	release, err := d.acquire()
	if err != nil {
		return "", err
	}
	defer release()
	c, err := d.column(column)
	if err != nil {
		return "", err
	}
	if words, ok := d.data.Manifest.Vocab[column]; !ok {
		return "", refuse(InvalidSpec, column, "column %q is %s, only text columns have words",
			column, c.DType)
	} else if code < 0 || int64(code) >= words.Count {
		return "", refuse(InvalidSpec, column, "column %q has words 0 to %d, got %d", column,
			words.Count-1, code)
	}
	return d.data.Word(column, int64(code))
}

var _ io.Closer = (*Dataset)(nil)

// columnOf finds the column of a feature: that of its name, or of shape [rows, n] and the name
// before the bracket.
func (d *Dataset) columnOf(feature string) (*layout.ManifestColumn, error) {
	columns := d.data.Manifest.Columns
	for i := range columns {
		if c := &columns[i]; c.Width() == 0 && c.Name == feature || c.Width() > 0 &&
			c.Name+"[0]" == feature {
			return c, nil
		}
	}
	return nil, fmt.Errorf("%w: the daemon names a feature %q", ErrProtocol, feature)
}
