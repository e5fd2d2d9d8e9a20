package machine

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// Kernel returns the system's name and version.
func Kernel() string {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return "Linux"
	}
	return unix.ByteSliceToString(u.Sysname[:]) + " " + unix.ByteSliceToString(u.Release[:])
}

// Watches returns the best way that the system supports.
func Watches() Watch {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		defer unix.Close(pair[0])
		defer unix.Close(pair[1])
		if fd, err := unix.GetsockoptInt(pair[0], unix.SOL_SOCKET, unix.SO_PEERPIDFD); err == nil {
			unix.Close(fd)
			return WatchPeer
		}
	}
	if fd, err := unix.PidfdOpen(os.Getpid(), 0); err == nil {
		unix.Close(fd)
		return WatchPID
	}
	return WatchNothing
}

// initialNamespace is the name of the pid namespace that the kernel starts with.
const initialNamespace = "pid:[4026531836]"

// InPIDNamespace reports whether the process runs in a pid namespace of its own, as in a container.
func InPIDNamespace() bool {
	name, err := os.Readlink("/proc/self/ns/pid")
	return err == nil && name != initialNamespace
}

// HugePages returns the settings of transparent huge pages, for private memory and for memory files
// such as rings. A setting is "" if the system does not report it.
func HugePages() (private, shared string) {
	chosen := func(file string) string {
		b, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/" + file)
		if err != nil {
			return ""
		}
		_, s, _ := strings.Cut(string(b), "[")
		s, _, _ = strings.Cut(s, "]")
		return s
	}
	return chosen("enabled"), chosen("shmem_enabled")
}
