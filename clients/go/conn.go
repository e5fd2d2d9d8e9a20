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

// clientName is the client's name in requests.
const clientName = "tensorcache-go/1"

// maxFiles is the largest number of descriptors in one message: SCM_MAX_FD of Linux.
const maxFiles = 253

// requestHeader returns the fields that every request has.
func requestHeader(request string) wire.RequestHeader {
	return wire.RequestHeader{Protocols: wire.OwnProtocols, Client: clientName, Request: request}
}

// dial connects to the feed socket.
func (c *Cache) dial(ctx context.Context) (*net.UnixConn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", c.control.Daemon.Feed)
	if err != nil {
		return nil, connectionError(ctx, err)
	}
	return conn.(*net.UnixConn), nil
}

// request opens a connection, sends its one request and reads the reply, with the files that come
// with it. The caller closes the connection and the files.
func (c *Cache) request(ctx context.Context, message, reply any) (*net.UnixConn,
	[]*os.File, error) {
	conn, err := c.dial(ctx)
	if err != nil {
		return nil, nil, err
	}
	stop := interruptOn(ctx, conn)
	files, err := roundTrip(conn, message, reply)
	stop()
	if err != nil {
		conn.Close()
		return nil, nil, connectionError(ctx, err)
	}
	return conn, files, nil
}

// roundTrip sends a request and reads its reply.
func roundTrip(conn *net.UnixConn, request, reply any) ([]*os.File, error) {
	if err := sendRequest(conn, request); err != nil {
		return nil, finalError(conn, err)
	}
	return receiveReply(conn, reply)
}

func sendRequest(conn *net.UnixConn, request any) error {
	body, err := json.Marshal(request)
	if err != nil {
		return clientError(err)
	}
	if len(body) > wire.MaxRequest {
		return errorf(TooLarge, "", "the request takes %d bytes, at most %d", len(body),
			wire.MaxRequest)
	}
	frame := make([]byte, wire.HeaderSize, wire.HeaderSize+len(body))
	wire.PutHeader(frame, wire.FrameRequest, len(body))
	_, err = conn.Write(append(frame, body...))
	return err
}

// finalError returns the error of the ERROR frame that the daemon sent before it closed the
// connection, or else err.
func finalError(conn *net.UnixConn, err error) error {
	if !errors.As(err, new(*net.OpError)) { // nothing was sent
		return err
	}
	if files, refusal := receiveReply(conn, &struct{}{}); errors.As(refusal, new(*Error)) {
		closeAll(files)
		return refusal
	}
	return err
}

// receiveReply reads a REPLY frame into reply, or returns the error of an ERROR frame.
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
		return files, parseErrorFrame(payload)
	case wire.FrameReply:
	default:
		return files, fmt.Errorf("%w: a frame of kind %d where a reply belongs", ErrProtocol, kind)
	}
	var envelope struct {
		Protocol int `json:"protocol"`
	}
	err = json.Unmarshal(payload, &envelope)
	chosen := wire.Protocols{Newest: envelope.Protocol}
	if _, ok := wire.OwnProtocols.Common(chosen); err != nil || !ok {
		return files, fmt.Errorf("%w: a reply that is not of %s: %.80q", ErrProtocol,
			wire.OwnProtocols.Describe(), payload)
	}
	if err := json.Unmarshal(payload, reply); err != nil {
		return files, fmt.Errorf("%w: %w", ErrProtocol, err)
	}
	return files, nil
}

// maxReply is the largest frame of the daemon. A manifest takes up to 16 MiB.
const maxReply = 64 << 20

func parseHeader(b []byte) (kind, length uint32, err error) {
	if kind, length = wire.ParseHeader(b); length > maxReply {
		return 0, 0, fmt.Errorf("%w: a frame of %d bytes", ErrProtocol, length)
	}
	return kind, length, nil
}

// receiveFiles fills b, and returns the files that came with it. They are closed on exec.
func receiveFiles(conn *net.UnixConn, b []byte) (files []*os.File, err error) {
	control := make([]byte, unix.CmsgSpace(4*maxFiles))
	for at := 0; at < len(b); {
		n, rights, flags, _, err := conn.ReadMsgUnix(b[at:], control)
		if rights > 0 {
			received, err := parseFiles(control[:rights])
			files = append(files, received...)
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

func parseFiles(rights []byte) (files []*os.File, err error) {
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

// interruptOn ends reads and writes of the connection when the context ends, until stop is called.
// After stop, the connection has no deadline.
func interruptOn(ctx context.Context, conn net.Conn) (stop func()) {
	interrupted := make(chan struct{})
	cancel := context.AfterFunc(ctx, func() {
		_ = conn.SetDeadline(time.Unix(1, 0))
		close(interrupted)
	})
	return func() {
		if !cancel() {
			<-interrupted
			_ = conn.SetDeadline(time.Time{})
		}
	}
}

// connectionError explains why a connection ended: the context's end, a refusal of the daemon, or
// ErrGone.
func connectionError(ctx context.Context, err error) error {
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
