package transport

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// connected returns a socket and its peer.
func connected(t *testing.T) (Socket, *net.UnixConn) {
	t.Helper()
	address := &net.UnixAddr{Name: filepath.Join(t.TempDir(), "s"), Net: "unix"}
	listener, err := net.ListenUnix("unix", address)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	peer, err := net.DialUnix("unix", nil, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { peer.Close() })
	conn, err := listener.AcceptUnix()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	s, err := NewSocket(conn)
	if err != nil {
		t.Fatal(err)
	}
	return s, peer
}

func TestASocketReadsDataFromBeforeAndDuringAWait(t *testing.T) {
	s, peer := connected(t)
	b := make([]byte, 8)
	for _, want := range []string{"one", "two"} {
		if _, err := peer.Write([]byte(want)); err != nil {
			t.Fatal(err)
		}
		if n, err := s.Read(b); err != nil || string(b[:n]) != want {
			t.Fatalf("read %q, %v, want %q", b[:n], err, want)
		}
	}
	if n, err := s.TryRead(b); n != 0 || err != nil {
		t.Fatalf("got %d bytes and %v where there is nothing", n, err)
	}
	go func() { _, _ = peer.Write([]byte("three")) }()
	if _, err := io.ReadFull(s, b[:5]); err != nil || string(b[:5]) != "three" {
		t.Fatalf("read %q, %v", b[:5], err)
	}
	if _, err := peer.Write([]byte("four")); err != nil {
		t.Fatal(err)
	}
	if n, err := s.TryRead(b); string(b[:n]) != "four" {
		t.Fatalf("read %q, %v, want what is there", b[:n], err)
	}
	peer.Close()
	if _, err := s.TryRead(b); err != io.EOF {
		t.Errorf("got %v after the peer has closed, want the end", err)
	}
	if _, err := s.Read(b); err != io.EOF {
		t.Errorf("got %v after the peer has closed, want the end", err)
	}
}

func TestClosingASocketEndsItsReaderAndItsWriter(t *testing.T) {
	s, _ := connected(t)
	ended := make(chan error, 2)
	go func() {
		_, err := s.Read(make([]byte, 1))
		ended <- err
	}()
	go func() {
		_, err := s.Write(make([]byte, 64<<20)) // more than fits into the socket
		ended <- err
	}()
	s.Close()
	for range 2 {
		if err := <-ended; err == nil || !IsGone(err) {
			t.Errorf("got %v, want an end of the connection", err)
		}
	}
}

func TestAnUnreadWriteEndsAtItsDeadline(t *testing.T) {
	s, peer := connected(t)
	wrote := make(chan error)
	go func() {
		_, err := s.Write(bytes.Repeat([]byte{1}, 64<<20))
		wrote <- err
	}()
	if _, err := io.ReadFull(peer, make([]byte, 1<<16)); err != nil { // it has begun
		t.Fatal(err)
	}
	if err := s.SetWriteDeadline(time.Now().Add(time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if err := <-wrote; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %v, want a deadline that has passed", err)
	}
}

func TestReadForEndsAtItsDeadlineOrWithData(t *testing.T) {
	s, peer := connected(t)
	b := make([]byte, 8)
	for _, d := range []time.Duration{0, timerSlack, 2 * timerSlack} {
		if n, err := s.ReadFor(b, d); n != 0 || err != nil {
			t.Fatalf("got %d bytes and %v where nothing comes for %v", n, err, d)
		}
	}
	go func() { _, _ = peer.Write([]byte("came")) }()
	if n, err := s.ReadFor(b, time.Hour); string(b[:n]) != "came" || err != nil {
		t.Fatalf("read %q, %v", b[:n], err)
	}
	s.Close()
	if _, err := s.ReadFor(b, time.Hour); err == nil || !IsGone(err) {
		t.Errorf("got %v, want an end of the connection", err)
	}
}
