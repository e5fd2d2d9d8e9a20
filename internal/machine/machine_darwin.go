package machine

import "golang.org/x/sys/unix"

// Total is the machine's memory in bytes.
func Total() int64 {
	n, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return fallback
	}
	return int64(n)
}

// Available is not told by macOS in a way that is for use, and so no bound.
func Available() int64 { return unbounded }

// Limit is the machine's memory: macOS has no control groups.
func Limit() int64 { return Total() }

// mayLock tells whether the process may lock memory beyond its limit: macOS has no such right.
func mayLock() bool { return false }

// descriptorsDir lists the process's open descriptors.
const descriptorsDir = "/dev/fd"

// networkNames are the file systems of other machines by the names that statfs gives.
var networkNames = map[string]bool{"nfs": true, "smbfs": true, "afpfs": true, "webdav": true}

func filesystem(st *unix.Statfs_t) Filesystem {
	f := Filesystem{Name: unix.ByteSliceToString(st.Fstypename[:])}
	if networkNames[f.Name] {
		f.Kind = Network
	}
	return f
}
