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

// guard decides whether a request over TCP is looked at, by its header alone and before any route
// is looked for: whatever is not allowed is refused, on every path and method. Any web page that a
// user has open, and any other user of the machine, reaches a loopback port. docs/OPERATIONS.md
// tells against what each rule stands.
type guard struct {
	hosts    []string // what a Host header may be
	cookie   string
	token    secretHash
	sessions *sessionTable
}

// cookieName begins the name of the dashboard's cookie; a port follows, since a browser sends the
// cookies of a host to all its ports.
const cookieName = "tensorcache-"

// What to do about a request from a foreign place.
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

// refuse says why a request is not looked at; nil lets it in. Who asks from a foreign place is not
// told whether the token was right.
func (g *guard) check(h *fasthttp.RequestHeader) *wire.Problem {
	if p := g.checkOrigin(h); p != nil {
		return p
	}
	if isLogin(h) { // its key is what it is let in by
		return nil
	}
	if p := g.checkCredentials(h); p != nil {
		return p
	}
	if hasHeaderLine(h, fasthttp.HeaderTransferEncoding) {
		return wire.NewProblem(wire.InvalidRequest,
			"transfer-encoding: a body in chunks is not read over TCP").WithHint(
			"send it with its Content-Length")
	}
	if h.ContentLength() > 0 && !isJSON(h.ContentType()) {
		return wire.NewProblem(wire.UnsupportedMedia, "content-type: got %s, want application/json",
			quoteHeader(h.ContentType()))
	}
	return nil
}

// refusePlace holds the request to what a page of this very server, or a program of this machine,
// sends: a name that was made to lead here (DNS rebinding) has another Host, a foreign page another
// Origin.
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

// refuseStranger wants the token or the dashboard's cookie.
func (g *guard) checkCredentials(h *fasthttp.RequestHeader) *wire.Problem {
	if given := h.PeekAll(fasthttp.HeaderAuthorization); len(given) > 0 {
		scheme, token, _ := strings.Cut(string(given[0]), " ")
		switch sent := hashSecret(token); {
		case len(given) > 1:
			return unauthorized("authorization: got it more than once")
		// of which nothing is quoted: it may be the token
		case !strings.EqualFold(scheme, "Bearer"):
			return unauthorized("authorization: got another scheme than Bearer")
		case subtle.ConstantTimeCompare(sent[:], g.token[:]) == 1:
			return nil
		}
		return unauthorized("the token is wrong")
	}
	if !g.hasSession(h) {
		return unauthorized("a token is wanted")
	}
	// A browser adds a cookie to what any page makes it send, so whatever changes something must
	// say that it comes from the dashboard.
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
		WithHint("send Authorization: Bearer with what the file %s in the cache directory holds, or open the dashboard with tensorcache ui", TokenFile)
}

func forbidden(format string, args ...any) *wire.Problem {
	return wire.NewProblem(wire.Forbidden, format, args...)
}

// quoted is a header's value for a message.
func quoteHeader(value []byte) string {
	if len(value) > maxQuoted {
		return fmt.Sprintf("%.*q…", maxQuoted, value)
	}
	return fmt.Sprintf("%q", value)
}

// isLogin tells whether a request is for the page that makes a session.
func isLogin(h *fasthttp.RequestHeader) bool {
	path, _, _ := bytes.Cut(h.RequestURI(), []byte("?"))
	return string(h.Method()) == "GET" && string(path) == loginPath
}

// isJSON tells whether a media type is JSON's, whatever its parameters.
func isJSON(media []byte) bool {
	name, _, _ := bytes.Cut(media, []byte(";"))
	return bytes.EqualFold(bytes.TrimSpace(name), []byte("application/json"))
}

// hasField looks for a field in the header as it came: fasthttp drops some of those that it acts
// on.
func hasHeaderLine(h *fasthttp.RequestHeader, name string) bool {
	for line := range bytes.Lines(h.RawHeaders()) {
		if field, _, ok := bytes.Cut(line, []byte(":")); ok &&
			bytes.EqualFold(field, []byte(name)) {
			return true
		}
	}
	return false
}
