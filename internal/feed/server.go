package feed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/feed/transport"
	"github.com/tensorcache/tensorcache/internal/feed/workers"
	"github.com/tensorcache/tensorcache/internal/mmapfile"
	"github.com/tensorcache/tensorcache/internal/peer"
	"github.com/tensorcache/tensorcache/internal/plan"
	"github.com/tensorcache/tensorcache/internal/problem"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/store"
)

// Config is the configuration of a server.
type Config struct {
	Store    *store.Store
	Log      *slog.Logger
	Version  string
	AllowUID []int
	// Put loads what a client sends on the connection. It must close conn.
	Put func(ctx context.Context, r wire.PutRequest, conn *os.File) (*wire.PutReply, error)
}

// Server serves feed.sock. It is safe for concurrent use.
type Server struct {
	Config
	pool *workers.Pool

	ctx    context.Context
	cancel context.CancelFunc
	conns  sync.WaitGroup
	ids    atomic.Int64

	refusing    atomic.Bool
	ringTimeout time.Duration

	mu     sync.Mutex
	closed bool
	open   map[*net.UnixConn]bool
	feeds  map[*feed]bool
	change chan struct{} // closed when a feed begins or ends
}

// NewServer starts the gather workers. Close ends them.
func NewServer(c Config) *Server {
	s := &Server{Config: c, pool: workers.NewPool(), open: map[*net.UnixConn]bool{},
		feeds: map[*feed]bool{}, change: make(chan struct{}), ringTimeout: ringTimeout}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// acceptPause limits how often a daemon without free file descriptors tries to accept.
const acceptPause = 100 * time.Millisecond

// Serve accepts connections until the listener is closed, which Close does not do: the caller
// closes it first.
func (s *Server) Serve(l *net.UnixListener) error {
	for {
		conn, err := l.AcceptUnix()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil { // usually no file descriptor is free
			s.Log.Warn("accept", "error", err)
			select {
			case <-s.ctx.Done():
			case <-time.After(acceptPause):
			}
			continue
		}
		s.mu.Lock()
		if s.closed {
			s.mu.Unlock()
			conn.Close()
			continue
		}
		s.open[conn] = true
		s.conns.Add(1)
		s.mu.Unlock()
		go s.serveConnection(conn)
	}
}

// Close ends all connections, waits for them and ends the workers. It is idempotent.
func (s *Server) Close() {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	s.closed = true
	for conn := range s.open {
		conn.Close()
	}
	s.mu.Unlock()
	s.cancel()
	s.conns.Wait()
	s.pool.Close()
}

// Refuse makes the server refuse new connections because the daemon is shutting down. Attached
// feeds continue.
func (s *Server) Refuse() { s.refusing.Store(true) }

// Attached returns the number of feeds whose trainers could not continue without this daemon.
func (s *Server) Attached() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for f := range s.feeds {
		if !f.reconnects {
			n++
		}
	}
	return n
}

// Connections returns the number of open connections.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open)
}

// serveConnection serves one client until either side closes the connection.
func (s *Server) serveConnection(conn *net.UnixConn) {
	defer s.conns.Done()
	debug.SetPanicOnFault(true)
	defer func() {
		conn.Close()
		s.mu.Lock()
		delete(s.open, conn)
		s.mu.Unlock()
	}()
	s.reportEnd(conn, s.serveRequest(conn))
}

// reportEnd tells the client why its connection ends, if it is still there.
func (s *Server) reportEnd(conn errorWriter, err error) {
	if err == nil || transport.IsGone(err) {
		return
	}
	s.Log.Info("connection ended", "error", err)
	if err := sendError(conn, problem.Of(err)); err != nil {
		s.Log.Debug("send error", "error", err)
	}
}

// serveRequest serves the request of one connection.
func (s *Server) serveRequest(conn *net.UnixConn) (err error) {
	defer func() {
		if p := recover(); p != nil {
			if err = mmapfile.FaultError(p); err != nil {
				return
			}
			s.Log.Error("panic", "in", "connection", "value", p)
			err = wire.NewProblem(wire.Internal, "the daemon failed: %v", p)
		}
	}()
	process, err := peer.Check(conn, s.AllowUID)
	if err != nil {
		return err
	}
	payload, err := readRequest(conn)
	if err != nil {
		return err
	}
	var hello wire.RequestHeader
	if err := json.Unmarshal(payload, &hello); err != nil {
		return wire.NewProblem(wire.ProtocolError, "the request is no JSON: %s", err)
	}
	if hello.Protocol() == 0 {
		return wire.NewProblem(wire.ProtocolMismatch,
			"the client (%s) speaks %s, this daemon (tensorcache %s, pid %d) %s",
			hello.Client, hello.Describe(), s.Version, os.Getpid(), wire.OwnProtocols.Describe()).
			WithHint("tensorcache stop, then connect again, " +
				"so that client and daemon are of one version")
	}
	if s.refusing.Load() {
		return store.ErrClosed
	}
	switch hello.Request {
	case "open":
		return decodeStrict(payload,
			func(r wire.OpenRequest) error { return s.lease(conn, process, r) })
	case "feed":
		return decodeStrict(payload,
			func(r wire.FeedRequest) error { return s.feed(conn, process, r) })
	case "put":
		return decodeStrict(payload,
			func(r wire.PutRequest) error { return s.put(conn, process, r) })
	}
	return wire.NewProblem(wire.ProtocolError, "request: got %q, want open, feed or put",
		hello.Request).WithField("request")
}

// decodeStrict decodes a request, refuses unknown fields, and serves it.
func decodeStrict[T any](payload []byte, serve func(T) error) error {
	var r T
	if err := wire.Strict(payload, &r); err != nil {
		return wire.NewProblem(wire.InvalidRequest, "%s", err).WithField(wire.FieldOf(err))
	}
	return serve(r)
}

// lease sends a dataset's files and keeps its generation until the client closes the connection.
func (s *Server) lease(conn *net.UnixConn, p peer.Process, r wire.OpenRequest) error {
	h, err := plan.Acquire(s.Store, r.Dataset, r.Generation, r.Digest)
	if err != nil {
		return err
	}
	defer h.Release()
	names, files := h.Data.Files()
	m := h.Data.Manifest
	reply := wire.OpenReply{Protocol: r.Protocol(), Version: s.Version, Dataset: h.Dataset,
		Generation: h.Generation, Digest: m.Digest, Manifest: m, Files: names}
	defer s.watch(conn, p, func() { conn.Close() })()
	if err := sendReply(conn, reply, files...); err != nil {
		return err
	}
	if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
		return err
	}
	return fmt.Errorf("%w: a client that opened a dataset sends nothing more", wire.ErrFrame)
}

// watch calls gone when the client's process has ended, until stop is called.
func (s *Server) watch(conn *net.UnixConn, p peer.Process, gone func()) (stop func()) {
	stop, err := peer.Watch(conn, p, gone)
	switch {
	case errors.Is(err, unix.ESRCH): // the process has already ended
		gone()
	case err != nil:
		s.Log.Warn("cannot watch the client's process; only the end of its connection is noticed",
			"pid", p.PID, "error", err)
	default:
		return stop
	}
	return func() {}
}

func (s *Server) put(conn *net.UnixConn, p peer.Process, r wire.PutRequest) error {
	f, err := conn.File()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	defer s.watch(conn, p, cancel)()
	reply, err := s.Put(ctx, r, f)
	if err != nil {
		return err
	}
	return sendReply(conn, reply)
}
