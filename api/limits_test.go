package api

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// crowded opens n connections, each of which sends the beginning of a request and no more. They stay open until the test ends.
func crowded(t testing.TB, network, addr string, n int, begin string, meanwhile func(i int)) {
	t.Helper()
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if most := int(min(limit.Cur, 1<<20)) - 2000; n > most { // the server's are in this process too
		t.Logf("%d connections instead of %d: so many descriptors are allowed", most, n)
		n = most
	}
	for i := range n {
		conn, err := net.Dial(network, addr)
		if err != nil {
			t.Fatal(i, err)
		}
		t.Cleanup(func() { conn.Close() })
		if _, err := io.WriteString(conn, begin); err != nil && !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET) {
			t.Fatal(i, err)
		}
		if i%500 == 499 {
			meanwhile(i)
		}
	}
}

func TestTenThousandConnectionsThatSendNothingKeepNobodyOut(t *testing.T) {
	w := newWorld(t)
	d := w.openTCP()
	crowded(t, "tcp", d.addr, 10_000, "", func(i int) {
		if a := d.ask("GET", "/v1/health", ""); a.status != 200 {
			t.Fatalf("behind %d connections: %d %s", i+1, a.status, a.body)
		}
		if a := w.do("GET", "/v1/health", nil); a.status != 200 {
			t.Fatalf("over the socket: %d", a.status)
		}
	})
	if n := w.server.tcpCrowd.count(); n > mostTCP {
		t.Errorf("%d connections are held", n)
	}
}

func TestHalfRequestsKeepNobodyOut(t *testing.T) {
	for name, test := range map[string]struct{ first, fields string }{
		"header":             {"GET /v1/datasets HTTP/1.1", "Host: %s\r\nX-Slow: "},
		"body":               {"POST /v1/datasets/x/plan HTTP/1.1", "Host: %s\r\n%s\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"},
		"body of a stranger": {"POST /v1/datasets/x/plan HTTP/1.1", "Host: %s\r\nContent-Length: 1000\r\n\r\n{"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			d := w.openTCP()
			begin := strings.Replace(strings.Replace(test.first+"\r\n"+test.fields, "%s", d.addr, 1), "%s", d.bearer(), 1)
			crowded(t, "tcp", d.addr, 1000, begin, func(i int) {
				if a := d.ask("GET", "/v1/health", ""); a.status != 200 {
					t.Fatalf("behind %d half requests: %d %s", i+1, a.status, a.body)
				}
			})
		})
	}
}

func TestManyConnectionsToTheSocketKeepNobodyOut(t *testing.T) {
	w := newWorld(t)
	crowded(t, "unix", w.socket, 2*mostSocket, "GET /v1/datasets HTTP/1.1\r\n", func(i int) {
		w.client.CloseIdleConnections()
		if a := w.do("GET", "/v1/health", nil); a.status != 200 {
			t.Fatalf("behind %d connections: %d %s", i+1, a.status, a.body)
		}
	})
	if n := w.server.crowd.count(); n > mostSocket {
		t.Errorf("%d connections are held", n)
	}
}

func TestARequestThatDoesNotComeToItsEndIsCutOff(t *testing.T) {
	for name, half := range map[string]string{
		"nothing": "",
		"header":  "GET /v1/health HTTP/1.1\r\nHost: ",
		"body":    "POST /v1/datasets/x/plan HTTP/1.1\r\nHost: %s\r\n%s\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.server.tcp.ReadTimeout, w.server.bodyTime = 20*time.Millisecond, 20*time.Millisecond
			d := w.openTCP()
			conn := d.dial()
			if _, err := io.WriteString(conn, strings.Replace(strings.Replace(half, "%s", d.addr, 1), "%s", d.bearer(), 1)); err != nil {
				t.Fatal(err)
			}
			b, err := io.ReadAll(conn) // which is reset in the end where the server had not read all
			if !strings.HasPrefix(string(b), "HTTP/1.1 408 ") {
				t.Errorf("answered %q, %v", b, err)
			}
		})
	}
}

// pair is a crowd's guest and the client at its other end.
func pair(t *testing.T, c *crowd) (*guest, net.Conn) {
	t.Helper()
	client, err := net.Dial("tcp", c.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	g, err := c.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close(); g.Close() })
	return g.(*guest), client
}

func newTestCrowd(t *testing.T, most, mostBusy int) *crowd {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return newCrowd(l, slog.New(slog.DiscardHandler), most, most-mostBusy, 1<<20)
}

func isCut(conn net.Conn) bool {
	_ = conn.SetReadDeadline(time.Now().Add(patience))
	_, err := conn.Read(make([]byte, 1))
	return err != nil && !errors.Is(err, os.ErrDeadlineExceeded)
}

func TestWhoIsServedIsNotSentAwayForWhoWaits(t *testing.T) {
	c := newTestCrowd(t, 3, 2)
	a, _ := pair(t, c)
	_, second := pair(t, c)
	b, _ := pair(t, c)
	for _, g := range []*guest{a, a, b} { // who is busy already stays so
		if !g.enter() {
			t.Fatal("there was room")
		}
	}
	third, _ := pair(t, c) // the second makes room
	if !isCut(second) {
		t.Error("who waits stays")
	}
	if third.enter() {
		t.Error("one more than may be busy is served")
	}
	_, fourth := pair(t, c) // for which the third makes room
	if c.count() != 3 || third.enter() {
		t.Errorf("%d are held", c.count())
	}
	// The first was served and listens again: it has waited for less long than the fourth.
	go func() { _, _ = a.Read(make([]byte, 1)) }()
	for c.served() == 2 {
		runtime.Gosched()
	}
	pair(t, c)
	if !isCut(fourth) {
		t.Error("who has waited longest stays")
	}
	if a.Close(); c.count() != 2 {
		t.Errorf("%d are held", c.count())
	}
}

func TestAClientThatReadsNothingIsCutOff(t *testing.T) {
	c := newTestCrowd(t, 2, 1)
	c.writeTime = 20 * time.Millisecond
	g, _ := pair(t, c)
	var err error
	for block := make([]byte, 1<<20); err == nil; {
		_, err = g.Write(block)
	}
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error(err)
	}
}

func TestRequestsBeyondWhatIsServedAtOnceAreToldSo(t *testing.T) {
	w := newWorld(t)
	d := w.openTCP()
	w.server.tcpCrowd.mu.Lock()
	w.server.tcpCrowd.mostBusy = 0
	w.server.tcpCrowd.mu.Unlock()
	a := d.ask("GET", "/v1/health", "")
	if p := w.problem(a); a.status != 503 || p.Type != "busy" || a.header.Get("Retry-After") == "" {
		t.Errorf("%d %+v", a.status, p)
	}
}

// count is how many connections are held.
func (c *crowd) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.idle.Len() + len(c.busy)
}
