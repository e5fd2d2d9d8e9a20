package layout

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/tensorcache/tensorcache/internal/mmapfile"
)

// openMapped maps files of a generation and opens it, as a client that received their descriptors
// does.
func openMapped(t *testing.T, dir string, m *Manifest, names ...string) (*Data, error) {
	t.Helper()
	var maps []*mmapfile.Map
	for _, name := range names {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		file, err := mmapfile.New(f)
		if err != nil {
			t.Fatal(err)
		}
		maps = append(maps, file)
	}
	d, err := OpenMapped("sent", m, names, maps)
	if err != nil {
		for i, file := range maps {
			if _, err := file.Acquire(); !errors.Is(err, mmapfile.ErrClosed) {
				t.Errorf("%s is still mapped", names[i])
			}
		}
	}
	return d, err
}

func TestMappedFilesAreCheckedLikeThoseOfADirectory(t *testing.T) {
	dir := t.TempDir()
	m := write(t, dir, Packed, 100)
	all := []string{DataFile, ItemsFile, VocabFile("symbol"), VocabFile("q")}
	// Files that the manifest does not name are ignored.
	d, err := openMapped(t, dir, m, append(all, ManifestFile)...)
	if err != nil {
		t.Fatal(err)
	}
	for column := range m.Columns {
		if c := &m.Columns[column]; c.Name == "f" {
			compare[uint32](t, d, c, column)
		}
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if _, err := openMapped(t, dir, m, all[:3]...); !errors.Is(err, ErrTorn) {
		t.Errorf("without a vocabulary: %v", err)
	}
	other := *m
	other.Format = FormatVersion + 1
	if _, err := openMapped(t, dir, &other, all...); !errors.Is(err, ErrFormat) {
		t.Errorf("of the next format: %v", err)
	}
	if err := os.Truncate(filepath.Join(dir, DataFile), 4096); err != nil {
		t.Fatal(err)
	}
	if _, err := openMapped(t, dir, m, all...); !errors.Is(err, ErrTorn) {
		t.Errorf("truncated: %v", err)
	}
}
