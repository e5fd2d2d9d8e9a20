package api

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// TestTwoHundredListenersThatReadNothingDoNotBlockOthers opens more streams than are served; the
// others get a problem. Requests and jobs go on. When the connections of the streams are full, the
// server closes them, so that new clients are served.
func TestTwoHundredListenersThatReadNothingDoNotBlockOthers(t *testing.T) {
	w := newWorld(t)
	w.do("GET", "/v1/health", nil) // the server has started
	w.server.conns.writeTimeout = 500 * time.Millisecond
	for i := range 200 {
		conn, err := net.Dial("unix", w.socket)
		if err != nil {
			t.Fatal(i, err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn,
			"GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			t.Fatal(i, err)
		}
	}
	w.waitForStreams(maxStreams)
	w.wantProblem(w.do("GET", "/v1/events", nil), wire.Busy, "64 event streams are open")
	w.loadETTh1()
	var p wire.PlanReply
	if w.decode(w.do("POST", "/v1/datasets/etth1/plan",
		`{"spec": {"context_length": 336, "prediction_length": 96}}`), 200,
		&p); p.Windows != 16989 {
		t.Errorf("%d windows", p.Windows)
	}
	// the connection of a request counts until the server reads its next one
	for end := time.Now().Add(testTimeout); w.server.conns.activeConns() > maxStreams; {
		if time.Now().After(end) {
			t.Fatalf("%d requests are served", w.server.conns.activeConns())
		}
		time.Sleep(time.Millisecond)
	}
	large := []byte(`{"jobs": [], "next": null` + strings.Repeat(" ", 1<<20) + "}")
	// repeatedly, because a newer body may replace it before it is sent
	w.waitForStreamsDoing(0, func() { w.server.events.broadcast(topicJobs, large) })
	w.listen("/v1/events").next()
}

// waitForStreams waits until this many streams are open.
func (w *world) waitForStreams(n int64) {
	w.Helper()
	w.waitForStreamsDoing(n, func() {})
}

// waitForStreamsDoing calls meanwhile until this many streams are open.
func (w *world) waitForStreamsDoing(n int64, meanwhile func()) {
	w.Helper()
	end := time.Now().Add(testTimeout)
	for tick := time.NewTicker(5 * time.Millisecond); w.server.activeStreams.Load() != n; <-tick.C {
		if meanwhile(); time.Now().After(end) {
			w.Fatalf("%d streams, want %d", w.server.activeStreams.Load(), n)
		}
	}
}

// TestConnectionsClosedWithinRequestsLeakNothing has clients that send whole, partial and
// several requests, read some of the responses and close or reset the connection, over the socket
// and TCP. Requests of another client are answered meanwhile.
func TestConnectionsClosedWithinRequestsLeakNothing(t *testing.T) {
	a := newRequestTester(t)
	d := a.openTCP()
	plan := `{"spec": {"context_length": 3}}`
	headers := fmt.Sprintf(" HTTP/1.1\r\nHost: %s\r\n%s\r\n", d.addr, d.bearerHeader())
	post := fmt.Sprintf(
		"POST /v1/datasets/d/plan%sContent-Type: application/json\r\nContent-Length: %d\r\n\r\n",
		headers, len(plan))
	requests := []string{"", "GET /v1/datasets HTTP/1.1\r\nHo", "GET /v1/events" + headers + "\r\n",
		post + plan[:9], post + plan, post + plan + post + plan + post}
	before := a.resources()
	var all sync.WaitGroup
	for client := range 8 {
		all.Go(func() {
			for i := range 100 {
				network, addr := "unix", a.socket
				if i%2 == 0 {
					network, addr = "tcp", d.addr
				}
				conn, err := net.Dial(network, addr)
				if err != nil {
					t.Error(client, i, err)
					return
				}
				_, _ = io.WriteString(conn, requests[(client+i)%len(requests)])
				if i%3 == 0 {
					_ = conn.SetReadDeadline(time.Now().Add(time.Millisecond))
					_, _ = conn.Read(make([]byte, 10))
				}
				if tcp, ok := conn.(*net.TCPConn); ok && i%4 == 0 {
					_ = tcp.SetLinger(0)
				}
				conn.Close()
			}
		})
	}
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	for n := 0; ; n++ {
		if answer := a.do("GET", "/v1/datasets/d", nil); answer.status != http.StatusOK {
			t.Fatalf("%d %s", answer.status, answer.body)
		}
		select {
		case <-done:
			a.waitForStreams(0)
			a.checkNoGrowth(t, before)
			return
		default:
		}
	}
}
