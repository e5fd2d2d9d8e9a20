// Package api is the daemon's HTTP control API on fasthttp: datasets, jobs, plans, feeds, and the
// dashboard.
//
// A [Server] serves the routes over the control socket and, if asked, over TCP. docs/HTTP.md lists
// the routes, openapi/ describes them. Package jobs runs the jobs that requests start.
//
// Every error is an RFC 9457 problem. A panic of a handler becomes one, too.
package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
	"golang.org/x/sync/errgroup"

	"github.com/tensorcache/tensorcache/internal/feed"
	"github.com/tensorcache/tensorcache/internal/jobs"
	"github.com/tensorcache/tensorcache/internal/machine"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/store"
)

// Limits of a request: a plan's cuts may list items by name, hence the body over the control
// socket.
const (
	maxHeaderBytes  = 8 << 10
	maxBodyBytes    = wire.MaxRequest
	maxBodyBytesTCP = 1 << 20
	readTimeout     = 5 * time.Second  // for the whole header
	bodyTimeout     = 30 * time.Second // for the whole body
	writeTimeout    = 30 * time.Second // for each write of an answer
	idleTimeout     = 10 * time.Minute // between two requests
	idleTimeoutTCP  = 2 * time.Minute
)

// Limits of open connections. They are lower if the process may open few descriptors: see
// limitConnections.
const (
	maxSocketConns = 1024
	maxTCPConns    = 256
)

// Config is what a server is made from.
type Config struct {
	Store    *store.Store
	Feeds    *feed.Server
	Jobs     *jobs.Manager
	Log      *slog.Logger
	Version  string
	AllowUID []int
	// Roots are the folders that may be loaded from over TCP, and by the users of AllowUID.
	Roots []string
	// Stop is called when a client asks the daemon to end, StopWhenIdle when it asks to once nobody
	// needs it.
	Stop, StopWhenIdle func()
	// Opened is told the address once the API is served over TCP; it may be nil.
	Opened func(addr string)
}

// Server is the control API.
type Server struct {
	Config
	http        *fasthttp.Server // over the control socket
	tcp         *fasthttp.Server
	document    func() ([]byte, error) // as JSON, made once
	started     time.Time
	lastRequest atomic.Int64 // unix seconds of the last request
	servingTCP  sync.WaitGroup
	bodyTimeout time.Duration

	mu       sync.Mutex // guards what OpenTCP makes and Close ends
	closed   bool
	conns    *limitedListener // of the control socket
	tcpConns *limitedListener
	guard    *guard

	summaryMutex   sync.Mutex  // one summary of a series is made at a time: each takes all cores
	stopping       atomic.Bool // it was told to
	refusing       atomic.Bool
	closing        chan struct{} // closed by Close
	activeRequests atomic.Int64  // that are served; an answer that is a stream is in streams afterwards
	activeStreams  atomic.Int64  // of events, that are open
	events         *events
	metrics        *metrics
}

// New makes a server; Serve lets it answer.
func New(c Config) *Server {
	s := &Server{Config: c, started: time.Now(), bodyTimeout: bodyTimeout,
		document: sync.OnceValues(
			func() ([]byte, error) { return json.Marshal(fullDocument().withVersion(c.Version)) })}
	s.closing, s.events, s.metrics = make(chan struct{}), newEvents(s), newMetrics(s)
	s.lastRequest.Store(time.Now().Unix())
	s.http = s.newHTTP(
		s.handleSocket,
		func(ctx *fasthttp.RequestCtx, err error) { protocolError(ctx, err, maxBodyBytes) },
		idleTimeout,
	)
	s.http.HeaderReceived = func(*fasthttp.RequestHeader) fasthttp.RequestConfig {
		return fasthttp.RequestConfig{ReadTimeout: s.bodyTimeout, MaxRequestBodySize: maxBodyBytes}
	}
	s.tcp = s.newTCP()
	return s
}

func (s *Server) newHTTP(handle fasthttp.RequestHandler, failed func(*fasthttp.RequestCtx, error),
	idle time.Duration) *fasthttp.Server {
	return &fasthttp.Server{
		Handler: handle, ErrorHandler: failed, Name: "tensorcache", ReadBufferSize: maxHeaderBytes,
		ReadTimeout: readTimeout, IdleTimeout: idle,
		NoDefaultDate: true, Logger: debugLogger{s.Log}, CloseOnShutdown: true,
		SecureErrorLogMessage: true, DisablePreParseMultipartForm: true,
	}
}

// Serve answers on the control socket until Close, which closes the listener.
func (s *Server) Serve(l net.Listener) error {
	_, descriptors := machine.Descriptors()
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return l.Close()
	}
	conns := limitConnections(l, s.Log, maxSocketConns, descriptors)
	s.conns = conns
	s.mu.Unlock()
	return s.http.Serve(conns)
}

// Refuse answers new requests that the daemon is shutting down; those under way go on.
func (s *Server) Refuse() {
	s.stopping.Store(true)
	s.refusing.Store(true)
}

// How long Close waits for requests under way, and then for their connections.
const (
	requestGrace = 2 * time.Second
	closeGrace   = 500 * time.Millisecond
	requestPoll  = 5 * time.Millisecond
)

// Close refuses new requests and waits, a while, for those under way.
func (s *Server) Close() error {
	s.mu.Lock()
	if !s.closed {
		close(s.closing)
	}
	s.closed = true
	listeners := map[*fasthttp.Server]*limitedListener{s.http: s.conns, s.tcp: s.tcpConns}
	s.mu.Unlock()
	s.Refuse()
	for end := time.Now().Add(requestGrace); time.Now().Before(end); time.Sleep(requestPoll) {
		if s.activeRequests.Load()+s.activeStreams.Load() == 0 {
			break
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeGrace)
	defer cancel()
	var both errgroup.Group
	for h, l := range listeners {
		both.Go(func() error {
			err := h.ShutdownWithContext(ctx)
			if !errors.Is(err, context.DeadlineExceeded) {
				return err
			}
			l.closeAll()
			return nil
		})
	}
	err := both.Wait()
	for _, l := range listeners {
		if l != nil {
			// closed already, unless fasthttp had not begun to serve: it would go on for ever
			_ = l.Close()
		}
	}
	s.servingTCP.Wait()
	s.events.close()
	return err
}

// LastRequest is when a client last asked anything.
func (s *Server) LastRequest() time.Time { return time.Unix(s.lastRequest.Load(), 0) }

// quiet sends fasthttp's own messages, mostly about connections that were cut, to the debug log. It
// leaves errors out: some quote the request, and the token with it.
type debugLogger struct{ log *slog.Logger }

func (q debugLogger) Printf(format string, args ...any) {
	for i, a := range args {
		if err, ok := a.(error); ok {
			args[i] = fmt.Sprintf("%T", err)
		}
	}
	q.log.Debug("http", "message", fmt.Sprintf(format, args...))
}

// protocolError answers what is no HTTP request, too large a one, or one that does not come to its
// end.
func protocolError(ctx *fasthttp.RequestCtx, err error, maxBody int) {
	var small *fasthttp.ErrSmallBuffer
	var late net.Error
	switch {
	case errors.Is(err, fasthttp.ErrBodyTooLarge):
		replyProblem(ctx, wire.NewProblem(wire.TooLarge, "the body is over %d bytes", maxBody))
	case errors.As(err, &small):
		replyProblem(
			ctx,
			wire.NewProblem(wire.TooLarge, "the headers are over %d bytes", maxHeaderBytes),
		)
	case errors.As(err, &late) && late.Timeout():
		replyProblem(ctx, wire.NewProblem(wire.Timeout,
			"the request did not come to its end within %s for its header and %s for its body",
			readTimeout, bodyTimeout))
	default:
		// the error may quote it, and the token
		replyProblem(ctx, wire.NewProblem(wire.InvalidRequest,
			"this is no HTTP request that can be read").WithHint(
			"ask by HTTP/1.1, as curl --unix-socket control.sock http://localhost/v1/health does"))
	}
}

// handleSocket answers one request over the control socket.
func (s *Server) handleSocket(ctx *fasthttp.RequestCtx) {
	if conn, ok := ctx.Conn().(*limitedConn).Conn.(*net.UnixConn); ok {
		other, err := feed.CheckPeer(conn, s.AllowUID)
		if err != nil {
			replyProblem(ctx, feed.ProblemOf(err))
			return
		}
		ctx.SetUserValue(otherUserKey, other)
	}
	s.serve(ctx)
}

// answer answers a request of somebody who may ask.
func (s *Server) serve(ctx *fasthttp.RequestCtx) {
	s.activeRequests.Add(1)
	defer s.activeRequests.Add(-1)
	defer s.metrics.countRequest(ctx, time.Now())
	// a dataset's file that was cut off is not the daemon's end
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			ctx.Response.Reset()
			replyProblem(ctx, jobs.ProblemOf(s.panicError("request", string(ctx.Path()), p)))
		}
	}()
	s.lastRequest.Store(time.Now().Unix())
	if s.refusing.Load() {
		replyProblem(ctx, jobs.ProblemOf(store.ErrClosed))
		ctx.SetConnectionClose()
		return
	}
	if c, ok := ctx.Conn().(*limitedConn); ok && !c.mayIdle() {
		ctx.SetConnectionClose()
	}
	if err := s.route(ctx); err != nil {
		p := jobs.ProblemOf(err)
		if p.Type == wire.Internal {
			s.Log.Error("request failed", "path", string(ctx.Path()), "error", err)
			p = p.WithHint(
				"the daemon's log says more; tensorcache doctor looks for what may be the cause")
		}
		replyProblem(ctx, p)
	}
}

// caught is the error of a panic of a request, or of whatever is looked up beside them, written
// down with where it came from unless a file's page is gone.
func (s *Server) panicError(doing, what string, recovered any) error {
	err := feed.Failed("the daemon failed", recovered)
	if jobs.ProblemOf(err).Type == wire.Corrupt {
		s.Log.Error(doing, "of", what, "error", err)
	} else {
		s.Log.Error("panic", "in", doing, "of", what, "value", recovered, "stack",
			string(debug.Stack()))
	}
	return err
}

var daemonRoutes = []route{
	{"GET", "/v1/health", noArg((*Server).health)},
	{"GET", "/v1/ready", noArg((*Server).ready)},
	{"GET", "/v1/openapi.json", noArg((*Server).openapi)},
	{"POST", "/v1/stop", noArg((*Server).stop)},
}

func (s *Server) health(ctx *fasthttp.RequestCtx) error {
	return reply(ctx, 200, wire.Health{Status: "ok", Version: s.Version, Protocol: wire.Protocol,
		PID: os.Getpid(), Dir: s.Store.Dir(), UptimeS: time.Since(s.started).Seconds()})
}

// ready tells whether new work is taken: a daemon that was told to stop still answers, but takes
// none.
func (s *Server) ready(ctx *fasthttp.RequestCtx) error {
	if s.stopping.Load() {
		return store.ErrClosed
	}
	return reply(ctx, 200, wire.Ready{Status: "ready"})
}

func (s *Server) stop(ctx *fasthttp.RequestCtx) error {
	var r wire.StopRequest
	if err := readOptionalBody(ctx, &r); err != nil {
		return err
	}
	if r.WhenIdle {
		s.StopWhenIdle()
		return reply(ctx, 202, wire.Stopping{PID: os.Getpid(), Feeds: s.Feeds.Attached(),
			Jobs: s.Jobs.Running()})
	}
	s.stopping.Store(true)
	s.Stop()
	return reply(ctx, 202, wire.Stopping{PID: os.Getpid()})
}

// hintBody is what to do about a body that cannot be read.
const hintBody = "GET /v1/openapi.json has the schema of each body"

// read takes the request's JSON; unknown fields are refused.
func readBody(ctx *fasthttp.RequestCtx, into any) error {
	// which encoding/json takes for a struct of nothing
	if string(bytes.TrimSpace(ctx.PostBody())) == "null" {
		return wire.NewProblem(wire.InvalidRequest, "the body: got null, want an object").
			WithHint("%s", hintBody)
	}
	err := wire.Strict(ctx.PostBody(), into)
	if err == nil {
		return nil
	}
	switch field, value := wire.FieldOf(err), (*wire.FieldError)(nil); {
	case field == "":
		return wire.NewProblem(wire.InvalidRequest, "the body: %s", err).WithHint("%s", hintBody)
	case errors.As(err, &value):
		return wire.NewProblem(wire.InvalidRequest, "%s", err).WithField(field)
	default:
		return wire.NewProblem(wire.InvalidRequest, "the body: %s", err).WithField(field)
	}
}

// readIfAny is read for routes whose body may be left out.
func readOptionalBody(ctx *fasthttp.RequestCtx, into any) error {
	if len(ctx.PostBody()) == 0 {
		return nil
	}
	return readBody(ctx, into)
}

func reply(ctx *fasthttp.RequestCtx, status int, body any) error {
	b, err := json.Marshal(body)
	if err == nil {
		replyJSON(ctx, status, b)
	}
	return err
}

func replyJSON(ctx *fasthttp.RequestCtx, status int, b []byte) {
	ctx.SetStatusCode(status)
	ctx.SetContentType("application/json")
	ctx.SetBody(b)
	ctx.Response.AppendBodyString("\n")
}

func replyProblem(ctx *fasthttp.RequestCtx, p *wire.Problem) {
	b, err := json.Marshal(p)
	if err != nil { // strings and numbers always marshal
		b = []byte(
			`{"type":"internal","title":"internal error","status":500,"detail":"the problem could not be written"}`,
		)
	}
	ctx.SetStatusCode(p.Status)
	ctx.SetContentType("application/problem+json")
	ctx.SetBody(append(b, '\n'))
}
