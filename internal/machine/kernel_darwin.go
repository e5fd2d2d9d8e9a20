package machine

import "golang.org/x/sys/unix"

// Kernel is the system's name and version.
func Kernel() string {
	v, err := unix.Sysctl("kern.osproductversion")
	if err != nil {
		return "macOS"
	}
	return "macOS " + v
}

// Watches is kqueue, which every macOS has.
func Watches() Watch { return WatchPeer }

// InPIDNamespace is false: macOS has none.
func InPIDNamespace() bool { return false }

// HugePages are none that can be set.
func HugePages() (private, shared string) { return "", "" }
