package layout

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/tensorcache/tensorcache/internal/arrowfile"
	"github.com/tensorcache/tensorcache/internal/mmapfile"
)

// Data is a generation mapped read-only. It is immutable and safe for concurrent use.
type Data struct {
	Dir      string
	Manifest *Manifest
	data     *mmapfile.Map
	items    *mmapfile.Map
	vocab    map[string]*mmapfile.Map
	listMaps map[string]*mmapfile.Map // by file: see Manifest.lists
}

// Open maps the generation in the directory, without a copy. It first compares the manifest with
// the files. The error wraps ErrTorn if they disagree, and ErrFormat for another format version.
func Open(dir string) (*Data, error) {
	m, err := ReadManifest(dir)
	if err != nil {
		return nil, err
	}
	d := &Data{Dir: dir, Manifest: m, vocab: map[string]*mmapfile.Map{},
		listMaps: map[string]*mmapfile.Map{}}
	if err := d.open(
		func(name string) (*mmapfile.Map, error) { return openFile(dir, name, m) }); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// open gets the mapping of each file that the manifest names, from file.
func (d *Data) open(file func(name string) (*mmapfile.Map, error)) (err error) {
	if d.data, err = file(DataFile); err != nil {
		return err
	}
	if d.items, err = file(ItemsFile); err != nil {
		return err
	}
	for name, v := range d.Manifest.Vocab {
		if v.File != VocabFile(name) {
			return fmt.Errorf("%w: the vocabulary of column %q is named %q", ErrTorn, name, v.File)
		}
		if d.vocab[name], err = file(v.File); err != nil {
			return err
		}
	}
	for name, list := range d.Manifest.lists() {
		if list.File != name {
			return fmt.Errorf("%w: the list of cells %s is named %q", ErrTorn, name, list.File)
		}
		if d.listMaps[name], err = file(name); err != nil {
			return err
		}
	}
	return d.check()
}

// openFile compares a file's size with the manifest and maps the file.
func openFile(dir, name string, m *Manifest) (*mmapfile.Map, error) {
	path := filepath.Join(dir, name)
	st, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s is missing", ErrTorn, path)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTorn, err)
	}
	if want := m.Files[name].Bytes; st.Size() != want {
		return nil, fmt.Errorf("%w: %s has %d bytes, want %d", ErrTorn, path, st.Size(), want)
	}
	return mmapfile.Open(path)
}

// check compares every offset of the manifest with the footers, so that later code can use the
// offsets unchecked.
func (d *Data) check() error {
	m := d.Manifest
	fields, err := footer(d.data, DataFile)
	if err != nil {
		return err
	}
	for i := range m.Columns {
		c := &m.Columns[i]
		if err := c.check(m.Rows, fields[c.Field]); err != nil {
			return fmt.Errorf("%w: %s: column %q: %w", ErrTorn, d.Dir, c.Name, err)
		}
	}
	if fields, err = footer(d.items, ItemsFile); err != nil {
		return err
	}
	count := m.Items.Count
	whole := func(name string, at Place) bool {
		s := fields[name]
		return len(s) == 1 && s[0].Offset == at.Offset && s[0].Bytes >= count*8
	}
	ok := count >= 0 && count <= d.items.Len()/8 && whole(rowOffsetField, m.Items.RowOffset) &&
		whole(rowsField, m.Items.Rows)
	for _, v := range m.Items.Values {
		ok = ok && (v.DType == Int64 && whole(v.Name, v.Place) || v.DType == Text &&
			v.TextPlace.fits(fields[v.Name], count))
	}
	if !ok {
		return fmt.Errorf("%w: %s: %s is not where the manifest says", ErrTorn, d.Dir, ItemsFile)
	}
	for name, v := range m.Vocab {
		if fields, err = footer(d.vocab[name], v.File); err != nil {
			return err
		}
		if !v.TextPlace.fits(fields[valueField], v.Count) {
			return fmt.Errorf("%w: %s: %s is not where the manifest says", ErrTorn, d.Dir, v.File)
		}
	}
	return nil
}

func footer(m *mmapfile.Map, name string) (map[string][]arrowfile.Span, error) {
	b, err := m.Bytes(0, m.Len())
	if err != nil {
		return nil, err
	}
	fields, err := arrowfile.FieldBuffers(bytes.NewReader(b), m.Len())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return fields, nil
}

func (t TextPlace) fits(s []arrowfile.Span, count int64) bool {
	return count >= 0 && len(s) == 2 && s[0].Offset == t.Offsets && s[1].Offset == t.Data &&
		s[1].Bytes == t.DataBytes &&
		(s[0].Bytes/4 > count || count == 0)
}

// check compares a column's offset and strides with the buffer of its field.
func (c *ManifestColumn) check(rows int64, field []arrowfile.Span) error {
	size := c.DType.Size()
	if size == 0 {
		return fmt.Errorf("dtype %q is not known", c.DType)
	}
	if len(field) != 1 || len(c.Shape) < 1 || len(c.Shape) > 2 || len(c.Strides) != len(c.Shape) ||
		c.Shape[0] != rows || rows < 0 {
		return errors.New("its shape, strides or field are not the file's")
	}
	width := max(c.Width(), 1)
	f, stride := field[0], c.Strides[0]
	if len(c.Shape) == 2 && (c.Shape[1] < 1 || c.Strides[1] != size) ||
		stride < size || stride%size != 0 || width > stride/size ||
		(c.Offset-f.Offset)%size != 0 || c.Offset%size != 0 {
		return errors.New("its strides do not fit its dtype")
	}
	if rows > 0 && (c.Offset < f.Offset || rows-1 > (f.Bytes-width*size)/stride ||
		c.Offset-f.Offset > f.Bytes-(rows-1)*stride-width*size) {
		return errors.New("it lies outside its field")
	}
	return nil
}

// Acquire keeps the generation mapped until release is called. Slices of the data are valid until
// then. The error is that of a closed mapping.
func (d *Data) Acquire() (release func(), err error) {
	var releases []func()
	release = func() {
		for _, r := range releases {
			r()
		}
	}
	for _, m := range d.Maps() {
		r, err := m.Acquire()
		if err != nil {
			release()
			return nil, err
		}
		releases = append(releases, r)
	}
	return release, nil
}

// Map returns the mapping of data.arrow, to which the manifest's offsets refer. It is valid between
// Acquire and release.
func (d *Data) Map() *mmapfile.Map { return d.data }

// Close waits until all readers have released the generation, and unmaps it. It is idempotent.
func (d *Data) Close() error {
	var err error
	for _, m := range d.Maps() {
		err = errors.Join(err, m.Close())
	}
	return err
}

// Maps returns the mappings of all files, data.arrow first. They are valid between Acquire and
// release.
func (d *Data) Maps() []*mmapfile.Map {
	maps := []*mmapfile.Map{d.data, d.items}
	for _, v := range d.vocab {
		maps = append(maps, v)
	}
	for _, list := range d.listMaps {
		maps = append(maps, list)
	}
	return slices.DeleteFunc(maps, func(m *mmapfile.Map) bool { return m == nil })
}

// OpenMapped opens a generation whose files another process has opened: maps[i] is the mapping of
// names[i]. Messages contain label in place of the directory. The files are checked as in [Open].
// OpenMapped takes ownership of the maps. It closes those that the manifest does not name, and all
// of them if it returns an error.
func OpenMapped(label string, m *Manifest, names []string, maps []*mmapfile.Map) (*Data, error) {
	d := &Data{Dir: label, Manifest: m, vocab: map[string]*mmapfile.Map{},
		listMaps: map[string]*mmapfile.Map{}}
	if err := d.openMapped(names, maps); err != nil {
		for _, m := range maps {
			err = errors.Join(err, m.Close())
		}
		return nil, err
	}
	return d, nil
}

func (d *Data) openMapped(names []string, maps []*mmapfile.Map) error {
	m := d.Manifest
	if m == nil || m.Format < oldestFormat || m.Format > FormatVersion {
		return fmt.Errorf("%w: %s: this program reads formats %d to %d", ErrFormat, d.Dir,
			oldestFormat, FormatVersion)
	}
	if len(names) != len(maps) {
		return fmt.Errorf("%w: %s: %d maps of %d files", ErrTorn, d.Dir, len(maps), len(names))
	}
	byName := map[string]*mmapfile.Map{}
	for i, name := range names {
		byName[name] = maps[i]
	}
	err := d.open(func(name string) (*mmapfile.Map, error) {
		file := byName[name]
		delete(byName, name)
		if file == nil {
			return nil, fmt.Errorf("%w: %s: %s is not there", ErrTorn, d.Dir, name)
		}
		if want := m.Files[name].Bytes; file.Len() != want {
			return nil, fmt.Errorf("%w: %s: %s has %d bytes, want %d", ErrTorn, d.Dir, name,
				file.Len(), want)
		}
		return file, nil
	})
	for _, file := range byName {
		err = errors.Join(err, file.Close())
	}
	return err
}
