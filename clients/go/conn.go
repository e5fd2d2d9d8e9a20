package tensorcache

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// clientName is what this client calls itself in requests.
const clientName = "tensorcache-go/1"

// mostFiles is how many descriptors a frame can carry: the kernel's SCM_MAX_FD.
const mostFiles = 253

// hello begins every request.
func hello(request string) wire.RequestHeader {
	return wire.RequestHeader{Protocol: wire.Protocol, Client: clientName, Request: request}
}

// dial connects to feed.sock.
func (c *Cache) dial(ctx context.Context) (*net.UnixConn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", c.control.Daemon.Feed)
	if err != nil {
		return nil, gone(ctx, err)
	}
	return conn.(*net.UnixConn), nil
}

// ask opens a connection with its one request and reads the reply, with the files that came along.
// The connection and the files are the caller's to close.
func (c *Cache) ask(ctx context.Context, request, reply any) (*net.UnixConn, []*os.File, error) {
	conn, err := c.dial(ctx)
	if err != nil {
		return nil, nil, err
	}
	end := guard(ctx, conn)
	files, err := exchange(conn, request, reply)
	end()
	if err != nil {
		conn.Close()
		return nil, nil, gone(ctx, err)
	}
	return conn, files, nil
}

// exchange sends a request and reads its reply.
func exchange(conn *net.UnixConn, request, reply any) ([]*os.File, error) {
	if err := sendRequest(conn, request); err != nil {
		return nil, lastWords(conn, err)
	}
	return receiveReply(conn, reply)
}

func sendRequest(conn *net.UnixConn, request any) error {
	body, err := json.Marshal(request)
	if err != nil {
		return ours(err)
	}
	if len(body) > wire.MaxRequest {
		return refuse(TooLarge, "", "the request takes %d bytes, at most %d", len(body),
			wire.MaxRequest)
	}
	frame := make([]byte, wire.HeaderSize, wire.HeaderSize+len(body))
	wire.PutHeader(frame, wire.FrameRequest, len(body))
	_, err = conn.Write(append(frame, body...))
	return err
}

// lastWords is why the daemon closed the connection: its ERROR frame where it left one, else the
// error.
func lastWords(conn *net.UnixConn, err error) error {
	if !errors.As(err, new(*net.OpError)) { // nothing was sent
		return err
	}
	if files, said := receiveReply(conn, &struct{}{}); errors.As(said, new(*Error)) {
		closeAll(files)
		return said
	}
	return err
}

// receiveReply reads a REPLY into reply, or the ERROR that came instead.
func receiveReply(conn *net.UnixConn, reply any) (files []*os.File, err error) {
	defer func() {
		if err != nil {
			closeAll(files)
			files = nil
		}
	}()
	var header [wire.HeaderSize]byte
	if files, err = receiveFiles(conn, header[:]); err != nil {
		return files, err
	}
	kind, length, err := parseHeader(header[:])
	if err != nil {
		return files, err
	}
	payload := make([]byte, length)
	if _, err := io.ReadFull(conn, payload); err != nil {
		return files, err
	}
	switch kind {
	case wire.FrameError:
		return files, problemOf(payload)
	case wire.FrameReply:
	default:
		return files, fmt.Errorf("%w: a frame of kind %d where a reply belongs", ErrProtocol, kind)
	}
	var said struct {
		Protocol int `json:"protocol"`
	}
	if err := json.Unmarshal(payload, &said); err != nil || said.Protocol != wire.Protocol {
		return files, fmt.Errorf("%w: a reply that is not of protocol %d: %.80q", ErrProtocol,
			wire.Protocol, payload)
	}
	if err := json.Unmarshal(payload, reply); err != nil {
		return files, fmt.Errorf("%w: %w", ErrProtocol, err)
	}
	return files, nil
}

// maxReply bounds a frame of the daemon's: a manifest may take 16 MiB.
const maxReply = 64 << 20

func parseHeader(b []byte) (kind, length uint32, err error) {
	if kind, length = wire.ParseHeader(b); length > maxReply {
		return 0, 0, fmt.Errorf("%w: a frame of %d bytes", ErrProtocol, length)
	}
	return kind, length, nil
}

// receiveFiles fills b, and gives the files that rode on it. They are closed on exec.
func receiveFiles(conn *net.UnixConn, b []byte) (files []*os.File, err error) {
	room := make([]byte, unix.CmsgSpace(4*mostFiles))
	for at := 0; at < len(b); {
		n, rights, flags, _, err := conn.ReadMsgUnix(b[at:], room)
		if rights > 0 {
			more, err := filesIn(room[:rights])
			files = append(files, more...)
			if err != nil {
				return files, err
			}
		}
		if err != nil {
			return files, err
		}
		if flags&unix.MSG_CTRUNC != 0 {
			return files,
				errors.New("the daemon's file descriptors were cut off: too many files are open (ulimit -n)")
		}
		at += n
	}
	return files, nil
}

func filesIn(rights []byte) (files []*os.File, err error) {
	messages, err := unix.ParseSocketControlMessage(rights)
	if err != nil {
		return nil, err
	}
	for i := range messages {
		fds, err := unix.ParseUnixRights(&messages[i])
		if err != nil {
			return files, err
		}
		for _, fd := range fds {
			files = append(files, os.NewFile(uintptr(fd), "file of the daemon"))
		}
	}
	return files, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// guard ends what waits on the connection when the context ends, until end is called; then the
// connection is as before.
func guard(ctx context.Context, conn net.Conn) (end func()) {
	fired := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		_ = conn.SetDeadline(time.Unix(1, 0))
		close(fired)
	})
	return func() {
		if !stop() {
			<-fired
			_ = conn.SetDeadline(time.Time{})
		}
	}
}

// gone says what the end of a connection means: the context's end, what the daemon refused, or that
// the daemon is gone.
func gone(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, new(*Error)), errors.Is(err, ErrProtocol), errors.Is(err, ErrGone):
		return err
	case errors.Is(err, io.EOF), errors.As(err, new(*net.OpError)),
		errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: %w", ErrGone, err)
	}
	return err
}
