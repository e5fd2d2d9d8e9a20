package feed

import (
	"net"
	"os"
	"slices"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// peer is the process at the other end of a connection.
type peer struct {
	pid int
	uid int
}

// checkPeer refuses other users: it lets in the daemon's own, root and those that are allowed.
func checkPeer(conn *net.UnixConn, allow []int) (peer, error) {
	p, err := peerOf(conn)
	if err != nil {
		return p, err
	}
	if p.uid != os.Getuid() && p.uid != 0 && !slices.Contains(allow, p.uid) {
		return p, wire.NewProblem(wire.Forbidden, "user id %d may not use this daemon",
			p.uid).WithHint("start it with --allow-uid %d", p.uid)
	}
	return p, nil
}

// CheckPeer is the same check for other sockets of the daemon. It tells whether the peer is another
// user than the daemon's own and root.
func CheckPeer(conn *net.UnixConn, allow []int) (other bool, err error) {
	p, err := checkPeer(conn, allow)
	return p.uid != os.Getuid() && p.uid != 0, err
}

// onFile runs f with the connection's descriptor.
func onFile(conn *net.UnixConn, f func(fd int) error) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	if err := raw.Control(func(fd uintptr) { inner = f(int(fd)) }); err != nil {
		return err
	}
	return inner
}
