package api

import (
	"bytes"
	"errors"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// limitedListener limits the number of open connections. It answers a connection above the limit
// with a "busy" problem and closes it, so connections that send nothing block new ones only until
// their read timeout. If an accept fails, usually because no descriptor is left, it tries again:
// fasthttp would stop serving.
type limitedListener struct {
	net.Listener
	log          *slog.Logger
	limit        int
	writeTimeout time.Duration
	active       atomic.Int64 // connections on which a request is answered

	mu   sync.Mutex
	open map[*limitedConn]bool
}

// A listener uses at most one in descriptorShare of the descriptors that the process may open,
// because datasets, trainers and loads need the others, but always minConnections.
const (
	descriptorShare = 4
	minConnections  = 4
)

// limitConnections returns a listener with this limit, or a lower one if the process may open few
// descriptors.
func limitConnections(l net.Listener, log *slog.Logger, limit int,
	descriptors int64) *limitedListener {
	limit = int(min(int64(limit), max(descriptors/descriptorShare, minConnections)))
	open := map[*limitedConn]bool{}
	return &limitedListener{Listener: l, log: log, limit: limit,
		writeTimeout: writeTimeout, open: open}
}

// acceptPause is the time between a failed accept and the next one.
const acceptPause = 100 * time.Millisecond

// Accept returns the next connection below the limit.
func (l *limitedListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil, err
		}
		if err != nil {
			l.log.Warn("accept a connection", "error", err)
			time.Sleep(acceptPause)
			continue
		}
		if c := l.add(conn); c != nil {
			return c, nil
		}
		refuse(conn)
	}
}

// refuseTimeout is the time for a refused client to send its request. A connection that is closed
// before would look to it like a daemon that has died.
const refuseTimeout = time.Millisecond

// refuse answers a connection above the limit and closes it.
func refuse(conn net.Conn) {
	_ = conn.SetReadDeadline(time.Now().Add(refuseTimeout))
	_, _ = conn.Read(make([]byte, maxHeaderBytes))
	_, _ = conn.Write(busyAnswer()) // the empty buffer of a new socket has room for it
	_ = conn.Close()
}

// busyAnswer is the answer to a connection above the limit. It does not depend on the request.
var busyAnswer = sync.OnceValue(func() []byte {
	var ctx fasthttp.RequestCtx
	p := wire.NewProblem(wire.Busy, "too many connections are open")
	replyProblem(&ctx, p.WithHint("try again, or close some dashboards"))
	ctx.Response.Header.Set(fasthttp.HeaderRetryAfter, "1")
	ctx.SetConnectionClose()
	setSecurityHeaders(&ctx)
	var b bytes.Buffer
	_, _ = ctx.Response.WriteTo(&b)
	return b.Bytes()
})

// activeConns returns the number of connections on which a request is answered. It accepts nil.
func (l *limitedListener) activeConns() int64 {
	if l == nil {
		return 0
	}
	return l.active.Load()
}

// add returns nil at the limit.
func (l *limitedListener) add(conn net.Conn) net.Conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.open) >= l.limit {
		return nil
	}
	c := &limitedConn{Conn: conn, listener: l}
	l.open[c] = true
	return c
}

// closeAll closes all connections. It accepts nil.
func (l *limitedListener) closeAll() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.open {
		_ = c.Conn.Close()
	}
}

// limitedConn is a connection of a limitedListener.
type limitedConn struct {
	net.Conn
	listener *limitedListener
	// answering is set from the start of a request's handler until the next Read: fasthttp writes
	// the answer after the handler has returned.
	answering atomic.Bool
}

// startAnswer counts the connection as active until its next Read, or Close.
func (c *limitedConn) startAnswer() {
	if c.answering.CompareAndSwap(false, true) {
		c.listener.active.Add(1)
	}
}

func (c *limitedConn) endAnswer() {
	if c.answering.CompareAndSwap(true, false) {
		c.listener.active.Add(-1)
	}
}

// Read ends the answer of the request before.
func (c *limitedConn) Read(b []byte) (int, error) {
	c.endAnswer()
	return c.Conn.Read(b)
}

// mayIdle reports whether the connection may stay open after an answer: not if more than half of
// the limit are open, so that idle clients cannot use all of it.
func (c *limitedConn) mayIdle() bool {
	l := c.listener
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.open) <= l.limit/2
}

// Write has a timeout of its own each time, because an answer may be an endless stream.
func (c *limitedConn) Write(b []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(c.listener.writeTimeout)); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}

func (c *limitedConn) Close() error {
	c.endAnswer()
	c.listener.mu.Lock()
	delete(c.listener.open, c)
	c.listener.mu.Unlock()
	return c.Conn.Close()
}
