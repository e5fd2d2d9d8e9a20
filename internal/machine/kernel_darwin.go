package machine

import "golang.org/x/sys/unix"

// Kernel returns the system's name and version.
func Kernel() string {
	v, err := unix.Sysctl("kern.osproductversion")
	if err != nil {
		return "macOS"
	}
	return "macOS " + v
}

// Watches returns WatchPeer: every macOS has kqueue.
func Watches() Watch { return WatchPeer }

// InPIDNamespace returns false: macOS has no pid namespaces.
func InPIDNamespace() bool { return false }

// HugePages returns empty settings: macOS has none.
func HugePages() (private, shared string) { return "", "" }
