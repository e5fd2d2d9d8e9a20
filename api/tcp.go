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

// ErrAddress is returned for an address that is none of the loopback's.
var ErrAddress = errors.New("not a loopback address")

// anyPort is where the dashboard is served when no address was asked for.
const anyLoopbackPort = "127.0.0.1:0"

// headers go with every answer over TCP: a browser runs and shows nothing there but the dashboard's
// own files, and hands its answers to no other page.
var securityHeaders = [][2]string{
	{"Content-Security-Policy",
		"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; font-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"},
	{"X-Content-Type-Options", "nosniff"},
	{"Referrer-Policy", "no-referrer"},
	{"X-Frame-Options", "DENY"},
	{"Cross-Origin-Opener-Policy", "same-origin"},
	{"Cross-Origin-Resource-Policy", "same-origin"},
}

// strangersBody is as much as is read, and dropped, of the body of a request that is refused: a
// client hears why once it has sent it.
const maxRefusedBody = 4 << 10

// CheckAddress refuses an address that is not 127.0.0.1 or ::1 with a port, of which 0 is any.
func CheckAddress(addr string) error {
	a, err := netip.ParseAddrPort(addr)
	if err != nil || a.Addr() != netip.AddrFrom4([4]byte{127, 0, 0, 1}) &&
		a.Addr() != netip.IPv6Loopback() {
		return fmt.Errorf("%w: got %q, want 127.0.0.1:PORT or [::1]:PORT", ErrAddress, addr)
	}
	return nil
}

// newTCP makes the server that OpenTCP lets answer.
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

// OpenTCP answers on a loopback address too, with the token's check before everything, until Close.
// Where it does so already it only says on which. The error wraps ErrAddress, ErrToken or that of
// listening.
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

// handleTCP answers one request over TCP, if the guard lets it in.
func (s *Server) handleTCP(ctx *fasthttp.RequestCtx) {
	defer setSecurityHeaders(ctx)
	if p := s.guard.check(&ctx.Request.Header); p != nil {
		refuseRequest(ctx, p)
		return
	}
	s.serve(ctx)
}

// tcpError answers what could not be read. What the guard refuses is told so, whatever else was
// wrong with it.
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

// turnAway refuses a request and whatever else comes on its connection. Somebody with a browser
// reads a page.
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

// harden adds what every answer over TCP says to browsers.
func setSecurityHeaders(ctx *fasthttp.RequestCtx) {
	h := &ctx.Response.Header
	for _, f := range securityHeaders {
		h.Set(f[0], f[1])
	}
	if len(h.Peek(fasthttp.HeaderCacheControl)) == 0 {
		h.Set(fasthttp.HeaderCacheControl, "no-store")
	}
}

// otherUser is the key of what a request of another user is marked with.
const otherUserKey = "other user"

// reach is which files a request may have loaded: over the socket any that the daemon can read, for
// the caller could read them too unless it is another user.
func (s *Server) allowedRoots(ctx *fasthttp.RequestCtx) ingest.AllowedRoots {
	other, _ := ctx.UserValue(otherUserKey).(bool)
	return ingest.AllowedRoots{Limited: isTCP(ctx) || other, Roots: s.Roots}
}

// isTCP tells whether a request came over TCP, and not over the control socket.
func isTCP(ctx *fasthttp.RequestCtx) bool {
	_, is := ctx.LocalAddr().(*net.TCPAddr)
	return is
}
