package store

import (
	"fmt"

	"github.com/tensorcache/tensorcache/internal/machine"
)

// checkFilesystem refuses those on which neither maps nor locks hold what is promised.
func checkFilesystem(dir string) error {
	f, err := machine.FilesystemOf(dir)
	if err != nil {
		return err
	}
	if f.Kind == machine.Network {
		return fmt.Errorf("%w: %s is on %s; choose a local directory with --dir or TENSORCACHE_DIR",
			ErrFilesystem, dir, f.Name)
	}
	return nil
}
