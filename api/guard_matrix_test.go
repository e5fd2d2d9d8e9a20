package api

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The matrix is held to a model of its own: what each form of a field is worth, and one rule of how
// they add up.

// form is one way to write a part of a request's header. Where %s stands in it, the value that is
// meant stands.
type form struct {
	name   string
	fields []string
	good   bool
}

// origins are what browsers say of where a request comes from. From the dashboard is stronger than
// good: it may change things with a cookie.
var origins = []struct {
	form
	dashboard bool
}{
	{form{"none", nil, true}, false},
	{form{"own", []string{"Origin: http://%s"}, true}, true},
	{form{"own, fetched", []string{"Origin: http://%s", "Sec-Fetch-Site: same-origin"},
		true}, true},
	{form{"same origin", []string{"sec-fetch-site: same-origin"}, true}, true},
	{form{"typed", []string{"Sec-Fetch-Site: none"}, true}, false},
	{form{"null", []string{"Origin: null"}, false}, false},
	{form{"empty", []string{"Origin: "}, false}, false},
	{form{"foreign", []string{"Origin: http://evil.example"}, false}, false},
	{form{"own by TLS", []string{"Origin: https://%s"}, false}, false},
	{form{"other port", []string{"Origin: http://127.0.0.1:1"}, false}, false},
	{form{"own and more", []string{"Origin: http://%s.evil.example"}, false}, false},
	{form{"two", []string{"Origin: http://%s", "Origin: http://evil.example"}, false}, false},
	{form{"cross-site", []string{"Sec-Fetch-Site: cross-site"}, false}, false},
	{form{"same site", []string{"Sec-Fetch-Site: same-site"}, false}, false},
	{form{"own, cross-site", []string{"Origin: http://%s", "Sec-Fetch-Site: cross-site"},
		false}, false},
	{form{"fetched twice", []string{"Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: cross-site"},
		false}, false},
}

// hosts are made for an address that ends in port.
func hostForms(port string) []form {
	one := func(value string, good bool) form {
		return form{value,
			[]string{"Host: " + value}, good}
	}
	return []form{
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

// Who asks.
const (
	nobody = iota
	program
	browser
)

type tokenForm struct {
	name   string
	fields []string
	who    int
}

func tokenForms(token, cookie, session string) []tokenForm {
	last := map[byte]string{'0': "1"}[token[63]]
	if last == "" {
		last = "0"
	}
	return []tokenForm{
		{"bearer", []string{"Authorization: Bearer " + token}, program},
		{"bearer and a stale cookie",
			[]string{"Authorization: Bearer " + token, "Cookie: " + cookie + "=stale"}, program},
		{"cookie", []string{"Cookie: " + cookie + "=" + session}, browser},
		{"cookie among others", []string{"Cookie: a=b; " + cookie + "=stale; " + cookie + "=" +
			session}, browser},
		{"none", nil, nobody},
		{"one digit wrong", []string{"Authorization: Bearer " + token[:63] + last}, nobody},
		{"one digit less", []string{"Authorization: Bearer " + token[:63]}, nobody},
		{"one digit more", []string{"Authorization: Bearer " + token + "0"}, nobody},
		{"without its scheme", []string{"Authorization: " + token}, nobody},
		{"empty", []string{"Authorization: Bearer "}, nobody},
		{"basic", []string{"Authorization: Basic " + token}, nobody},
		{"twice", []string{"Authorization: Bearer " + token, "Authorization: Bearer " + token},
			nobody},
		{"in another field", []string{"X-Token: " + token, "Proxy-Authorization: Bearer " + token},
			nobody},
		{"wrong with a good cookie", []string{"Authorization: Bearer x", "Cookie: " + cookie + "=" +
			session}, nobody},
		{"stale cookie", []string{"Cookie: " + cookie + "=stale"}, nobody},
		{"cookie of another port", []string{"Cookie: tensorcache-1=" + session}, nobody},
		{"token as a cookie", []string{"Cookie: " + cookie + "=" + token}, nobody},
	}
}

// want is the model: a place is good or not, then a person is known or not; 0 is whatever the route
// answers.
func want(method, path string, host, origin, dashboard bool, who int) int {
	safe := method == "GET" || method == "HEAD"
	switch {
	case !host || !origin:
		return 403
	case safe && path == "/login":
		return 401 // no key, with which a GET is let in, and nothing else
	case who == nobody:
		return 401
	case who == browser && !safe && !dashboard:
		return 403
	case method == "POST" && path == "/v1/ui":
		return 403 // over the socket only
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
	hosts, tokens := hostForms(port), tokenForms(d.token, w.server.guard.cookie, session)

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
	try := func(at place, host, origin form, dashboard bool, token tokenForm) {
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
		res := d.raw(lines(fmt.Sprintf("%s %s HTTP/1.1", at.method, path), fields...))
		want, got := want(at.method, path, host.good, origin.good, dashboard, token.who),
			res.StatusCode
		switch {
		case want != 0 && got == want:
		// which is not, once the daemon was told to stop
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

	// Every place, by whom it is served and by whom it is not.
	for _, at := range places {
		for _, token := range []tokenForm{tokens[0], tokens[4]} {
			try(at, hosts[0], origins[0].form, false, token)
		}
		try(at, hosts[15], origins[0].form, false, tokens[0])
		try(at, hosts[0], origins[7].form, false, tokens[2])
		try(at, hosts[1], origins[0].form, false, tokens[2])
		try(at, hosts[2], origins[1].form, true, tokens[2])
	}
	// Every two forms of fields together, at places in turn, and a bad one never hidden by which
	// place it is.
	next := 0
	turn := func() place { next++; return places[next%len(places)] }
	for _, host := range hosts {
		for _, origin := range origins {
			try(turn(), host, origin.form, origin.dashboard, tokens[next%len(tokens)])
		}
		for _, token := range tokens {
			o := origins[next%len(origins)]
			try(turn(), host, o.form, o.dashboard, token)
		}
	}
	for _, origin := range origins {
		for _, token := range tokens {
			try(turn(), hosts[next%3], origin.form, origin.dashboard, token)
		}
	}
	if t.Logf("%d rows, %d of them served", rows, served); rows < 500 || served < 100 ||
		served > rows/2 {
		t.Error("the matrix has lost its balance")
	}
}
