package peer

import (
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/portable"
)

func processOf(conn *net.UnixConn) (p Process, err error) {
	err = onFile(conn, func(fd int) error {
		cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
		if err == nil {
			p = Process{PID: int(cred.Pid), UID: int(cred.Uid)}
		}
		return err
	})
	return p, err
}

// Watch calls gone once, when the process of a connection has ended. End-of-file is not enough,
// because a child of the process may still have the socket open. stop ends the watch and waits for
// its end.
func Watch(conn *net.UnixConn, p Process, gone func()) (stop func(), err error) {
	if portable.Forced() {
		return func() {}, nil
	}
	f, err := pidfd(conn, p.PID)
	if err != nil {
		return nil, err
	}
	raw, err := f.SyscallConn()
	if err != nil {
		f.Close()
		return nil, err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		err := raw.Read(func(fd uintptr) bool {
			poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
			n, err := unix.Poll(poll, 0)
			return err == nil && n == 1
		})
		if err == nil {
			gone()
		}
	}()
	return func() {
		f.Close() // wakes the reader
		<-done
	}, nil
}

// pidfd returns a descriptor of the process. SO_PEERPIDFD works across pid namespaces but needs
// Linux 6.5.
func pidfd(conn *net.UnixConn, pid int) (*os.File, error) {
	fd := -1
	err := onFile(conn, func(socket int) (err error) {
		fd, err = unix.GetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_PEERPIDFD)
		return err
	})
	if err != nil {
		if fd, err = unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK); err != nil {
			return nil, fmt.Errorf("watch process %d: %w", pid, err)
		}
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return nil, err
	}
	unix.CloseOnExec(fd)
	return os.NewFile(uintptr(fd), "pidfd"), nil
}
