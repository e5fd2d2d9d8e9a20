package api

import (
	"bufio"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// openConnections opens n connections, each of which sends the start of a request and no more. They
// stay open until the test ends.
func openConnections(t testing.TB, network, addr string, n int, begin string,
	meanwhile func(i int)) {
	t.Helper()
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	// the server's descriptors are in this process, too
	if most := int(min(limit.Cur, 1<<20)) - 2000; n > most {
		t.Logf("%d connections instead of %d: so many descriptors are allowed", most, n)
		n = most
	}
	for i := range n {
		conn, err := net.Dial(network, addr)
		if err != nil {
			t.Fatal(i, err)
		}
		t.Cleanup(func() { conn.Close() })
		if _, err := io.WriteString(conn, begin); err != nil && !errors.Is(err, syscall.EPIPE) &&
			!errors.Is(err, syscall.ECONNRESET) {
			t.Fatal(i, err)
		}
		if i%500 == 499 {
			meanwhile(i)
		}
	}
}

// shortTimeouts gives a server short timeouts for requests, so that a test can wait for them.
func shortTimeouts(s *Server) {
	const timeout = 100 * time.Millisecond
	s.http.ReadTimeout, s.tcp.ReadTimeout, s.bodyTimeout = timeout, timeout, timeout
}

// wantAnswerWithin sends a request on new connections until one is answered. It fails if the other
// connections still block it after testTimeout, because shortTimeouts has ended each of them by
// then.
func wantAnswerWithin(t testing.TB, network, addr, request string) {
	t.Helper()
	for end := time.Now().Add(testTimeout); ; time.Sleep(10 * time.Millisecond) {
		status := requestStatus(t, network, addr, request)
		if status == http.StatusOK {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("not served: the last answer was %d", status)
		}
	}
}

// requestStatus returns 0 if the connection ends without a response.
func requestStatus(t testing.TB, network, addr, request string) int {
	t.Helper()
	conn, err := net.Dial(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, request)
	_ = conn.SetReadDeadline(time.Now().Add(testTimeout))
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0
	}
	res.Body.Close()
	return res.StatusCode
}

func TestTenThousandConnectionsThatSendNothingBlockOthersOnlyUntilTheirTimeout(t *testing.T) {
	w := newWorldWith(t, 0, shortTimeouts)
	d := w.openTCP()
	openConnections(t, "tcp", d.addr, 10_000, "", func(int) {
		wantAnswerWithin(t, "tcp", d.addr,
			headerLines("GET /v1/health HTTP/1.1", "Host: "+d.addr, d.bearerHeader()))
		if a := w.do("GET", "/v1/health", nil); a.status != 200 {
			t.Fatalf("over the socket: %d", a.status)
		}
	})
	if n := w.server.tcpConns.count(); n > maxTCPConns {
		t.Errorf("%d connections are open", n)
	}
}

func TestHalfRequestsBlockOthersOnlyUntilTheirTimeout(t *testing.T) {
	for name, test := range map[string]struct{ first, fields string }{
		"header": {"GET /v1/datasets HTTP/1.1", "Host: %s\r\nX-Slow: "},
		"body": {"POST /v1/datasets/x/plan HTTP/1.1",
			"Host: %s\r\n%s\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"},
		"body of a stranger": {"POST /v1/datasets/x/plan HTTP/1.1",
			"Host: %s\r\nContent-Length: 1000\r\n\r\n{"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorldWith(t, 0, shortTimeouts)
			d := w.openTCP()
			begin := strings.Replace(strings.Replace(test.first+"\r\n"+test.fields, "%s", d.addr,
				1), "%s", d.bearerHeader(), 1)
			openConnections(t, "tcp", d.addr, 1000, begin, func(int) {
				wantAnswerWithin(t, "tcp", d.addr,
					headerLines("GET /v1/health HTTP/1.1", "Host: "+d.addr, d.bearerHeader()))
			})
		})
	}
}

func TestManyConnectionsToTheSocketBlockOthersOnlyUntilTheirTimeout(t *testing.T) {
	w := newWorldWith(t, 0, shortTimeouts)
	const begin = "GET /v1/datasets HTTP/1.1\r\n"
	openConnections(t, "unix", w.socket, 2*maxSocketConns, begin, func(int) {
		wantAnswerWithin(t, "unix", w.socket,
			headerLines("GET /v1/health HTTP/1.1", "Host: localhost"))
	})
	if n := w.server.conns.count(); n > maxSocketConns {
		t.Errorf("%d connections are open", n)
	}
}

// TestIdleClientsBlockNobody opens idle connections, whose timeout is minutes.
func TestIdleClientsBlockNobody(t *testing.T) {
	d := newWorld(t).openTCP()
	for i := range 2 * maxTCPConns {
		conn := d.dial()
		if _, err := io.WriteString(conn, headerLines("GET /v1/health HTTP/1.1", "Host: "+d.addr,
			d.bearerHeader())); err != nil {
			t.Fatal(i, err)
		}
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(i, err)
		}
		readResponse(t, res)
		if res.StatusCode != http.StatusOK || i < maxTCPConns/2 && res.Close {
			t.Fatalf("request %d was answered %d, connection closed: %v", i,
				res.StatusCode, res.Close)
		}
	}
}

func TestAnIncompleteRequestTimesOut(t *testing.T) {
	for name, half := range map[string]string{
		"nothing": "",
		"header":  "GET /v1/health HTTP/1.1\r\nHost: ",
		"body": "POST /v1/datasets/x/plan HTTP/1.1\r\nHost: %s\r\n%s\r\n" +
			"Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			const timeout = 20 * time.Millisecond
			w.server.tcp.ReadTimeout, w.server.bodyTimeout = timeout, timeout
			d := w.openTCP()
			conn := d.dial()
			if _, err := io.WriteString(conn,
				strings.Replace(strings.Replace(half, "%s", d.addr, 1), "%s", d.bearerHeader(),
					1)); err != nil {
				t.Fatal(err)
			}
			// the connection is reset if the server has not read everything
			b, err := io.ReadAll(conn)
			if !strings.HasPrefix(string(b), "HTTP/1.1 408 ") {
				t.Errorf("answered %q, %v", b, err)
			}
		})
	}
}

func TestAClientThatReadsNothingTimesOut(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer inner.Close()
	l := limitConnections(inner, slog.New(slog.DiscardHandler), 1, 1<<20)
	l.writeTimeout = 20 * time.Millisecond
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for block := make([]byte, 1<<20); err == nil; {
		_, err = conn.Write(block)
	}
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error(err)
	}
}

func TestConnectionsAboveTheLimitGetAProblem(t *testing.T) {
	w := newWorld(t)
	d := w.openTCP()
	w.server.tcpConns.mu.Lock()
	w.server.tcpConns.limit = 0
	w.server.tcpConns.mu.Unlock()
	// without a request, which might be sent after the server has closed the connection
	res, err := http.ReadResponse(bufio.NewReader(d.dial()), nil)
	if err != nil {
		t.Fatal(err)
	}
	a := readResponse(t, res)
	if p := w.decodeProblem(a); a.status != 503 || p.Type != "busy" || p.Hint == "" ||
		a.header.Get("Retry-After") == "" || !res.Close {
		t.Errorf("%d %+v %+v", a.status, a.header, p)
	}
}

// count returns the number of open connections.
func (l *limitedListener) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.open)
}
