package api

import (
	"io"
	"net"
	"sync"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// mostStreams is how many event streams there may be at once: each holds a connection.
const mostStreams = 64

// Times of a stream: when a client is looked for that may have left, and when it is told that the
// daemon lives.
const (
	lookTick  = time.Second
	heartbeat = 15 * time.Second
)

// source is what a stream sends.
type source interface {
	// take gives the events that wait to be sent, none for now, and whether there will never be
	// more.
	take() (events []byte, over bool)
	// ready is signalled when take has more. It is asked for after each take.
	ready() <-chan struct{}
	// leave is called once, when nobody listens any more.
	leave()
}

// stream sends a source's events as text/event-stream. It is the body that the connection's own
// goroutine reads and writes, so a client costs no other one; it waits in Read, until the client
// leaves or the server ends it.
type stream struct {
	server *Server
	source source
	conn   net.Conn
	left   []byte
	over   bool
	tick   *time.Ticker
	beat   time.Time
	closed sync.Once
}

// replyStream answers with the events of a source that open makes, if there is room.
func (s *Server) replyStream(ctx *fasthttp.RequestCtx, open func() source) error {
	h := &ctx.Response.Header
	h.SetContentType("text/event-stream")
	h.Set(fasthttp.HeaderCacheControl, "no-store")
	if ctx.IsHead() {
		return nil
	}
	if s.streams.Add(1) > mostStreams {
		s.streams.Add(-1)
		h.Set(fasthttp.HeaderRetryAfter, "10")
		return wire.NewProblem(wire.Busy, "%d event streams are open, no more are served at once",
			mostStreams).WithHint("close some dashboards, or ask again and again instead")
	}
	ctx.SetConnectionClose()
	ctx.SetBodyStream(&stream{server: s, source: open(), conn: ctx.Conn(),
		left: []byte("retry: 2000\n\n"), tick: time.NewTicker(lookTick),
		beat: time.Now().Add(heartbeat)}, -1)
	return nil
}

// Read waits for events.
func (st *stream) Read(p []byte) (int, error) {
	for len(st.left) == 0 {
		if st.over {
			return 0, io.EOF
		}
		if st.left, st.over = st.source.take(); len(st.left) > 0 || st.over {
			continue
		}
		select {
		case <-st.source.ready():
		case now := <-st.tick.C:
			switch {
			case isLeft(st.conn):
				return 0, io.ErrClosedPipe
			case now.After(st.beat):
				st.beat = now.Add(heartbeat)
				st.left = []byte(":\n\n")
				st.server.last.Store(now.Unix()) // who listens is a client
			}
		case <-st.server.ending:
			return 0, io.EOF
		}
	}
	n := copy(p, st.left)
	st.left = st.left[n:]
	return n, nil
}

// Close is called when the last byte is sent, or cannot be.
func (st *stream) Close() error {
	st.closed.Do(func() {
		st.tick.Stop()
		st.source.leave()
		st.server.streams.Add(-1)
	})
	return nil
}

// event appends one to a buffer. The data is of one line, as JSON is.
func event(b []byte, name string, data []byte) []byte {
	b = append(b, "event: "...)
	b = append(b, name...)
	b = append(b, "\ndata: "...)
	b = append(b, data...)
	return append(b, "\n\n"...)
}
