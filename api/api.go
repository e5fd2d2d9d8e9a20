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
	"github.com/tensorcache/tensorcache/internal/mmapfile"
	"github.com/tensorcache/tensorcache/internal/peer"
	"github.com/tensorcache/tensorcache/internal/problem"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/store"
)

// Limits of a request. A body over the control socket may be large, because the cuts of a plan may
// list items by name.
const (
	maxHeaderBytes  = 8 << 10
	maxBodyBytes    = wire.MaxRequest
	maxBodyBytesTCP = 1 << 20
	readTimeout     = 5 * time.Second  // for the whole header
	bodyTimeout     = 30 * time.Second // for the whole body
	writeTimeout    = 30 * time.Second // for each write of a response
	idleTimeout     = 10 * time.Minute // between two requests
	idleTimeoutTCP  = 2 * time.Minute
)

// Limits of open connections. They are lower if the process may open few descriptors: see
// limitConnections.
const (
	maxSocketConns = 1024
	maxTCPConns    = 256
)

// Config says what a server is made of.
type Config struct {
	Store    *store.Store
	Feeds    *feed.Server
	Jobs     *jobs.Manager
	Log      *slog.Logger
	Version  string
	AllowUID []int
	// Roots are the directories from which requests over TCP, and requests of the users of
	// AllowUID, may load files.
	Roots []string
	// Stop is called when a client tells the daemon to stop, StopWhenIdle when it should stop as
	// soon as it is idle.
	Stop, StopWhenIdle func()
	// Opened is called with the address when the API is served over TCP. It may be nil.
	Opened func(addr string)
}

// Server is the control API.
type Server struct {
	Config
	http        *fasthttp.Server // over the control socket
	tcp         *fasthttp.Server
	document    func() ([]byte, error) // the OpenAPI document as JSON
	started     time.Time
	lastRequest atomic.Int64 // Unix seconds of the last request
	servingTCP  sync.WaitGroup
	bodyTimeout time.Duration
	// Close waits at most requestGrace for active requests, then at most closeGrace for connections.
	requestGrace, closeGrace time.Duration

	mu       sync.Mutex // guards what OpenTCP makes and Close closes
	closed   bool
	conns    *limitedListener // of the control socket
	tcpConns *limitedListener
	guard    *guard

	summaryMutex  sync.Mutex  // held while an item is summarised, which uses all cores
	stopping      atomic.Bool // a client has told the daemon to stop
	refusing      atomic.Bool
	closing       chan struct{} // closed by Close
	activeStreams atomic.Int64  // open event streams
	events        *events
	metrics       *metrics
}

// New returns a server. It answers requests once Serve is called.
func New(c Config) *Server {
	s := &Server{Config: c, started: time.Now(), bodyTimeout: bodyTimeout,
		requestGrace: 2 * time.Second, closeGrace: 500 * time.Millisecond,
		document: sync.OnceValues(
			func() ([]byte, error) { return json.Marshal(fullDocument().withVersion(c.Version)) })}
	s.closing, s.events, s.metrics = make(chan struct{}), newEvents(s), newMetrics(s)
	s.lastRequest.Store(time.Now().Unix())
	s.http = s.newHTTP(s.handleSocket,
		func(ctx *fasthttp.RequestCtx, err error) { protocolError(ctx, err, maxBodyBytes) },
		idleTimeout)
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

// Serve answers requests over the control socket until Close, which closes the listener.
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

// Refuse answers new requests with a problem of type shutting_down. Active requests go on.
func (s *Server) Refuse() {
	s.stopping.Store(true)
	s.refusing.Store(true)
}

const requestPoll = 5 * time.Millisecond // how often Close counts the active requests

// Close refuses new requests, waits a limited time for active ones and closes all connections.
func (s *Server) Close() error {
	s.mu.Lock()
	if !s.closed {
		close(s.closing)
	}
	s.closed = true
	listeners := map[*fasthttp.Server]*limitedListener{s.http: s.conns, s.tcp: s.tcpConns}
	s.mu.Unlock()
	s.Refuse()
	for end := time.Now().Add(s.requestGrace); time.Now().Before(end); time.Sleep(requestPoll) {
		if listeners[s.http].activeConns()+listeners[s.tcp].activeConns() == 0 {
			break
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.closeGrace)
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
			// It is closed already, unless fasthttp has not begun to serve: then it would never
			// stop.
			_ = l.Close()
		}
	}
	s.servingTCP.Wait()
	s.events.close()
	return err
}

// LastRequest returns the time of the last request.
func (s *Server) LastRequest() time.Time { return time.Unix(s.lastRequest.Load(), 0) }

// debugLogger writes fasthttp's own messages to the debug log; most are about connections that
// clients have cut. It leaves out the text of errors, because some quote the request, and the token
// with it.
type debugLogger struct{ log *slog.Logger }

func (q debugLogger) Printf(format string, args ...any) {
	for i, a := range args {
		if err, ok := a.(error); ok {
			args[i] = fmt.Sprintf("%T", err)
		}
	}
	q.log.Debug("http", "message", fmt.Sprintf(format, args...))
}

// protocolError answers a request that is not valid HTTP, is too large, or is not complete in time.
func protocolError(ctx *fasthttp.RequestCtx, err error, maxBody int) {
	var tooSmall *fasthttp.ErrSmallBuffer
	var timeoutErr net.Error
	switch {
	case errors.Is(err, fasthttp.ErrBodyTooLarge):
		replyProblem(ctx, wire.NewProblem(wire.TooLarge, "the body is over %d bytes", maxBody))
	case errors.As(err, &tooSmall):
		replyProblem(ctx, wire.NewProblem(wire.TooLarge, "the headers are over %d bytes",
			maxHeaderBytes))
	case errors.As(err, &timeoutErr) && timeoutErr.Timeout():
		replyProblem(ctx, wire.NewProblem(wire.Timeout,
			"the request was not complete within %s for its header and %s for its body",
			readTimeout, bodyTimeout))
	default:
		// the error may quote the request, and the token with it
		replyProblem(ctx, wire.NewProblem(wire.InvalidRequest,
			"the request is not valid HTTP").WithHint(
			"send HTTP/1.1, as curl --unix-socket control.sock http://localhost/v1/health does"))
	}
}

// handleSocket answers a request over the control socket.
func (s *Server) handleSocket(ctx *fasthttp.RequestCtx) {
	if conn, ok := ctx.Conn().(*limitedConn).Conn.(*net.UnixConn); ok {
		process, err := peer.Check(conn, s.AllowUID)
		if err != nil {
			replyProblem(ctx, problem.Of(err))
			return
		}
		setOtherUser(ctx, process.IsOtherUser())
	}
	s.serve(ctx)
}

// serve answers a request of a client that may make it.
func (s *Server) serve(ctx *fasthttp.RequestCtx) {
	if c, ok := ctx.Conn().(*limitedConn); ok {
		c.startAnswer()
	}
	defer s.metrics.countRequest(ctx, time.Now())
	// so that a dataset's file that was truncated ends this request and not the daemon
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

// panicError returns the error of a panic and logs it. It logs the stack too, unless the cause is a
// dataset's file that was truncated.
func (s *Server) panicError(task, name string, recovered any) error {
	err := mmapfile.PanicError("the daemon failed", recovered)
	if jobs.ProblemOf(err).Type == wire.Corrupt {
		s.Log.Error("a file of a dataset was truncated", "task", task, "name", name, "error", err)
	} else {
		s.Log.Error("panic", "task", task, "name", name, "value", recovered,
			"stack", string(debug.Stack()))
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
	return reply(ctx, 200, wire.Health{Status: "ok", Version: s.Version,
		Protocols: wire.OwnProtocols, PID: os.Getpid(), Dir: s.Store.Dir(), UptimeS: time.Since(s.started).Seconds()})
}

// ready reports whether the daemon accepts new work. A daemon that was told to stop still answers
// requests, but accepts no work.
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

// hintBody is the hint for a body that cannot be read.
const hintBody = "GET /v1/openapi.json has the schema of each body"

// readBody decodes the JSON body of a request. It refuses unknown fields.
func readBody(ctx *fasthttp.RequestCtx, into any) error {
	// encoding/json accepts null for a struct
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

// readOptionalBody is readBody for routes whose body may be missing.
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
		b = []byte(`{"type":"internal","title":"internal error","status":500,` +
			`"detail":"the problem could not be written"}`)
	}
	ctx.SetStatusCode(p.Status)
	ctx.SetContentType("application/problem+json")
	ctx.SetBody(append(b, '\n'))
}
