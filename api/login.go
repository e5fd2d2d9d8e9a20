package api

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"

	"github.com/valyala/fasthttp"

	"github.com/tensorcache/tensorcache/internal/wire"
)

const loginPath = "/login"

var loginRoutes = []route{
	{"POST", "/v1/ui", noArg((*Server).ui)},
	{"GET", loginPath, noArg((*Server).login)},
}

// ui returns an address that opens the dashboard once, within keyLifetime. Over TCP it is refused,
// because the key would remain valid after the cookie of the request.
func (s *Server) ui(ctx *fasthttp.RequestCtx) error {
	if isTCP(ctx) {
		return forbidden("logins are available over the control socket only").
			WithHint("run tensorcache ui on the daemon's machine")
	}
	addr, err := s.OpenTCP(anyLoopbackPort)
	if errors.Is(err, ErrToken) {
		return forbidden("%s", err).WithHint(HintToken)
	}
	if err != nil {
		return err
	}
	return reply(ctx, 200,
		wire.UI{URL: "http://" + addr + loginPath + "?key=" + s.guard.sessions.newKey()})
}

// login exchanges a one-time key for a cookie that scripts cannot read and pages of other sites do
// not send.
func (s *Server) login(ctx *fasthttp.RequestCtx) error {
	if !isTCP(ctx) {
		return wire.NewProblem(wire.NotFound, "there is no route %s over the control socket",
			loginPath).WithHint("tensorcache ui gives an address that logs a browser in, over TCP")
	}
	var session string
	ok := false
	if !ctx.IsHead() { // must not change anything
		session, ok = s.guard.sessions.redeem(string(ctx.QueryArgs().Peek("key")))
	}
	if !ok {
		loginPage(ctx)
		return nil
	}
	var c fasthttp.Cookie
	c.SetKey(s.guard.cookie)
	c.SetValue(session)
	c.SetPath("/")
	c.SetHTTPOnly(true)
	c.SetSameSite(fasthttp.CookieSameSiteStrictMode)
	ctx.Response.Header.SetCookie(&c)
	// the browser keeps the fragment of its address, which says what to show
	ctx.Response.Header.Set(fasthttp.HeaderLocation, "/")
	ctx.SetStatusCode(fasthttp.StatusSeeOther)
	return nil
}

// loginStyle is the style of the login page, which has no other file: those of the dashboard need a
// login. It follows the system's colours.
const loginStyle = `
:root { color-scheme: light dark; --page: #ffffff; --text: #1b2430; --accent: #1f5f99; }
@media (prefers-color-scheme: dark) {
  :root { --page: #14181e; --text: #e4e8ee; --accent: #7db8ee; }
}
html { font: 16px/1.5 system-ui, sans-serif; background: var(--page); color: var(--text); }
body { max-width: 36rem; margin: 4rem auto; padding: 0 1.25rem; }
h1 { font-size: 1.5rem; font-weight: 600; }
a { color: var(--accent); }
code { font-family: ui-monospace, monospace; font-size: .92em; }
`

// hashSource returns the source of a content security policy that allows one inline style.
func hashSource(style string) string {
	hash := sha256.Sum256([]byte(style))
	return "'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "'"
}

// loginPage answers with a page that says how to log in.
func loginPage(ctx *fasthttp.RequestCtx) {
	ctx.SetStatusCode(fasthttp.StatusUnauthorized)
	ctx.SetContentType("text/html; charset=utf-8")
	ctx.SetBodyString(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>tensorcache: not logged in</title>
<link rel="icon" href="data:,">
<style>` + loginStyle + `</style>
</head>
<body>
<main>
<h1>Not logged in</h1>
<p>Run <code>tensorcache ui</code> again. It prints an address that opens the dashboard once,
within a minute. This address was used before, is too old, or has no key.</p>
<p>If this browser is logged in already, go to <a href="/">the dashboard</a>.</p>
</main>
</body>
</html>
`)
	ctx.SetConnectionClose()
}
