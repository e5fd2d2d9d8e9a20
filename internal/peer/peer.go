// Package peer identifies the process at the other end of a Unix socket, refuses other users, and
// reports when the process ends.
//
// # Caveats
//
// The watch of a process needs a pidfd on Linux and kqueue on macOS. Without them only the end of
// the connection is noticed, and a child that inherited the socket keeps it open.
package peer

import (
	"net"
	"os"
	"slices"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// Process is the process at the other end of a connection.
type Process struct {
	PID int
	UID int
}

// Check returns the process of a connection. The error is a *wire.Problem of type forbidden unless
// its user is the daemon's, root or one of allow.
func Check(conn *net.UnixConn, allow []int) (Process, error) {
	p, err := processOf(conn)
	if err != nil {
		return p, err
	}
	if p.IsOtherUser() && !slices.Contains(allow, p.UID) {
		return p, wire.NewProblem(wire.Forbidden, "user id %d may not use this daemon",
			p.UID).WithHint("its owner can allow that: option allow-uid of tensorcache serve")
	}
	return p, nil
}

// IsOtherUser reports whether the user of the process is neither the daemon's nor root.
func (p Process) IsOtherUser() bool { return p.UID != os.Getuid() && p.UID != 0 }

// onFile calls f with the connection's descriptor.
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
