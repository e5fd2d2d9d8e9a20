package feed

import (
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/portable"
)

func peerOf(conn *net.UnixConn) (p peer, err error) {
	err = onFile(conn, func(fd int) error {
		cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
		if err == nil {
			p = peer{pid: int(cred.Pid), uid: int(cred.Uid)}
		}
		return err
	})
	return p, err
}

// watchPeer calls gone once, when the peer's process has ended: a child that it forked may still
// hold the socket, so end-of-file alone would not tell. stop ends the watch and waits for it.
func watchPeer(conn *net.UnixConn, p peer, gone func()) (stop func(), err error) {
	if portable.Forced() {
		return func() {}, nil
	}
	f, err := pidfd(conn, p.pid)
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

// pidfd names the peer's process for as long as it is held. SO_PEERPIDFD works across pid
// namespaces but needs Linux 6.5.
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
