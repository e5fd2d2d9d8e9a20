package api

import (
	"bufio"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"
)

// FuzzTheGuard parses requests as the server does and with net/http. What the guard allows must, as
// net/http reads it, have an allowed host and origin, and the token.
func FuzzTheGuard(f *testing.F) {
	token := strings.Repeat("0123456789abcdef", 4)
	g := newGuard(token, 7007)
	for _, fields := range [][]string{
		{"Host: localhost:7007", "Authorization: Bearer " + token},
		{"Host: [::1]:7007", "Origin: http://[::1]:7007", "Authorization: bearer " + token},
		{"Host: 127.0.0.1:7007", "Host: evil.example", "Authorization: Bearer " + token},
		{"Host : 127.0.0.1:7007", "Authorization: Bearer " + token},
		{"Host: 127.0.0.1:7007", "Sec-Fetch-Site: same-origin", "Authorization: Bearer " + token,
			"Content-Length: 2", "Content-Type: application/json"},
		{"Host: 127.0.0.1:7007", "Transfer-Encoding: chunked", "Content-Length: 2",
			"Authorization: Bearer " + token},
		{"Host: 127.0.0.1:7007", "Origin: null", "Authorization: Bearer " + token},
		{"Host: 127.0.0.1:7007", "Cookie: tensorcache-7007=x", "X: y\r\n z"},
	} {
		f.Add("GET /v1/health HTTP/1.1\r\n" + strings.Join(fields, "\r\n") + "\r\n\r\n")
		f.Add("POST http://localhost:7007/login?key=1 HTTP/1.0\n" +
			strings.Join(fields, "\n") + "\n\n{}")
	}
	f.Fuzz(func(t *testing.T, request string) {
		var h fasthttp.RequestHeader
		if h.Read(bufio.NewReaderSize(strings.NewReader(request), maxHeaderBytes)) != nil {
			return
		}
		if g.check(&h) != nil || isLogin(&h) {
			return
		}
		seen, err := http.ReadRequest(bufio.NewReader(strings.NewReader(request)))
		// net/http refuses it, so no other reader can understand it differently
		if err != nil {
			return
		}
		scheme, given, _ := strings.Cut(seen.Header.Get("Authorization"), " ")
		switch origin := seen.Header.Values("Origin"); {
		case !slices.Contains(g.hosts, seen.Host) || !strings.HasPrefix(seen.RequestURI, "/"):
			t.Errorf("let in from %q, %q", seen.Host, seen.RequestURI)
		case len(seen.Header.Values("Authorization")) != 1 ||
			!strings.EqualFold(scheme, "Bearer") || given != token:
			t.Errorf("let in with %q", seen.Header.Values("Authorization"))
		case len(origin) > 1 || len(origin) == 1 && origin[0] != "http://"+seen.Host:
			t.Errorf("let in from %q", origin)
		case slices.ContainsFunc(seen.Header.Values("Sec-Fetch-Site"),
			func(s string) bool { return s != "same-origin" && s != "none" }):
			t.Errorf("let in from %q", seen.Header.Values("Sec-Fetch-Site"))
		case len(seen.TransferEncoding) > 0:
			t.Errorf("let in with %q", seen.TransferEncoding)
		}
	})
}
