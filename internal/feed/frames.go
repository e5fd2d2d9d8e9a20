package feed

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
)

// requestTimeout is how long a client may take to send its request.
const requestTimeout = 30 * time.Second

// readRequest returns the payload of the first frame of a connection, which is JSON of at most
// wire.MaxRequest bytes.
func readRequest(conn *net.UnixConn) ([]byte, error) {
	if err := conn.SetReadDeadline(time.Now().Add(requestTimeout)); err != nil {
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
	// This allocates memory for the bytes that are sent, not for the announced length.
	payload, err := io.ReadAll(io.LimitReader(conn, int64(length)))
	if err == nil && len(payload) < int(length) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, err
	}
	return payload, conn.SetReadDeadline(time.Time{})
}

// maxRights is the largest number of file descriptors in one message: SCM_MAX_FD of Linux.
const maxRights = 253

// sendReply sends JSON. The descriptors of files are attached to the first byte of the frame, and those
// beyond maxRights to the following bytes of the header. There must be at most [layout.MaxFiles].
func sendReply(conn *net.UnixConn, reply any, files ...*os.File) error {
	payload, err := json.Marshal(reply)
	if err != nil {
		return err
	}
	var header [wire.HeaderSize]byte
	wire.PutHeader(header[:], wire.FrameReply, len(payload))
	sent := 0
	for fds := range slices.Chunk(descriptors(files), maxRights) {
		if sent == len(header) {
			return fmt.Errorf("a reply with %d files, at most %d are sent", len(files), layout.MaxFiles)
		}
		if _, _, err := conn.WriteMsgUnix(header[sent:sent+1], unix.UnixRights(fds...), nil); err != nil {
			return err
		}
		sent++
	}
	_, err = conn.Write(append(header[sent:], payload...))
	return err
}

func descriptors(files []*os.File) []int {
	fds := make([]int, len(files))
	for i, f := range files {
		fds[i] = int(f.Fd())
	}
	return fds
}

// errorTimeout is how long a client may take to read why its connection ends.
const errorTimeout = time.Second

// errorWriter is a connection on which an error is sent before it ends.
type errorWriter interface {
	io.Writer
	SetWriteDeadline(at time.Time) error
}

// sendError tells the client why the connection ends. The client may be gone.
func sendError(conn errorWriter, p *wire.Problem) error {
	payload, err := json.Marshal(p)
	if err != nil {
		return err
	}
	if err := conn.SetWriteDeadline(time.Now().Add(errorTimeout)); err != nil {
		return err
	}
	frame := make([]byte, wire.HeaderSize, wire.HeaderSize+len(payload))
	wire.PutHeader(frame, wire.FrameError, len(payload))
	_, err = conn.Write(append(frame, payload...))
	return err
}
