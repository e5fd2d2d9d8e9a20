package machine

import "golang.org/x/sys/unix"

// Total returns the memory of the machine, in bytes.
func Total() int64 {
	n, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return unknownTotal
	}
	return int64(n)
}

// Available returns noLimit: macOS reports no usable estimate.
func Available() int64 { return noLimit }

// Limit returns the memory of the machine: macOS has no control groups.
func Limit() int64 { return Total() }

// canLockAll returns false: macOS has no such capability.
func canLockAll() bool { return false }

// descriptorsDir contains an entry for each open descriptor of the process.
const descriptorsDir = "/dev/fd"

// networkNames are the names that statfs returns for network file systems.
var networkNames = map[string]bool{"nfs": true, "smbfs": true, "afpfs": true, "webdav": true}

func filesystem(st *unix.Statfs_t) Filesystem {
	f := Filesystem{Name: unix.ByteSliceToString(st.Fstypename[:])}
	if networkNames[f.Name] {
		f.Kind = Network
	}
	return f
}
