package store

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// networkFilesystems are those on which neither maps nor locks hold what is promised.
var networkFilesystems = map[int64]string{
	unix.NFS_SUPER_MAGIC: "NFS", unix.SMB_SUPER_MAGIC: "SMB", unix.SMB2_SUPER_MAGIC: "SMB2", unix.CIFS_SUPER_MAGIC: "CIFS",
	unix.V9FS_MAGIC: "9p", unix.CEPH_SUPER_MAGIC: "Ceph", unix.AFS_SUPER_MAGIC: "AFS", unix.CODA_SUPER_MAGIC: "Coda",
	0x0BD00BD0: "Lustre", 0x47504653: "GPFS", 0x19830326: "BeeGFS",
}

func checkFilesystem(dir string) error {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return fmt.Errorf("statfs %s: %w", dir, err)
	}
	if name, ok := networkFilesystems[int64(uint32(st.Type))]; ok {
		return fmt.Errorf("%w: %s is on %s; choose a local directory with --dir or TENSORCACHE_DIR", ErrFilesystem, dir, name)
	}
	return nil
}
