package layout

import (
	"errors"
	"fmt"

	"github.com/tensorcache/tensorcache/internal/mmapfile"
)

// OpenMapped opens a generation whose files another process has opened: maps[i] is that of names[i]. Label stands for its directory in
// messages. The files are checked as [Open] does. The maps belong to it from now on; those that the manifest does not name are
// closed at once, and all of them with an error.
func OpenMapped(label string, m *Manifest, names []string, maps []*mmapfile.Map) (*Data, error) {
	d := &Data{Dir: label, Manifest: m, vocab: map[string]*mmapfile.Map{}, before: map[string]*mmapfile.Map{}}
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
		return fmt.Errorf("%w: %s: this program reads formats %d to %d", ErrFormat, d.Dir, oldestFormat, FormatVersion)
	}
	if len(names) != len(maps) {
		return fmt.Errorf("%w: %s: %d maps of %d files", ErrTorn, d.Dir, len(maps), len(names))
	}
	there := map[string]*mmapfile.Map{}
	for i, name := range names {
		there[name] = maps[i]
	}
	err := d.open(func(name string) (*mmapfile.Map, error) {
		file := there[name]
		delete(there, name)
		if file == nil {
			return nil, fmt.Errorf("%w: %s: %s is not there", ErrTorn, d.Dir, name)
		}
		if want := m.Files[name].Bytes; file.Len() != want {
			return nil, fmt.Errorf("%w: %s: %s has %d bytes, want %d", ErrTorn, d.Dir, name, file.Len(), want)
		}
		return file, nil
	})
	for _, file := range there {
		err = errors.Join(err, file.Close())
	}
	return err
}
