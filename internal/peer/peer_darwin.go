package peer

import (
	"errors"
	"fmt"
	"net"

	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/portable"
)

func processOf(conn *net.UnixConn) (p Process, err error) {
	err = onFile(conn, func(fd int) error {
		cred, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
		if err != nil {
			return err
		}
		pid, err := unix.GetsockoptInt(fd, unix.SOL_LOCAL, unix.LOCAL_PEERPID)
		p = Process{PID: pid, UID: int(cred.Uid)}
		return err
	})
	return p, err
}

// stopIdent is the user event that ends a watch.
const stopIdent = 1

// Watch calls gone once, when the process of a connection has ended. End-of-file is not enough,
// because a child of the process may still have the socket open. stop ends the watch and waits for
// its end.
func Watch(_ *net.UnixConn, p Process, gone func()) (stop func(), err error) {
	if portable.Forced() {
		return func() {}, nil
	}
	queue, err := unix.Kqueue()
	if err != nil {
		return nil, err
	}
	unix.CloseOnExec(queue)
	watch := []unix.Kevent_t{
		{Ident: uint64(p.PID), Filter: unix.EVFILT_PROC, Flags: unix.EV_ADD | unix.EV_ONESHOT,
			Fflags: unix.NOTE_EXIT},
		{Ident: stopIdent, Filter: unix.EVFILT_USER, Flags: unix.EV_ADD | unix.EV_CLEAR},
	}
	if _, err := unix.Kevent(queue, watch, nil, nil); err != nil {
		unix.Close(queue)
		return nil, fmt.Errorf("watch process %d: %w", p.PID, err)
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
