package api

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// testTimeout is the maximum time for what must happen.
const testTimeout = time.Minute

// tcpClient is a client of the control API over TCP.
type tcpClient struct {
	testing.TB
	w     *world
	addr  string
	token string
}

func (w *world) openTCP() *tcpClient {
	w.Helper()
	addr, err := w.server.OpenTCP("127.0.0.1:0")
	if err != nil {
		w.Fatal(err)
	}
	token, err := os.ReadFile(filepath.Join(w.dir, TokenFile))
	if err != nil {
		w.Fatal(err)
	}
	return &tcpClient{w, w, addr, string(token)}
}

// dial opens a connection, which is closed when the test ends.
func (d *tcpClient) dial() net.Conn {
	d.Helper()
	conn, err := net.Dial("tcp", d.addr)
	if err != nil {
		d.Fatal(err)
	}
	d.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(testTimeout)); err != nil {
		d.Fatal(err)
	}
	return conn
}

// sendRaw sends a request on a connection of its own. It does not read the body, which may be
// endless.
func (d *tcpClient) sendRaw(request string) *http.Response {
	d.Helper()
	conn := d.dial()
	defer conn.Close()
	if _, err := io.WriteString(conn, request); err != nil {
		d.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: "HEAD"})
	if err != nil {
		d.Fatalf("%q: %v", request, err)
	}
	return res
}

// headerLines returns a request without a body.
func headerLines(first string, fields ...string) string {
	return first + "\r\n" + strings.Join(fields, "\r\n") + "\r\n\r\n"
}

func (d *tcpClient) bearerHeader() string { return "Authorization: Bearer " + d.token }

// do sends a request with the token.
func (d *tcpClient) do(method, path, body string, fields ...string) response {
	d.Helper()
	req, err := http.NewRequestWithContext(d.Context(), method, "http://"+d.addr+path,
		strings.NewReader(body))
	if err != nil {
		d.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Authorization", "Bearer "+d.token)
	for _, f := range fields {
		name, value, _ := strings.Cut(f, ": ")
		req.Header.Set(name, value)
		if value == "" {
			req.Header.Del(name)
		}
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request,
			[]*http.Request) error {
			return http.ErrUseLastResponse
		}}
	res, err := client.Do(req)
	if err != nil {
		d.Fatal(err)
	}
	return readResponse(d, res)
}

func TestAClientWithTheTokenIsServedOverTCPAsOverTheSocket(t *testing.T) {
	w := newWorld(t)
	d := w.openTCP()
	var h wire.Health
	w.decode(d.do("GET", "/v1/health", ""), 200, &h)
	if h.Dir != w.dir {
		t.Errorf("%+v", h)
	}
	w.loadETTh1()
	var plan wire.PlanReply
	w.decode(d.do("POST", "/v1/datasets/etth1/plan",
		`{"spec": {"context_length": 336, "prediction_length": 96}}`), 200, &plan)
	if plan.Windows != 16989 {
		t.Errorf("%d windows", plan.Windows)
	}
	if again, err := w.server.OpenTCP("127.0.0.1:0"); err != nil || again != d.addr {
		t.Errorf("opened again at %s, %v", again, err)
	}
}

func TestOnlyLoopbackAddressesAreListenedOn(t *testing.T) {
	for _, addr := range []string{"", ":80", "0.0.0.0:0", "192.168.0.1:80", "[::]:80",
		"127.0.0.2:80", "localhost:80", "127.0.0.1", "127.0.0.1:x", "127.0.0.1:70000",
		"[::1%lo]:80", "[::ffff:127.0.0.1]:80"} {
		if err := CheckAddress(addr); !errors.Is(err, ErrAddress) {
			t.Errorf("%q: %v", addr, err)
		}
	}
	w := newWorld(t)
	if _, err := w.server.OpenTCP("0.0.0.0:0"); !errors.Is(err, ErrAddress) {
		t.Errorf("got %v", err)
	}
	for _, addr := range []string{"127.0.0.1:0", "[::1]:7007"} {
		if err := CheckAddress(addr); err != nil {
			t.Error(err)
		}
	}
}

func TestATokenFileThatOthersCouldReadIsNotUsed(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"mode":  func(path string) error { return os.Chmod(path, 0o640) },
		"text":  func(path string) error { return os.WriteFile(path, []byte("secret\n"), 0o600) },
		"empty": func(path string) error { return os.Truncate(path, 0) },
		"link": func(path string) error {
			return errors.Join(os.Rename(path, path+"2"),
				os.Symlink(path+"2", path))
		},
		"folder": func(path string) error {
			return errors.Join(os.Remove(path), os.Mkdir(path, 0o700))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.Mkdir(filepath.Join(dir, "tmp"), 0o700); err != nil {
				t.Fatal(err)
			}
			token, err := readToken(dir)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, TokenFile)
			if st, err := os.Stat(path); err != nil || st.Mode() != 0o600 {
				t.Errorf("%v, %v", st.Mode(), err)
			}
			if again, err := readToken(dir); err != nil || again != token || len(token) != 64 {
				t.Errorf("%q, then %q, %v", token, again, err)
			}
			if err := spoil(path); err != nil {
				t.Fatal(err)
			}
			if _, err := readToken(dir); !errors.Is(err, ErrToken) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestAmbiguousRequestsAreRefused sends requests that proxies and servers are known to interpret
// differently.
func TestAmbiguousRequestsAreRefused(t *testing.T) {
	d := newWorld(t).openTCP()
	get, post, host, bearer := "GET /v1/health HTTP/1.1", "POST /v1/datasets/x/plan HTTP/1.1",
		"Host: "+d.addr, d.bearerHeader()
	for name, test := range map[string]struct {
		request string
		status  int
	}{
		"as it should be":            {headerLines(get, host, bearer), 200},
		"version 1.0":                {headerLines("GET /v1/health HTTP/1.0", host, bearer), 200},
		"version 1.0 without a host": {headerLines("GET /v1/health HTTP/1.0", bearer), 403},
		"no host":                    {headerLines(get, bearer), 403},
		"no header at all":           {get + "\r\n\r\n", 403},
		"two hosts":                  {headerLines(get, host, host, bearer), 403},
		"a foreign host first":       {headerLines(get, "Host: evil.example", host, bearer), 403},
		"a foreign host last":        {headerLines(get, host, "host: evil.example", bearer), 403},
		"a host in two lines":        {headerLines(get, host, " evil.example", bearer), 403},
		"a space before the colon":   {headerLines(get, "Host : "+d.addr, bearer), 400},
		"absolute form": {headerLines("GET http://"+d.addr+"/v1/health HTTP/1.1", host,
			bearer), 403},
		"absolute form, foreign host": {headerLines("GET http://"+d.addr+"/v1/health HTTP/1.1",
			"Host: evil.example", bearer), 403},
		"absolute form of another": {headerLines("GET http://evil.example/v1/health HTTP/1.1", host,
			bearer), 403},
		"a target with a host": {headerLines("GET //"+d.addr+"/v1/health HTTP/1.1", host,
			bearer), 403},
		"asterisk":         {headerLines("OPTIONS * HTTP/1.1", host, bearer), 403},
		"authority":        {headerLines("CONNECT "+d.addr+" HTTP/1.1", host, bearer), 403},
		"a path with dots": {headerLines("GET /v1/../v1/health HTTP/1.1", host, bearer), 404},
		"a path that is written again": {headerLines("GET /v1/%2e%2e/v1/health HTTP/1.1", host,
			bearer), 404},
		"chunks": {headerLines(post, host, bearer, "Content-Type: application/json",
			"Transfer-Encoding: chunked") + "2\r\n{}\r\n0\r\n\r\n", 400},
		"chunks without a token": {headerLines(post, host, "Content-Type: application/json",
			"Transfer-Encoding: chunked") + "2\r\n{}\r\n0\r\n\r\n", 401},
		"chunks and a length": {headerLines(post, host, bearer, "Content-Length: 2",
			"Transfer-Encoding: chunked") + "2\r\n{}\r\n0\r\n\r\n", 400},
		"identity": {headerLines(post, host, bearer, "Transfer-Encoding: identity"),
			400},
		"unknown encoding": {headerLines(post, host, bearer, "Transfer-Encoding: xchunked"),
			400},
		"two lengths": {headerLines(post, host, bearer, "Content-Length: 2",
			"Content-Length: 2") + "{}", 400},
		"a length with a sign": {headerLines(post, host, bearer, "Content-Length: +2") + "{}",
			400},
		"no JSON by type": {headerLines(post, host, bearer, "Content-Length: 2",
			"Content-Type: text/plain") + "{}", 415},
		"no type": {headerLines(post, host, bearer, "Content-Length: 2") + "{}",
			415},
		"a form": {headerLines(post, host, bearer, "Content-Length: 2",
			"Content-Type: multipart/form-data; boundary=a") + "{}", 415},
		"JSON by type": {headerLines(post, host, bearer, "Content-Length: 2",
			"Content-Type: Application/JSON; charset=utf-8") + "{}", 404},
		"a large body": {headerLines(post, host, bearer, "Content-Length: 1048577",
			"Content-Type: application/json"), 413},
		"a large body of a stranger": {headerLines(post, host, "Content-Length: 1048577",
			"Content-Type: application/json"), 401},
		"a large header": {headerLines(get, host, bearer, "X: "+strings.Repeat("x", 8<<10)),
			413},
		"a NUL":                {headerLines(get, host, bearer, "X: \x00"), 400},
		"no HTTP":              {"\x16\x03\x01\r\n\r\n", 400},
		"Redis":                {"*1\r\n$4\r\nPING\r\n\r\n", 400},
		"scheme in lower case": {headerLines(get, host, "Authorization: bearer "+d.token), 200},
		"token in the query": {headerLines("GET /v1/health?token="+d.token+" HTTP/1.1", host),
			401},
		"token as a cookie": {headerLines(get, host, "Cookie: "+d.w.server.guard.cookie+"="+
			d.token), 401},
		"two tokens": {headerLines(get, host, bearer, bearer), 401},
	} {
		t.Run(name, func(t *testing.T) {
			if res := d.sendRaw(test.request); res.StatusCode != test.status {
				t.Errorf("answered %d, want %d", res.StatusCode, test.status)
			}
		})
	}
}

func TestNothingBehindARefusedRequestIsRead(t *testing.T) {
	d := newWorld(t).openTCP()
	conn := d.dial()
	good := headerLines("GET /v1/health HTTP/1.1", "Host: "+d.addr, d.bearerHeader())
	if _, err := io.WriteString(conn, headerLines("GET /v1/health HTTP/1.1", "Host: evil.example")+
		good); err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(conn)
	if err != nil && !strings.Contains(err.Error(), "reset") {
		t.Fatal(err)
	}
	if n := strings.Count(string(b), "HTTP/1.1 "); n != 1 ||
		!strings.HasPrefix(string(b), "HTTP/1.1 403 ") {
		t.Errorf("%d answers: %s", n, b)
	}
}

func TestARefusalDoesNotRevealTheToken(t *testing.T) {
	d := newWorld(t).openTCP()
	for _, request := range []string{
		headerLines("GET /v1/health HTTP/1.1", "Host: evil.example", d.bearerHeader()),
		headerLines("GET /v1/health HTTP/9.9", d.bearerHeader()),
		headerLines("GET /v1/health HTTP/1.1", d.bearerHeader(), "Bad Name: x"),
		headerLines("GET  HTTP/1.1", d.bearerHeader()),
		"GET" + d.bearerHeader() + "\r\n\r\n",
		headerLines("GET /v1/health HTTP/1.1", d.bearerHeader()+"\x01"),
	} {
		conn := d.dial()
		if _, err := fmt.Fprint(conn, request); err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(conn)
		if len(b) == 0 || strings.Contains(string(b), d.token) {
			t.Errorf("%q was answered %q", request, b)
		}
	}
}

// TestRefusalsOfTheGuardSayWhatIsWanted checks the message and the hint of each refusal.
func TestRefusalsOfTheGuardSayWhatIsWanted(t *testing.T) {
	w := newWorld(t)
	d := w.openTCP()
	host := "Host: " + d.addr
	for name, test := range map[string]struct {
		target      string
		fields      []string
		typ, says   string
		hint        string
		wantsBearer bool
		body        string
	}{
		"no token": {"/v1/health", []string{host}, wire.Unauthorized, "a token is required",
			"send Authorization: Bearer", true, ""},
		"a wrong token": {"/v1/health", []string{host, "Authorization: Bearer x"},
			wire.Unauthorized, "the token is wrong", "send Authorization: Bearer", true, ""},
		"another scheme": {"/v1/health", []string{host, "Authorization: Basic " + d.token},
			wire.Unauthorized, "authorization: got another scheme than Bearer",
			"send Authorization: Bearer", true, ""},
		"no scheme": {"/v1/health", []string{host, "Authorization: " + d.token},
			wire.Unauthorized, "authorization: got another scheme than Bearer",
			"send Authorization: Bearer", true, ""},
		"two tokens": {"/v1/health", []string{host, d.bearerHeader(), d.bearerHeader()},
			wire.Unauthorized, "authorization: got it more than once",
			"send Authorization: Bearer", true, ""},
		"another host": {"/v1/health", []string{"Host: evil.example", d.bearerHeader()},
			wire.Forbidden, `host: got "evil.example", want 127.0.0.1:`,
			"a tunnel must keep", false, ""},
		"no host": {"/v1/health", []string{d.bearerHeader()}, wire.Forbidden,
			"host: got none or several, want one", "a tunnel must keep", false, ""},
		"another page": {"/v1/health",
			[]string{host, d.bearerHeader(), "Origin: http://evil.example"}, wire.Forbidden,
			`origin: got "http://evil.example", want http://127.0.0.1:`,
			"tensorcache ui", false, ""},
		"another site": {"/v1/health",
			[]string{host, d.bearerHeader(), "Sec-Fetch-Site: cross-site"},
			wire.Forbidden, `sec-fetch-site: got "cross-site", want same-origin or none`,
			"tensorcache ui", false, ""},
		"as to a proxy": {"http://" + d.addr + "/v1/health", []string{host, d.bearerHeader()},
			wire.Forbidden, "request target: got", "send the path alone", false, ""},
		"a body in pieces": {"/v1/health",
			[]string{host, d.bearerHeader(), "Transfer-Encoding: chunked"},
			wire.InvalidRequest, "transfer-encoding: chunked bodies", "Content-Length", false,
			"0\r\n\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			w := *w
			w.TB = t
			conn := d.dial()
			defer conn.Close()
			if _, err := io.WriteString(conn,
				headerLines("GET "+test.target+" HTTP/1.1", test.fields...)+
					test.body); err != nil {
				t.Fatal(err)
			}
			res, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			b, err := io.ReadAll(res.Body)
			if err != nil {
				t.Fatal(err)
			}
			p := w.decodeProblem(response{res.StatusCode, res.Header, b})
			if p.Type != test.typ || !strings.HasPrefix(p.Detail, test.says) ||
				!strings.Contains(p.Hint, test.hint) || strings.Contains(p.Detail+p.Hint, d.token) {
				t.Errorf("%+v", p)
			}
			if asks := strings.HasPrefix(res.Header.Get("WWW-Authenticate"),
				"Bearer"); asks != test.wantsBearer {
				t.Errorf("WWW-Authenticate: %q", res.Header.Get("WWW-Authenticate"))
			}
		})
	}
}
