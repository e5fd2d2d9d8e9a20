package machine

// Watch is how the end of another process can be learnt.
type Watch int

// Ways of watching, best first.
const (
	// WatchPeer is of whoever is at the other end of a socket: on Linux in any pid namespace, on
	// macOS by kqueue.
	WatchPeer Watch = iota
	// WatchPID is of a process by its number, which only holds inside one pid namespace.
	WatchPID
	// WatchNothing leaves the end of file, which a forked child may hold up.
	WatchNothing
)
