package api

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"

	"github.com/valyala/fasthttp"

	"github.com/tensorcache/tensorcache/internal/ingest"
	"github.com/tensorcache/tensorcache/internal/machine"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/store"
)

// ErrAddress is returned for an address that is not a loopback address.
var ErrAddress = errors.New("not a loopback address")

// anyLoopbackPort is the address of the dashboard if no address was given.
const anyLoopbackPort = "127.0.0.1:0"

// securityHeaders are sent with each response over TCP. They limit a browser to the dashboard's own
// files and the style of the login page, and keep pages of other origins from reading responses.
var securityHeaders = [][2]string{
	{"Content-Security-Policy",
		"default-src 'none'; script-src 'self'; style-src 'self' " + hashSource(loginStyle) +
			"; connect-src 'self'; img-src 'self' data:; font-src 'self'; " +
			"frame-ancestors 'none'; base-uri 'none'; form-action 'self'"},
	{"X-Content-Type-Options", "nosniff"},
	{"Referrer-Policy", "no-referrer"},
	{"X-Frame-Options", "DENY"},
	{"Cross-Origin-Opener-Policy", "same-origin"},
	{"Cross-Origin-Resource-Policy", "same-origin"},
}

// maxRefusedBody is how much of the body of a refused request is read and discarded. A client reads
// the response only after it has sent the body.
const maxRefusedBody = 4 << 10

// CheckAddress refuses an address other than 127.0.0.1 or ::1 with a port. Port 0 means any.
func CheckAddress(addr string) error {
	a, err := netip.ParseAddrPort(addr)
	if err != nil || a.Addr() != netip.AddrFrom4([4]byte{127, 0, 0, 1}) &&
		a.Addr() != netip.IPv6Loopback() {
		return fmt.Errorf("%w: got %q, want 127.0.0.1:PORT or [::1]:PORT", ErrAddress, addr)
	}
	return nil
}

// newTCP returns the server that OpenTCP starts.
func (s *Server) newTCP() *fasthttp.Server {
	h := s.newHTTP(s.handleTCP, s.tcpError, idleTimeoutTCP)
	h.HeaderReceived = func(h *fasthttp.RequestHeader) fasthttp.RequestConfig {
		if s.guard.check(h) != nil {
			return fasthttp.RequestConfig{ReadTimeout: s.tcp.ReadTimeout,
				MaxRequestBodySize: maxRefusedBody}
		}
		return fasthttp.RequestConfig{
			ReadTimeout:        s.bodyTimeout,
			MaxRequestBodySize: maxBodyBytesTCP,
		}
	}
	return h
}

// OpenTCP serves over TCP on a loopback address, with the guard before all routes, until Close. If
// it does already, it returns the address in use. The error wraps ErrAddress, ErrToken or the error
// of listening.
func (s *Server) OpenTCP(addr string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return "", store.ErrClosed
	}
	if s.tcpConns != nil {
		return s.tcpConns.Addr().String(), nil
	}
	if err := CheckAddress(addr); err != nil {
		return "", err
	}
	token, err := readToken(s.Store.Dir())
	if err != nil {
		return "", err
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return "", err
	}
	at := l.Addr().(*net.TCPAddr)
	_, descriptors := machine.Descriptors()
	s.guard = newGuard(token, at.Port)
	s.tcpConns = limitConnections(l, s.Log, maxTCPConns, descriptors)
	s.servingTCP.Go(func() {
		if err := s.tcp.Serve(s.tcpConns); err != nil {
			s.Log.Error("serve over TCP", "error", err)
		}
	})
	s.Log.Info("serving over TCP", "http", at.String())
	if s.Opened != nil {
		s.Opened(at.String())
	}
	return at.String(), nil
}

// handleTCP answers a request over TCP if the guard allows it.
func (s *Server) handleTCP(ctx *fasthttp.RequestCtx) {
	defer setSecurityHeaders(ctx)
	if p := s.guard.check(&ctx.Request.Header); p != nil {
		refuseRequest(ctx, p)
		return
	}
	s.serve(ctx)
}

// tcpError answers a request that could not be read. If the guard refuses it, the answer says so,
// and not what else is wrong.
func (s *Server) tcpError(ctx *fasthttp.RequestCtx, err error) {
	defer setSecurityHeaders(ctx)
	if text := err.Error(); strings.Contains(text, "too many host headers") ||
		strings.Contains(text, "missing required host header in request") {
		refuseRequest(ctx, forbidden("host: got none or several, want one").WithHint(hintHost))
		return
	}
	if h := &ctx.Request.Header; len(h.RawHeaders()) > 0 { // the header was read
		if p := s.guard.check(h); p != nil {
			refuseRequest(ctx, p)
			return
		}
	}
	protocolError(ctx, err, maxBodyBytesTCP)
}

// refuseRequest refuses a request and closes its connection. A browser gets a page.
func refuseRequest(ctx *fasthttp.RequestCtx, p *wire.Problem) {
	if p.Type == wire.Unauthorized {
		ctx.Response.Header.Set(fasthttp.HeaderWWWAuthenticate, `Bearer realm="tensorcache"`)
		if strings.Contains(string(ctx.Request.Header.Peek(fasthttp.HeaderAccept)), "text/html") {
			loginPage(ctx)
			return
		}
	}
	replyProblem(ctx, p)
	ctx.SetConnectionClose()
}

// setSecurityHeaders adds the security headers, and forbids caching unless the response allows it.
func setSecurityHeaders(ctx *fasthttp.RequestCtx) {
	h := &ctx.Response.Header
	for _, f := range securityHeaders {
		h.Set(f[0], f[1])
	}
	if len(h.Peek(fasthttp.HeaderCacheControl)) == 0 {
		h.Set(fasthttp.HeaderCacheControl, "no-store")
	}
}

// otherUserKey is the key of the user value that marks a request of another user.
const otherUserKey = "other user"

// allowedRoots returns which files a request may load: over TCP and for other users those below
// Config.Roots. Over the socket, the daemon's own user may load all files that the daemon can read,
// because this user can read them anyway.
func (s *Server) allowedRoots(ctx *fasthttp.RequestCtx) ingest.AllowedRoots {
	otherUser, _ := ctx.UserValue(otherUserKey).(bool)
	return ingest.AllowedRoots{Limited: isTCP(ctx) || otherUser, Roots: s.Roots}
}

// setOtherUser marks whether another user than the daemon's made the request. Its parameter gives
// the user value the type that allowedRoots expects.
func setOtherUser(ctx *fasthttp.RequestCtx, other bool) { ctx.SetUserValue(otherUserKey, other) }

// isTCP reports whether a request came over TCP and not over the control socket.
func isTCP(ctx *fasthttp.RequestCtx) bool {
	_, is := ctx.LocalAddr().(*net.TCPAddr)
	return is
}
