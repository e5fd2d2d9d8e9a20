package api

import (
	"io"
	"net"
	"sync"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// maxStreams limits the open event streams, because each occupies a connection.
const maxStreams = 64

// clientCheckInterval is how often a stream checks whether its client has closed the connection,
// heartbeatInterval how often it sends a comment.
const (
	clientCheckInterval = time.Second
	heartbeatInterval   = 15 * time.Second
)

// eventSource makes the events of a stream.
type eventSource interface {
	// next returns the events to send now, which may be none, and whether they are the last.
	next() (events []byte, over bool)
	// ready returns a channel that is signalled when next has more. It must be called after each
	// next.
	ready() <-chan struct{}
	// close is called once, after the last next.
	close()
}

// eventStream sends the events of a source as text/event-stream. It is the body of a response: the
// goroutine of the connection waits in Read until there are events, the client disconnects or the
// server closes.
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

// replyStream answers with the events of the source that open returns, unless too many streams are
// open.
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
			maxStreams).WithHint("close some dashboards, or poll instead")
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
				st.server.lastRequest.Store(now.Unix()) // a client with an open stream is active
			}
		case <-st.server.closing:
			return 0, io.EOF
		}
	}
	n := copy(p, st.pending)
	st.pending = st.pending[n:]
	return n, nil
}

// Close is called after the last byte was sent or failed to be sent.
func (st *eventStream) Close() error {
	st.closed.Do(func() {
		st.ticker.Stop()
		st.source.close()
		st.server.activeStreams.Add(-1)
	})
	return nil
}

// appendEvent appends an event. The data must be one line, as JSON is.
func appendEvent(b []byte, name string, data []byte) []byte {
	b = append(b, "event: "...)
	b = append(b, name...)
	b = append(b, "\ndata: "...)
	b = append(b, data...)
	return append(b, "\n\n"...)
}
