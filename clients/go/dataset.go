package tensorcache

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/tensorcache/tensorcache/internal/mmapfile"
	"github.com/tensorcache/tensorcache/internal/near"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
)

// Dataset is a handle of one generation of a dataset, mapped read-only. All processes that open a
// generation share its pages. The handle never changes to a newer generation, and keeps its own in
// the cache until Close. It is safe for concurrent use.
type Dataset struct {
	cache      *Cache
	name       string
	generation int64
	data       *layout.Data
	close      func() error

	offsets []int64 // each item's first row, then the number of rows

	mu     sync.Mutex
	closed bool
	feeds  int // feeds that read the maps; after Close the last of them unmaps
}

// Dataset opens the newest generation of a dataset. The error is of type DatasetNotFound if no
// dataset has the name; the message lists similar names.
func (c *Cache) Dataset(ctx context.Context, name string) (*Dataset, error) {
	return c.Generation(ctx, name, 0)
}

// Generation opens one generation of a dataset, numbered from 1; 0 is the newest. The error is of
// type GenerationGone if the generation is no longer in the cache.
func (c *Cache) Generation(ctx context.Context, name string, generation int64) (*Dataset, error) {
	return c.open(ctx, name, generation, "")
}

// GenerationOfDigest opens the newest generation of a dataset that has the digest, 32 hex digits. Equal
// content has the same digest on every machine; numbers of generations differ. The error is of type
// GenerationGone if no generation in the cache has it.
func (c *Cache) GenerationOfDigest(ctx context.Context, name, digest string) (*Dataset, error) {
	if err := wire.CheckDigest(digest); err != nil {
		return nil, &Error{Type: InvalidRequest, Detail: err.Error(), Field: "digest"}
	}
	return c.open(ctx, name, 0, digest)
}

func (c *Cache) open(ctx context.Context, name string, generation int64, digest string) (*Dataset, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	var reply wire.OpenReply
	lease, files,
		err := c.request(ctx, wire.OpenRequest{RequestHeader: requestHeader("open"), Dataset: name,
		Generation: generation, Digest: digest}, &reply)
	if err != nil {
		return nil, err
	}
	d := &Dataset{cache: c, name: reply.Dataset, generation: reply.Generation}
	if d.data, err = mapFiles(reply, files); err == nil {
		d.offsets, err = d.data.ItemOffsets()
	}
	d.close = sync.OnceValue(func() error {
		forgetOpen(d)
		d.mu.Lock()
		d.closed = true
		inUse := d.feeds > 0
		d.mu.Unlock()
		err := lease.Close()
		if d.data != nil && !inUse {
			err = errors.Join(err, d.data.Close())
		}
		return err
	})
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	rememberOpen(d)
	return d, nil
}

// mapFiles maps the files of a reply and closes their descriptors.
func mapFiles(reply wire.OpenReply, files []*os.File) (*layout.Data, error) {
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
	return layout.OpenMapped(fmt.Sprintf("dataset %q", reply.Dataset), reply.Manifest,
		reply.Files, maps)
}

// Close unmaps the dataset and lets the daemon remove the generation if it is an old one. The
// slices that [Column] and [View] returned become invalid. Feeds of the dataset stay valid. Calling
// it again does nothing.
func (d *Dataset) Close() error { return d.close() }

// Name returns the dataset's name.
func (d *Dataset) Name() string { return d.name }

// Generation returns the generation's number, from 1. Each load makes a new one.
func (d *Dataset) Generation() int64 { return d.generation }

// Digest returns 32 hex digits that identify the content.
func (d *Dataset) Digest() string { return d.data.Manifest.Digest }

// Rows returns the number of rows.
func (d *Dataset) Rows() int64 { return d.data.Manifest.Rows }

// Manifest returns the manifest that docs/FORMAT.md describes: columns with their dtypes, shapes
// and scalings, the steps of the load, its sources, and notes of what it assumed or left out. The
// caller must not change it.
func (d *Dataset) Manifest() *layout.Manifest { return d.data.Manifest }

// Columns returns the names of all columns, in order.
func (d *Dataset) Columns() []string {
	names := make([]string, len(d.data.Manifest.Columns))
	for i, c := range d.data.Manifest.Columns {
		names[i] = c.Name
	}
	return names
}

// acquire keeps the files mapped until release. Close waits for release.
func (d *Dataset) acquire() (release func(), err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, d.errClosed()
	}
	return d.data.Acquire()
}

// retain keeps the files mapped until release. Close does not wait for it, because the goroutine
// that closes the dataset may be the one that closes the feed later.
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

// column finds a column. The error is of type ColumnNotFound and lists similar names.
func (d *Dataset) column(name string) (*layout.ManifestColumn, error) {
	c, err := d.data.Manifest.Column(name)
	if err == nil {
		return c, nil
	}
	e := errorf(ColumnNotFound, name, "no column of dataset %q is named %q", d.name, name)
	if like := near.Names(name, d.Columns()); len(like) > 0 {
		e.Detail += "; near: " + near.List(like)
	} else {
		names := d.Columns()
		e.Hint = "its columns: " + near.List(names[:min(len(names), 20)])
	}
	return nil, e
}

// Word returns the text of a code of a text column. The error is of type ColumnNotFound, or
// InvalidSpec if the column has no such code.
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
		return "", errorf(InvalidSpec, column, "column %q is %s, only text columns have words",
			column, c.DType)
	} else if code < 0 || int64(code) >= words.Count {
		return "", errorf(InvalidSpec, column, "column %q has words 0 to %d, got %d", column,
			words.Count-1, code)
	}
	return d.data.Word(column, int64(code))
}

var _ io.Closer = (*Dataset)(nil)

// featureColumn finds the column whose only or first feature has the name. The features of a column
// x of shape [rows, n] are x[0] to x[n-1].
func (d *Dataset) featureColumn(feature string) (*layout.ManifestColumn, error) {
	columns := d.data.Manifest.Columns
	for i := range columns {
		if c := &columns[i]; c.Width() == 0 && c.Name == feature || c.Width() > 0 &&
			c.Name+"[0]" == feature {
			return c, nil
		}
	}
	return nil, fmt.Errorf("%w: the daemon names a feature %q", ErrProtocol, feature)
}
