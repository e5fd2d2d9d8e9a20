package store

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tensorcache/tensorcache/layout"
)

// checkSameName refuses a dataset's name that the file system takes for another's, which differs in
// case alone, as macOS does: their generations would lie in one folder, and all be that one's after
// a restart. The error wraps layout.ErrName.
func (s *Store) checkSameName(name string) error {
	own, err := os.Stat(filepath.Join(s.dir, datasetsDir, name))
	if err != nil { // nobody's yet
		return nil
	}
	others, err := os.ReadDir(filepath.Join(s.dir, datasetsDir))
	if err != nil {
		return err
	}
	for _, o := range others {
		if o.Name() == name || !strings.EqualFold(o.Name(), name) {
			continue
		}
		if other, err := os.Stat(filepath.Join(s.dir, datasetsDir, o.Name())); err == nil &&
			os.SameFile(own, other) {
			return fmt.Errorf(
				"%w: %q: the file system takes it for %q, which differs in case alone; choose another name", layout.ErrName, name, o.Name())
		}
	}
	return nil
}
