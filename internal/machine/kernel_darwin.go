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

// Watch is how the end of another process can be learnt.
type Watch int

// Ways of watching, best first.
const (
	// WatchPeer is of whoever is at the other end of a socket: kqueue, by the peer's number.
	WatchPeer Watch = iota
	// WatchPID is of a process by its number, which only holds inside one pid namespace.
	WatchPID
	// WatchNothing leaves the end of file, which a forked child may hold up.
	WatchNothing
)

// Watches is kqueue, which every macOS has.
func Watches() Watch { return WatchPeer }

// InPIDNamespace is false: macOS has none.
func InPIDNamespace() bool { return false }

// HugePages are none that can be set.
func HugePages() (private, shared string) { return "", "" }
