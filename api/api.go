// Package api is the daemon's HTTP control API on fasthttp: datasets, loads as jobs, plans, feeds.
//
// A [Server] holds the routes. [Jobs] runs loads in child processes and publishes what they make; the feed server's put
// goes through it too. docs/HTTP.md lists the routes, openapi/ describes them.
//
// Every error is an RFC 9457 problem. No panic of a handler crosses the package.
package api

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"os"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/tensorcache/tensorcache/internal/feed"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/store"
)

// Limits of a request. A plan's cuts may list items by name, hence the body.
const (
	maxBody   = 16 << 20
	maxHeader = 16 << 10
	readTime  = 30 * time.Second
	idleTime  = 10 * time.Minute
)

// Config is what a server is made from.
type Config struct {
	Store    *store.Store
	Feeds    *feed.Server
	Jobs     *Jobs
	Log      *slog.Logger
	Version  string
	AllowUID []int
	// Stop is called once when a client asks the daemon to end.
	Stop func()
}

// Server is the control API.
type Server struct {
	Config
	http     *fasthttp.Server
	document *document
	started  time.Time
	last     atomic.Int64 // unix seconds of the last request
}

// New makes a server; Serve lets it answer.
func New(c Config) *Server {
	s := &Server{Config: c, started: time.Now(), document: theDocument().of(c.Version)}
	s.last.Store(time.Now().Unix())
	s.http = &fasthttp.Server{
		Handler: s.handle, Name: "tensorcache", MaxRequestBodySize: maxBody, ReadBufferSize: maxHeader, ReadTimeout: readTime, IdleTimeout: idleTime,
		NoDefaultDate: true, Logger: quiet{c.Log}, ErrorHandler: protocolError, CloseOnShutdown: true,
	}
	return s
}

// Serve answers until Close.
func (s *Server) Serve(l net.Listener) error { return s.http.Serve(patient{l, s.Log}) }

// patient is a listener that outlasts a failed accept, of which the want of descriptors is the usual cause: fasthttp
// would answer nobody ever after.
type patient struct {
	net.Listener
	log *slog.Logger
}

// acceptPause keeps a daemon without descriptors from spinning.
const acceptPause = 100 * time.Millisecond

func (p patient) Accept() (net.Conn, error) {
	for {
		conn, err := p.Listener.Accept()
		if err == nil || errors.Is(err, net.ErrClosed) {
			return conn, err
		}
		p.log.Warn("accept", "error", err)
		time.Sleep(acceptPause)
	}
}

// Close refuses new requests and waits, a while, for those under way.
func (s *Server) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if err := s.http.ShutdownWithContext(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

// LastRequest is when a client last asked anything.
func (s *Server) LastRequest() time.Time { return time.Unix(s.last.Load(), 0) }

// quiet sends fasthttp's own messages, mostly about connections that were cut, to the debug log.
type quiet struct{ log *slog.Logger }

func (q quiet) Printf(format string, args ...any) {
	q.log.Debug("http", "format", format, "args", args)
}

// protocolError answers what is no HTTP request, or too large a one.
func protocolError(ctx *fasthttp.RequestCtx, err error) {
	var small *fasthttp.ErrSmallBuffer
	switch {
	case errors.Is(err, fasthttp.ErrBodyTooLarge):
		fail(ctx, wire.NewProblem(wire.TooLarge, "the body is over %d bytes", maxBody))
	case errors.As(err, &small):
		fail(ctx, wire.NewProblem(wire.TooLarge, "the headers are over %d bytes", maxHeader))
	default:
		fail(ctx, wire.NewProblem(wire.InvalidRequest, "%s", err))
	}
}

// handle answers one request.
func (s *Server) handle(ctx *fasthttp.RequestCtx) {
	defer func() {
		if p := recover(); p != nil {
			s.Log.Error("panic", "path", string(ctx.Path()), "value", p, "stack", string(debug.Stack()))
			ctx.Response.Reset()
			fail(ctx, wire.NewProblem(wire.Internal, "the daemon failed: %v", p))
		}
	}()
	s.last.Store(time.Now().Unix())
	if conn, ok := ctx.Conn().(*net.UnixConn); ok {
		if err := feed.CheckPeer(conn, s.AllowUID); err != nil {
			fail(ctx, feed.ProblemOf(err))
			return
		}
	}
	if err := s.route(ctx); err != nil {
		p := problemOf(err)
		if p.Type == wire.Internal {
			s.Log.Error("request failed", "path", string(ctx.Path()), "error", err)
		}
		fail(ctx, p)
	}
}

var daemonRoutes = []route{
	{"GET", "/v1/health", plain((*Server).health)},
	{"GET", "/v1/openapi.json", plain((*Server).openapi)},
	{"POST", "/v1/stop", plain((*Server).stop)},
}

func (s *Server) health(ctx *fasthttp.RequestCtx) error {
	return reply(ctx, 200, wire.Health{Status: "ok", Version: s.Version, Protocol: wire.Protocol, PID: os.Getpid(), Dir: s.Store.Dir(), UptimeS: time.Since(s.started).Seconds()})
}

func (s *Server) stop(ctx *fasthttp.RequestCtx) error {
	s.Stop()
	return reply(ctx, 202, wire.Stopping{PID: os.Getpid()})
}

// read takes the request's JSON; unknown fields are refused.
func read(ctx *fasthttp.RequestCtx, into any) error {
	err := wire.Strict(ctx.PostBody(), into)
	if field := (*wire.FieldError)(nil); errors.As(err, &field) && field.Field != "" {
		return wire.NewProblem(wire.InvalidRequest, "%s", err).WithField(field.Field)
	}
	if err != nil {
		return wire.NewProblem(wire.InvalidRequest, "the body: %s", err)
	}
	return nil
}

func reply(ctx *fasthttp.RequestCtx, status int, body any) error {
	b, err := json.Marshal(body)
	if err != nil {
		return err
	}
	ctx.SetStatusCode(status)
	ctx.SetContentType("application/json")
	ctx.SetBody(append(b, '\n'))
	return nil
}

func fail(ctx *fasthttp.RequestCtx, p *wire.Problem) {
	b, err := json.Marshal(p)
	if err != nil { // strings and numbers always marshal
		b = []byte(`{"type":"internal","title":"internal error","status":500,"detail":"the problem could not be written"}`)
	}
	ctx.SetStatusCode(p.Status)
	ctx.SetContentType("application/problem+json")
	ctx.SetBody(append(b, '\n'))
}
