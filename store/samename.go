package store

import (
	"fmt"
	"os"
	"strings"

	"github.com/tensorcache/tensorcache/layout"
)

// checkSameName refuses a dataset's name that the file system takes for another's, which differs in
// case alone, as macOS does: their generations would lie in one folder, and all be that one's after
// a restart. The error wraps layout.ErrName.
func (d *directory) checkSameName(name string) error {
	own, err := os.Stat(d.dataset(name))
	if err != nil { // nobody's yet
		return nil
	}
	others, err := os.ReadDir(d.datasets())
	if err != nil {
		return err
	}
	for _, o := range others {
		if o.Name() == name || !strings.EqualFold(o.Name(), name) {
			continue
		}
		if other, err := os.Stat(d.dataset(o.Name())); err == nil &&
			os.SameFile(own, other) {
			return fmt.Errorf(
				"%w: %q: the file system takes it for %q, which differs in case alone; choose another name", layout.ErrName, name, o.Name())
		}
	}
	return nil
}
