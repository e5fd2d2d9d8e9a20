package feed

import (
	"encoding/binary"
	"encoding/json"
	"io"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/wire"
)

func le32(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }

func readFull(r io.Reader, b []byte) error {
	_, err := io.ReadFull(r, b)
	return err
}

// requestTime is how long a client may take to say what it wants.
const requestTime = 30 * time.Second

// readRequest reads the first frame of a connection: its JSON, at most wire.MaxRequest bytes.
func readRequest(conn *net.UnixConn) ([]byte, error) {
	if err := conn.SetReadDeadline(time.Now().Add(requestTime)); err != nil {
		return nil, err
	}
	var scratch [wire.HeaderSize]byte
	kind, length, err := wire.ReadHeader(conn, scratch[:], wire.MaxRequest)
	if err != nil {
		return nil, err
	}
	if kind != wire.FrameRequest {
		return nil, wire.NewProblem(wire.ProtocolError,
			"the first frame is of kind %d, want a request (%d)", kind, wire.FrameRequest)
	}
	// memory for what was sent, not for what was announced
	payload, err := io.ReadAll(io.LimitReader(conn, int64(length)))
	if err == nil && len(payload) < int(length) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, err
	}
	return payload, conn.SetReadDeadline(time.Time{})
}

// sendReply sends JSON, with the files' descriptors on the frame's first byte.
func sendReply(conn *net.UnixConn, reply any, files ...*os.File) error {
	payload, err := json.Marshal(reply)
	if err != nil {
		return err
	}
	var header [wire.HeaderSize]byte
	wire.PutHeader(header[:], wire.FrameReply, len(payload))
	var rights []byte
	if len(files) > 0 {
		fds := make([]int, len(files))
		for i, f := range files {
			fds[i] = int(f.Fd())
		}
		rights = unix.UnixRights(fds...)
	}
	n, _, err := conn.WriteMsgUnix(header[:], rights, nil)
	if err != nil {
		return err
	}
	if n < len(header) {
		if _, err := conn.Write(header[n:]); err != nil {
			return err
		}
	}
	_, err = conn.Write(payload)
	return err
}

// lastWords is how long a client may take to read why its connection ends.
const lastWords = time.Second

// teller is a connection that can be told something before it ends.
type teller interface {
	io.Writer
	SetWriteDeadline(at time.Time) error
}

// sendError tells the client why the connection ends. It is best effort: the client may be gone.
func sendError(conn teller, p *wire.Problem) error {
	payload, err := json.Marshal(p)
	if err != nil {
		return err
	}
	if err := conn.SetWriteDeadline(time.Now().Add(lastWords)); err != nil {
		return err
	}
	frame := make([]byte, wire.HeaderSize, wire.HeaderSize+len(payload))
	wire.PutHeader(frame, wire.FrameError, len(payload))
	_, err = conn.Write(append(frame, payload...))
	return err
}
