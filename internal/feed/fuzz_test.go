package feed

import (
	"errors"
	"io"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// frames are frames one after the other.
func frames(parts ...any) (out []byte) {
	for i := 0; i < len(parts); i += 2 {
		payload, ok := parts[i+1].([]byte)
		if !ok {
			payload = asJSON(parts[i+1])
		}
		out = append(append(out, le(uint32(len(payload)), parts[i].(uint32))...), payload...)
	}
	return out
}

// FuzzConnection sends any bytes at all: whatever they are, the server neither hangs nor crashes, nor keeps anything.
func FuzzConnection(f *testing.F) {
	w := newWorld(f, 1<<20)
	w.twoItems(f)
	seek := wire.Seek{Stream: 1, Epoch: 2, Consumed: 8}.Append(nil)
	for _, seed := range [][]byte{
		nil,
		[]byte("GET / HTTP/1.1\r\n\r\n"),
		frames(wire.FrameRequest, request("named")),
		frames(wire.FrameRequest, request("named"), wire.FrameCredit, le(0, 1), wire.FrameSeek, seek, wire.FrameDone, []byte{}),
		frames(wire.FrameRequest, request("named", spec("min_context", 0, "max_missing", nil, "static_columns", []string{"close"}), items("MSFT"))),
		frames(wire.FrameRequest, request("plain", options("order", "lanes"), spec("stride", 4), with("channels_first", true), with("mask", true))),
		frames(wire.FrameRequest, map[string]any{"protocol": 1, "request": "open", "dataset": "named"}, wire.FrameDone, []byte{}),
		frames(wire.FrameRequest, request("named", with("cuts", []any{map[string]any{"split": map[string]any{"lengths": []any{10, nil}}, "part": 1}}))),
		frames(wire.FrameRequest, request("plain", with("delivery", "view"), options("order", "random_start")), wire.FrameMeter, make([]byte, wire.MeterSize), wire.FrameCredit, le(wire.NoSlot)),
		frames(wire.FrameRequest, request("plain", with("delivery", "local")), wire.FrameSeek, wire.Seek{Stream: 1, Epoch: 1 << 63, Consumed: 1 << 62}.Append(nil)),
		frames(wire.FrameRequest, request("plain", with("slots", 3)), wire.FrameDone, []byte{}, wire.FrameCredit, le(0, 0, 1<<31)),
		frames(wire.FrameRequest, map[string]any{"protocol": 2, "request": "feed"}),
		le(0xFFFFFFFF, 1), le(wire.MaxRequest, 1), le(100, 1),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c := must(dial(w.path))(t)
		defer c.conn.Close()
		go func() {
			_, _ = c.conn.Write(data) // fails where the server has ended the connection
			_ = c.conn.CloseWrite()
		}()
		for {
			kind, payload, fds, err := c.receive()
			closeAll(fds)
			if err != nil {
				checkEnd(t, err)
				break
			}
			if kind == wire.FrameBatches && len(payload)%wire.DescriptorSize != 0 {
				t.Fatalf("batches of %d bytes", len(payload))
			}
		}
		until(t, "gone", func() bool { return w.server.Connections() == 0 })
	})
}

// checkEnd fails where a connection ended by neither a problem nor its end.
func checkEnd(t *testing.T, err error) {
	t.Helper()
	var p *wire.Problem
	var timeout interface{ Timeout() bool }
	switch {
	case errors.As(err, &p):
		if p.Type == wire.Internal || p.Type == "" {
			t.Errorf("%+v", p)
		}
	case errors.As(err, &timeout) && timeout.Timeout():
		t.Errorf("hangs: %v", err)
	case errors.Is(err, io.EOF):
	case !isGone(err):
		t.Error(err)
	}
}

func closeAll(fds []int) {
	for _, fd := range fds {
		unix.Close(fd)
	}
}
