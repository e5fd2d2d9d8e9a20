package api

import (
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"testing"
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
