package store

import (
	"fmt"
	"os"
	"strings"

	"github.com/tensorcache/tensorcache/layout"
)

// checkSameName refuses the name of a dataset if the file system takes it for the name of another
// dataset, as macOS does with names that differ only in case. The generations of both would be in
// one directory. The error wraps layout.ErrName.
func (d *directory) checkSameName(name string) error {
	own, err := os.Stat(d.dataset(name))
	if err != nil { // no dataset has the name
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
