package api

import (
	"bufio"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"time"
)

// TestCloseEndsServeAtAnyTime closes a server before Serve, and while fasthttp does not have the
// listener yet.
func TestCloseEndsServeAtAnyTime(t *testing.T) {
	for i := range 300 {
		l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
		if err != nil {
			t.Fatal(err)
		}
		s, served := New(Config{Log: slog.New(slog.NewTextHandler(io.Discard, nil))}),
			make(chan error, 1)
		begin := func() { served <- s.Serve(l) }
		if i > 0 {
			go begin()
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			begin()
		}
		if err := <-served; err != nil {
			t.Fatal(err)
		}
		if _, err := l.Accept(); err == nil {
			t.Fatal("the listener is open")
		}
	}
}

// TestCloseWaitsForAnswersThatAreBeingWritten has a client that begins to read its answer later
// than connections without a request are closed.
func TestCloseWaitsForAnswersThatAreBeingWritten(t *testing.T) {
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	s := New(Config{Log: slog.New(slog.DiscardHandler)})
	s.requestGrace, s.closeGrace = testTimeout, 10*time.Millisecond
	served := make(chan error, 1)
	go func() { served <- s.Serve(smallBuffers{l}) }()
	conn, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	request := "GET /v1/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	active := func() int64 {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.conns.activeConns()
	}
	for active() == 0 {
		time.Sleep(time.Millisecond)
	}
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	time.Sleep(10 * s.closeGrace)
	reply, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := io.Copy(io.Discard, reply.Body); err != nil {
		t.Errorf("%d bytes of the answer, %v", n, err)
	}
	if err := errors.Join(<-closed, <-served); err != nil {
		t.Error(err)
	}
}

// smallBuffers is a listener of connections that buffer little, so that an answer is written in
// parts.
type smallBuffers struct{ net.Listener }

func (l smallBuffers) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err == nil {
		err = conn.(*net.UnixConn).SetWriteBuffer(4 << 10)
	}
	return conn, err
}
