package api

import (
	"bytes"
	"crypto/subtle"
	"fmt"
	"slices"
	"strings"

	"github.com/valyala/fasthttp"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// guard checks the header of each request over TCP before a route is looked up, on every path and
// method. It is needed because any web page that a user has open, and any other user of the
// machine, can connect to a loopback port. docs/OPERATIONS.md says which attack each rule prevents.
type guard struct {
	hosts    []string // allowed values of the Host header
	cookie   string
	token    secretHash
	sessions *sessionTable
}

// cookieName is the first part of the name of the dashboard's cookie. The port follows, because a
// browser sends the cookies of a host to all its ports.
const cookieName = "tensorcache-"

// Hints for requests from another origin.
const (
	hintHost = "ask by one of these names and the daemon's own port, which a tunnel must keep"
	hintPage = "other pages may not ask; tensorcache ui opens the dashboard itself"
)

func newGuard(token string, port int) *guard {
	g := &guard{
		cookie:   fmt.Sprint(cookieName, port),
		token:    hashSecret(token),
		sessions: newSessionTable(),
	}
	for _, name := range []string{"127.0.0.1", "localhost", "[::1]"} {
		g.hosts = append(g.hosts, fmt.Sprint(name, ":", port))
	}
	return g
}

// check returns the problem of a request that is refused, or nil. It checks the origin first, so
// that a foreign page does not learn whether its token is right.
func (g *guard) check(h *fasthttp.RequestHeader) *wire.Problem {
	if p := g.checkOrigin(h); p != nil {
		return p
	}
	if isLogin(h) { // its one-time key is the credential
		return nil
	}
	if p := g.checkCredentials(h); p != nil {
		return p
	}
	if hasHeaderLine(h, fasthttp.HeaderTransferEncoding) {
		return wire.NewProblem(wire.InvalidRequest,
			"transfer-encoding: chunked bodies are not accepted over TCP").WithHint(
			"send it with its Content-Length")
	}
	if h.ContentLength() > 0 && !isJSON(h.ContentType()) {
		return wire.NewProblem(wire.UnsupportedMedia, "content-type: got %s, want application/json",
			quoteHeader(h.ContentType()))
	}
	return nil
}

// checkOrigin requires what a page of this server or a local program sends. A name that resolves to
// this address (DNS rebinding) has another Host; a foreign page has another Origin.
func (g *guard) checkOrigin(h *fasthttp.RequestHeader) *wire.Problem {
	if target := h.RequestURI(); target[0] != '/' || bytes.HasPrefix(target, []byte("//")) {
		return forbidden("request target: got %s, want a path", quoteHeader(target)).
			WithHint("send the path alone, not as to a proxy")
	}
	host := string(h.Host())
	if !slices.Contains(g.hosts, host) {
		return forbidden(
			"host: got %s, want %s",
			quoteHeader(h.Host()),
			strings.Join(g.hosts, ", "),
		).
			WithHint(hintHost)
	}
	if origins := h.PeekAll(fasthttp.HeaderOrigin); len(origins) > 1 || len(origins) == 1 &&
		string(origins[0]) != "http://"+host {
		return forbidden("origin: got %s, want http://%s or none", quoteHeader(origins[0]), host).
			WithHint(hintPage)
	}
	for _, site := range h.PeekAll("Sec-Fetch-Site") {
		if s := string(site); s != "same-origin" && s != "none" {
			return forbidden("sec-fetch-site: got %s, want same-origin or none", quoteHeader(site)).
				WithHint(hintPage)
		}
	}
	return nil
}

// checkCredentials requires the token or a session cookie.
func (g *guard) checkCredentials(h *fasthttp.RequestHeader) *wire.Problem {
	if values := h.PeekAll(fasthttp.HeaderAuthorization); len(values) > 0 {
		scheme, token, _ := strings.Cut(string(values[0]), " ")
		switch sent := hashSecret(token); {
		case len(values) > 1:
			return unauthorized("authorization: got it more than once")
		// not quoted, because the value may be the token
		case !strings.EqualFold(scheme, "Bearer"):
			return unauthorized("authorization: got another scheme than Bearer")
		case subtle.ConstantTimeCompare(sent[:], g.token[:]) == 1:
			return nil
		}
		return unauthorized("the token is wrong")
	}
	if !g.hasSession(h) {
		return unauthorized("a token is required")
	}
	// A browser sends a cookie with requests of any page, so a request that changes something must
	// prove that it comes from the dashboard.
	if m := string(h.Method()); m != "GET" && m != "HEAD" &&
		len(h.Peek(fasthttp.HeaderOrigin)) == 0 &&
		string(h.Peek("Sec-Fetch-Site")) != "same-origin" {
		return forbidden("origin: got none with a cookie, want that of the dashboard").
			WithHint("a program sends the token in place of the cookie")
	}
	return nil
}

func (g *guard) hasSession(h *fasthttp.RequestHeader) bool {
	for name, value := range h.Cookies() {
		if string(name) == g.cookie && g.sessions.isValid(value) {
			return true
		}
	}
	return false
}

func unauthorized(detail string) *wire.Problem {
	return wire.NewProblem(wire.Unauthorized, "%s", detail).
		WithHint("send Authorization: Bearer with what the file %s in the cache directory holds, "+
			"or open the dashboard with tensorcache ui", TokenFile)
}

func forbidden(format string, args ...any) *wire.Problem {
	return wire.NewProblem(wire.Forbidden, format, args...)
}

// quoteHeader returns the value of a header as messages quote it.
func quoteHeader(value []byte) string {
	if len(value) > maxQuoted {
		return fmt.Sprintf("%.*q…", maxQuoted, value)
	}
	return fmt.Sprintf("%q", value)
}

// isLogin reports whether a request is for the page that makes a session.
func isLogin(h *fasthttp.RequestHeader) bool {
	path, _, _ := bytes.Cut(h.RequestURI(), []byte("?"))
	return string(h.Method()) == "GET" && string(path) == loginPath
}

// isJSON reports whether a media type is JSON, with any parameters.
func isJSON(media []byte) bool {
	name, _, _ := bytes.Cut(media, []byte(";"))
	return bytes.EqualFold(bytes.TrimSpace(name), []byte("application/json"))
}

// hasHeaderLine reports whether the header has a field as it was received. fasthttp removes some of
// the fields that it handles itself.
func hasHeaderLine(h *fasthttp.RequestHeader, name string) bool {
	for line := range bytes.Lines(h.RawHeaders()) {
		if fieldName, _, ok := bytes.Cut(line, []byte(":")); ok &&
			bytes.EqualFold(fieldName, []byte(name)) {
			return true
		}
	}
	return false
}
