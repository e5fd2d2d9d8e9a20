package store

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// networkFilesystems are those on which neither maps nor locks hold what is promised.
var networkFilesystems = map[string]bool{"nfs": true, "smbfs": true, "afpfs": true, "webdav": true}

func checkFilesystem(dir string) error {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return fmt.Errorf("statfs %s: %w", dir, err)
	}
	if name := unix.ByteSliceToString(st.Fstypename[:]); networkFilesystems[name] {
		return fmt.Errorf("%w: %s is on %s; choose a local directory with --dir or TENSORCACHE_DIR", ErrFilesystem, dir, name)
	}
	return nil
}
