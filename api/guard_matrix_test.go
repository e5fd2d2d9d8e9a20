package api

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The guard is compared with a model: each form of a header field is good or bad, and one function
// says what follows from all of them.

// headerForm is one way to write a part of a header. %s stands for the value that it means.
type headerForm struct {
	name   string
	fields []string
	good   bool
}

// originForms are origins as browsers send them. A request with a cookie may change something only
// if it comes from the dashboard.
var originForms = []struct {
	headerForm
	dashboard bool
}{
	{headerForm{"none", nil, true}, false},
	{headerForm{"own", []string{"Origin: http://%s"}, true}, true},
	{headerForm{"own, fetched", []string{"Origin: http://%s", "Sec-Fetch-Site: same-origin"},
		true}, true},
	{headerForm{"same origin", []string{"sec-fetch-site: same-origin"}, true}, true},
	{headerForm{"typed", []string{"Sec-Fetch-Site: none"}, true}, false},
	{headerForm{"null", []string{"Origin: null"}, false}, false},
	{headerForm{"empty", []string{"Origin: "}, false}, false},
	{headerForm{"foreign", []string{"Origin: http://evil.example"}, false}, false},
	{headerForm{"own by TLS", []string{"Origin: https://%s"}, false}, false},
	{headerForm{"other port", []string{"Origin: http://127.0.0.1:1"}, false}, false},
	{headerForm{"own and more", []string{"Origin: http://%s.evil.example"}, false}, false},
	{headerForm{"two", []string{"Origin: http://%s", "Origin: http://evil.example"}, false}, false},
	{headerForm{"cross-site", []string{"Sec-Fetch-Site: cross-site"}, false}, false},
	{headerForm{"same site", []string{"Sec-Fetch-Site: same-site"}, false}, false},
	{headerForm{"own, cross-site", []string{"Origin: http://%s", "Sec-Fetch-Site: cross-site"},
		false}, false},
	{
		headerForm{
			"fetched twice",
			[]string{"Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: cross-site"},
			false,
		},
		false,
	},
}

// hostForms returns Host fields for a server on a port.
func hostForms(port string) []headerForm {
	one := func(value string, good bool) headerForm {
		return headerForm{value,
			[]string{"Host: " + value}, good}
	}
	return []headerForm{
		one("127.0.0.1:"+port, true), one("localhost:"+port, true), one("[::1]:"+port, true),
		{"none", nil, false},
		{"two", []string{"Host: 127.0.0.1:" + port, "Host: 127.0.0.1:" + port}, false},
		{"a foreign one behind", []string{"Host: 127.0.0.1:" + port, "HOST: evil.example"}, false},
		one("", false), one("127.0.0.1", false), one("127.0.0.1:1", false),
		one("localhost.:"+port, false), one("127.0.0.1.:"+port, false),
		one("LOCALHOST:"+port, false),
		one("u@127.0.0.1:"+port, false), one("u:p@localhost:"+port, false),
		one("evil.example:"+port, false), one("localhost.evil.example:"+port, false),
		one("127.0.0.1:"+port+"@evil.example", false), one("::1:"+port, false),
		one("127.1:"+port, false), one("0.0.0.0:"+port, false), one("localhost:"+port+"/", false),
		one("localhost:"+port+", evil.example", false),
	}
}

// Senders of a request.
const (
	anonymous = iota
	program
	browser
)

type credentialForm struct {
	name   string
	fields []string
	who    int
}

func credentialForms(token, cookie, session string) []credentialForm {
	last := map[byte]string{'0': "1"}[token[63]]
	if last == "" {
		last = "0"
	}
	return []credentialForm{
		{"bearer", []string{"Authorization: Bearer " + token}, program},
		{"bearer and a stale cookie",
			[]string{"Authorization: Bearer " + token, "Cookie: " + cookie + "=stale"}, program},
		{"cookie", []string{"Cookie: " + cookie + "=" + session}, browser},
		{"cookie among others", []string{"Cookie: a=b; " + cookie + "=stale; " + cookie + "=" +
			session}, browser},
		{"none", nil, anonymous},
		{"one digit wrong", []string{"Authorization: Bearer " + token[:63] + last}, anonymous},
		{"one digit less", []string{"Authorization: Bearer " + token[:63]}, anonymous},
		{"one digit more", []string{"Authorization: Bearer " + token + "0"}, anonymous},
		{"without its scheme", []string{"Authorization: " + token}, anonymous},
		{"empty", []string{"Authorization: Bearer "}, anonymous},
		{"basic", []string{"Authorization: Basic " + token}, anonymous},
		{"twice", []string{"Authorization: Bearer " + token, "Authorization: Bearer " + token},
			anonymous},
		{"in another field", []string{"X-Token: " + token, "Proxy-Authorization: Bearer " + token},
			anonymous},
		{"wrong with a good cookie", []string{"Authorization: Bearer x", "Cookie: " + cookie + "=" +
			session}, anonymous},
		{"stale cookie", []string{"Cookie: " + cookie + "=stale"}, anonymous},
		{"cookie of another port", []string{"Cookie: tensorcache-1=" + session}, anonymous},
		{"token as a cookie", []string{"Cookie: " + cookie + "=" + token}, anonymous},
	}
}

// wantedStatus is the model: first the origin must be allowed, then the credentials. It returns 0
// for the status of the route.
func wantedStatus(method, path string, host, origin, dashboard bool, who int) int {
	safe := method == "GET" || method == "HEAD"
	switch {
	case !host || !origin:
		return 403
	case safe && path == "/login":
		return 401 // without a key, which is the credential of a GET
	case who == anonymous:
		return 401
	case who == browser && !safe && !dashboard:
		return 403
	case method == "POST" && path == "/v1/ui":
		return 403 // allowed over the socket only
	}
	return 0
}

func TestEveryRouteMethodHostOriginAndTokenTogether(t *testing.T) {
	w := newWorld(t)
	d := w.openTCP()
	session, ok := w.server.guard.sessions.redeem(w.server.guard.sessions.newKey())
	if !ok {
		t.Fatal("no session")
	}
	port := d.addr[strings.LastIndex(d.addr, ":")+1:]
	hosts, tokens := hostForms(port), credentialForms(d.token, w.server.guard.cookie, session)

	type place struct{ method, path string }
	var places []place
	known := map[place]bool{}
	for _, r := range routes {
		known[place{r.method, r.path}] = true
		for _, m := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS",
			"TRACE", "PROPFIND"} {
			if p := (place{m, r.path}); !slices.Contains(places, p) {
				places = append(places, p)
			}
		}
	}
	for _, m := range []string{"GET", "POST", "OPTIONS", "TRACE"} {
		for _, path := range []string{"/", "/v1", "/nothing", "/assets/none.js",
			"/v1/datasets/a/b/c", "/login/more", "/metrics"} {
			places = append(places, place{m, path})
		}
	}

	rows, served := 0, 0
	try := func(at place, host, origin headerForm, dashboard bool, token credentialForm) {
		rows++
		path := strings.NewReplacer("{name}", "none", "{id}", "none", "{file}", "none").
			Replace(at.path)
		fields := slices.Concat(host.fields, origin.fields, token.fields)
		for i, f := range fields {
			own := "127.0.0.1:" + port
			if host.good {
				own = host.name
			}
			fields[i] = strings.ReplaceAll(f, "%s", own)
		}
		res := d.sendRaw(headerLines(fmt.Sprintf("%s %s HTTP/1.1", at.method, path), fields...))
		want, got := wantedStatus(at.method, path, host.good, origin.good, dashboard, token.who),
			res.StatusCode
		switch {
		case want != 0 && got == want:
		// GET /v1/ready fails after a request of POST /v1/stop
		case want == 0 && got != 401 && got != 403 && (got < 500 || at.path == "/v1/ready"):
			served++
		default:
			t.Errorf("%s %s, host %s, origin %s, token %s: answered %d, want %d", at.method, path,
				host.name, origin.name, token.name, got, want)
		}
		for _, h := range securityHeaders {
			if res.Header.Get(h[0]) != h[1] {
				t.Errorf("%s %s: %s: %q", at.method, path, h[0], res.Header.Get(h[0]))
			}
		}
	}

	// All routes with each kind of credentials.
	for _, at := range places {
		for _, token := range []credentialForm{tokens[0], tokens[4]} {
			try(at, hosts[0], originForms[0].headerForm, false, token)
		}
		try(at, hosts[15], originForms[0].headerForm, false, tokens[0])
		try(at, hosts[0], originForms[7].headerForm, false, tokens[2])
		try(at, hosts[1], originForms[0].headerForm, false, tokens[2])
		try(at, hosts[2], originForms[1].headerForm, true, tokens[2])
	}
	// All pairs of forms of header fields, on different routes. A bad form must be refused on every
	// route.
	next := 0
	turn := func() place { next++; return places[next%len(places)] }
	for _, host := range hosts {
		for _, origin := range originForms {
			try(turn(), host, origin.headerForm, origin.dashboard, tokens[next%len(tokens)])
		}
		for _, token := range tokens {
			o := originForms[next%len(originForms)]
			try(turn(), host, o.headerForm, o.dashboard, token)
		}
	}
	for _, origin := range originForms {
		for _, token := range tokens {
			try(turn(), hosts[next%3], origin.headerForm, origin.dashboard, token)
		}
	}
	if t.Logf("%d rows, %d of them served", rows, served); rows < 500 || served < 100 ||
		served > rows/2 {
		t.Error("the matrix has lost its balance")
	}
}
