package feed

import (
	"errors"
	"fmt"
	"net"

	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/portable"
)

func peerOf(conn *net.UnixConn) (p peer, err error) {
	err = onFile(conn, func(fd int) error {
		cred, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
		if err != nil {
			return err
		}
		pid, err := unix.GetsockoptInt(fd, unix.SOL_LOCAL, unix.LOCAL_PEERPID)
		p = peer{pid: pid, uid: int(cred.Uid)}
		return err
	})
	return p, err
}

// stopIdent is the user event that ends a watch.
const stopIdent = 1

// watchPeer calls gone once, when the peer's process has ended: a child that it forked may still
// hold the socket, so end-of-file alone would not tell. stop ends the watch and waits for it.
func watchPeer(_ *net.UnixConn, p peer, gone func()) (stop func(), err error) {
	if portable.Forced() {
		return func() {}, nil
	}
	queue, err := unix.Kqueue()
	if err != nil {
		return nil, err
	}
	unix.CloseOnExec(queue)
	watch := []unix.Kevent_t{
		{Ident: uint64(p.pid), Filter: unix.EVFILT_PROC, Flags: unix.EV_ADD | unix.EV_ONESHOT,
			Fflags: unix.NOTE_EXIT},
		{Ident: stopIdent, Filter: unix.EVFILT_USER, Flags: unix.EV_ADD | unix.EV_CLEAR},
	}
	if _, err := unix.Kevent(queue, watch, nil, nil); err != nil {
		unix.Close(queue)
		return nil, fmt.Errorf("watch process %d: %w", p.pid, err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		events := make([]unix.Kevent_t, 1)
		for {
			n, err := unix.Kevent(queue, nil, events, nil)
			if errors.Is(err, unix.EINTR) {
				continue
			}
			if err == nil && n == 1 && events[0].Filter == unix.EVFILT_PROC {
				gone()
			}
			return
		}
	}()
	return func() {
		trigger := []unix.Kevent_t{{Ident: stopIdent, Filter: unix.EVFILT_USER,
			Fflags: unix.NOTE_TRIGGER}}
		_, _ = unix.Kevent(queue, trigger, nil, nil)
		<-done
		unix.Close(queue)
	}, nil
}
