package feed

import (
	"encoding/binary"
	"errors"
	"io"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/feed/transport"
	"github.com/tensorcache/tensorcache/internal/testwait"
	"github.com/tensorcache/tensorcache/internal/wire"
)

// frames returns the bytes of frames, given as kinds, each followed by its payload.
func frames(parts ...any) (out []byte) {
	for i := 0; i < len(parts); i += 2 {
		payload, ok := parts[i+1].([]byte)
		if !ok {
			payload = asJSON(parts[i+1])
		}
		out = append(out, uint32Bytes(uint32(len(payload)), parts[i].(uint32))...)
		out = append(out, payload...)
	}
	return out
}

// FuzzConnection sends arbitrary bytes. The server must not hang, crash or leak.
func FuzzConnection(f *testing.F) {
	env := newTestEnv(f, 1<<20)
	env.publishTwoItems(f)
	seek := wire.Seek{Stream: 1, Epoch: 2, Consumed: 8}.Append(nil)
	for _, seed := range [][]byte{
		nil,
		[]byte("GET / HTTP/1.1\r\n\r\n"),
		frames(wire.FrameRequest, request("named")),
		frames(wire.FrameRequest, request("named"), wire.FrameCredit, uint32Bytes(0, 1),
			wire.FrameSeek,
			seek, wire.FrameDone, []byte{}),
		frames(wire.FrameRequest,
			request("named", spec("min_context", 0, "max_missing", nil, "static_columns",
				[]string{"close"}), items("MSFT"))),
		frames(wire.FrameRequest, request("plain", options("order", "lanes"), spec("stride", 4),
			with("channels_first", true), with("mask", true))),
		frames(wire.FrameRequest, map[string]any{"protocol": 1, "request": "open",
			"dataset": "named"}, wire.FrameDone, []byte{}),
		frames(wire.FrameRequest,
			request("named",
				with("cuts",
					[]any{map[string]any{"split": map[string]any{"lengths": []any{10, nil}},
						"part": 1}}))),
		frames(wire.FrameRequest,
			request("plain", with("delivery", "view"), options("order", "random_start")),
			wire.FrameMeter, make([]byte, wire.MeterSize),
			wire.FrameCredit, uint32Bytes(wire.NoSlot)),
		frames(wire.FrameRequest, request("plain", with("delivery", "local")), wire.FrameSeek,
			wire.Seek{Stream: 1, Epoch: 1 << 63, Consumed: 1 << 62}.Append(nil)),
		frames(wire.FrameRequest, request("plain", with("slots", 3)), wire.FrameDone, []byte{},
			wire.FrameCredit, uint32Bytes(0, 0, 1<<31)),
		frames(wire.FrameRequest, map[string]any{"protocol": 2, "request": "feed"}),
		uint32Bytes(0xFFFFFFFF, 1), uint32Bytes(wire.MaxRequest, 1), uint32Bytes(100, 1),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c := must(dial(env.path))(t)
		defer c.conn.Close()
		go func() {
			_, _ = c.conn.Write(data) // fails if the server has ended the connection
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
		testwait.Until(t, "gone", func() bool { return env.server.Connections() == 0 })
	})
}

// FuzzQueue writes arbitrary words into the memory that the daemon reads, each followed by a frame
// or by none. The feed continues or ends with a problem, and another feed is served as before.
func FuzzQueue(f *testing.F) {
	if !transport.HasQueues() {
		f.Skip("no queues here")
	}
	env := newTestEnv(f, largeBudget)
	env.publishSeries(f, "d", 1000)
	asked := request("d", with("queue", true), with("slots", 8))
	other := env.attach(f, asked)
	f.Cleanup(other.close)
	const silent, credit, wait = 0, 1, 2
	word := func(kind byte, at uint16, value uint64) []byte {
		return append([]byte{kind, byte(at), byte(at >> 8)}, uint64Bytes(value)...)
	}
	first := wire.QueueFirst + uint16(transport.QueueCapacity(8))*descriptorWords // of the credits
	f.Add(word(credit, wire.QueueGiven, 8))
	f.Add(append(word(silent, first, 3), word(credit, wire.QueueGiven, 1)...))
	f.Add(append(word(silent, wire.QueueRead, 1), word(wait, wire.QueueGiven, 0)...))
	f.Add(append(word(silent, wire.QueueSent, 1<<63), word(credit, wire.QueueRead, 9)...))
	f.Add(append(word(silent, first, 1<<32), word(credit, wire.QueueGiven, 1)...))
	f.Add(word(wait, wire.QueueGiven, 1<<64-1))
	f.Fuzz(func(t *testing.T, data []byte) {
		tr := env.attach(t, asked)
		defer tr.close()
		testwait.Until(t, "filled",
			func() bool { return atomic.LoadUint64(&tr.words[wire.QueueSent]) == 8 })
		for ; len(data) >= 11; data = data[11:] {
			at, value := int(binary.LittleEndian.Uint16(data[1:]))%len(tr.words),
				binary.LittleEndian.Uint64(data[3:])
			atomic.StoreUint64(&tr.words[at], value)
			switch data[0] % 3 { // an error means that the feed has ended
			case credit:
				_ = tr.send(wire.FrameCredit, nil)
			case wait:
				_ = tr.send(wire.FrameWait, uint64Bytes(value))
			}
		}
		_ = tr.send(wire.FrameMeter, meterFrame(time.Second, 0))
		testwait.Until(t, "looked at the queue after it has heard this", func() bool {
			for _, one := range env.server.Feeds() {
				if one.Feed == tr.Feed {
					return one.PassS > 0
				}
			}
			return true
		})
		_ = tr.send(wire.FrameDone, nil)
		for {
			if _, _, _, err := tr.receive(); err != nil {
				checkEnd(t, err)
				break
			}
		}
		other.credit(t, other.batch(t).Slot)
	})
}

// checkEnd fails the test unless a connection has ended with a problem or without an error.
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
	case !transport.IsGone(err):
		t.Error(err)
	}
}

func closeAll(fds []int) {
	for _, fd := range fds {
		unix.Close(fd)
	}
}
