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
const maxStreams = 64

// Times of a stream: when a client is looked for that may have left, and when it is told that the
// daemon lives.
const (
	clientCheckInterval = time.Second
	heartbeatInterval   = 15 * time.Second
)

// source is what a stream sends.
type eventSource interface {
	// take gives the events that wait to be sent, none for now, and whether there will never be
	// more.
	next() (events []byte, over bool)
	// ready is signalled when take has more. It is asked for after each take.
	ready() <-chan struct{}
	// leave is called once, when nobody listens any more.
	close()
}

// stream sends a source's events as text/event-stream. It is the body that the connection's own
// goroutine reads and writes, so a client costs no other one; it waits in Read, until the client
// leaves or the server ends it.
type eventStream struct {
	server        *Server
	source        eventSource
	conn          net.Conn
	pending       []byte
	ended         bool
	ticker        *time.Ticker
	nextHeartbeat time.Time
	closed        sync.Once
}

// replyStream answers with the events of a source that open makes, if there is room.
func (s *Server) replyStream(ctx *fasthttp.RequestCtx, open func() eventSource) error {
	h := &ctx.Response.Header
	h.SetContentType("text/event-stream")
	h.Set(fasthttp.HeaderCacheControl, "no-store")
	if ctx.IsHead() {
		return nil
	}
	if s.activeStreams.Add(1) > maxStreams {
		s.activeStreams.Add(-1)
		h.Set(fasthttp.HeaderRetryAfter, "10")
		return wire.NewProblem(wire.Busy, "%d event streams are open, no more are served at once",
			maxStreams).WithHint("close some dashboards, or ask again and again instead")
	}
	ctx.SetConnectionClose()
	ctx.SetBodyStream(&eventStream{server: s, source: open(), conn: ctx.Conn(),
		pending: []byte("retry: 2000\n\n"), ticker: time.NewTicker(clientCheckInterval),
		nextHeartbeat: time.Now().Add(heartbeatInterval)}, -1)
	return nil
}

// Read waits for events.
func (st *eventStream) Read(p []byte) (int, error) {
	for len(st.pending) == 0 {
		if st.ended {
			return 0, io.EOF
		}
		if st.pending, st.ended = st.source.next(); len(st.pending) > 0 || st.ended {
			continue
		}
		select {
		case <-st.source.ready():
		case now := <-st.ticker.C:
			switch {
			case peerClosed(st.conn):
				return 0, io.ErrClosedPipe
			case now.After(st.nextHeartbeat):
				st.nextHeartbeat = now.Add(heartbeatInterval)
				st.pending = []byte(":\n\n")
				st.server.lastRequest.Store(now.Unix()) // who listens is a client
			}
		case <-st.server.closing:
			return 0, io.EOF
		}
	}
	n := copy(p, st.pending)
	st.pending = st.pending[n:]
	return n, nil
}

// Close is called when the last byte is sent, or cannot be.
func (st *eventStream) Close() error {
	st.closed.Do(func() {
		st.ticker.Stop()
		st.source.close()
		st.server.activeStreams.Add(-1)
	})
	return nil
}

// event appends one to a buffer. The data is of one line, as JSON is.
func appendEvent(b []byte, name string, data []byte) []byte {
	b = append(b, "event: "...)
	b = append(b, name...)
	b = append(b, "\ndata: "...)
	b = append(b, data...)
	return append(b, "\n\n"...)
}
