package machine

// Watch is how a process can detect the end of another process.
type Watch int

// Ways of watching, the best one first.
const (
	// WatchPeer watches the process at the other end of a socket: on Linux in any pid namespace, on
	// macOS with kqueue.
	WatchPeer Watch = iota
	// WatchPID watches a process by its number, which is valid inside one pid namespace only.
	WatchPID
	// WatchNothing notices only the end of the connection. A child of the process that inherits the
	// socket delays it.
	WatchNothing
)
