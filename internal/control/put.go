package control

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// PutArrow sends an Arrow IPC stream to the daemon as a generation of a dataset. If behind is
// true, its rows follow those of the last generation. If the daemon refuses the stream, PutArrow
// returns at once, even if the stream blocks. The goroutine that reads the stream then ends with
// the next bytes of the stream or its end.
func (c *Client) PutArrow(name string, options json.RawMessage, behind bool,
	stream io.Reader) (*wire.PutReply, error) {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: c.Daemon.Feed, Net: "unix"})
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	request, err := json.Marshal(wire.PutRequest{
		RequestHeader: wire.RequestHeader{Protocols: wire.OwnProtocols,
			Client: "tensorcache/" + c.Daemon.Version, Request: "put"},
		Dataset: name, Options: options, Format: "arrow", Append: behind,
	})
	if err != nil {
		return nil, err
	}
	frame := make([]byte, wire.HeaderSize, wire.HeaderSize+len(request))
	wire.PutHeader(frame, wire.FrameRequest, len(request))
	if _, err := conn.Write(append(frame, request...)); err != nil {
		return nil, err
	}
	copied := make(chan error, 1)
	go func() {
		_, err := io.Copy(conn, stream)
		if err == nil {
			err = conn.CloseWrite()
		} else if !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET) {
			// The stream is incomplete, and the daemon must not mistake its end for the end of the
			// data.
			_ = conn.Close()
		}
		copied <- err
	}()
	// A daemon that refuses the stream answers before it has read all of it, so the answer says
	// more than a failed copy.
	reply, err := readPutReply(conn)
	if err != nil {
		if _, ok := err.(*wire.Problem); !ok {
			if copyErr := <-copied; copyErr != nil {
				return nil, copyErr
			}
		}
	}
	return reply, err
}

func readPutReply(conn *net.UnixConn) (*wire.PutReply, error) {
	var scratch [wire.HeaderSize]byte
	kind, length, err := wire.ReadHeader(conn, scratch[:], wire.MaxRequest)
	if err != nil {
		return nil, fmt.Errorf("the daemon ended the connection: %w", err)
	}
	payload := make([]byte, length)
	if _, err := io.ReadFull(conn, payload); err != nil {
		return nil, err
	}
	if kind == wire.FrameError {
		var p wire.Problem
		if err := json.Unmarshal(payload, &p); err != nil {
			return nil, err
		}
		return nil, &p
	}
	var reply wire.PutReply
	return &reply, json.Unmarshal(payload, &reply)
}
