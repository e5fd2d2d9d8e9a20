package feed

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

// linked is a link and its peer.
func linked(t *testing.T) (link, *net.UnixConn) {
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
	l, err := newSocket(conn)
	if err != nil {
		t.Fatal(err)
	}
	return l, peer
}

func TestALinkReadsWhatComesBeforeAndWhileItWaits(t *testing.T) {
	l, peer := linked(t)
	b := make([]byte, 8)
	for _, want := range []string{"one", "two"} {
		if _, err := peer.Write([]byte(want)); err != nil {
			t.Fatal(err)
		}
		if n, err := l.Read(b); err != nil || string(b[:n]) != want {
			t.Fatalf("read %q, %v, want %q", b[:n], err, want)
		}
	}
	if n, err := l.TryRead(b); n != 0 || err != nil {
		t.Fatalf("got %d bytes and %v where there is nothing", n, err)
	}
	go func() { _, _ = peer.Write([]byte("three")) }()
	if _, err := io.ReadFull(l, b[:5]); err != nil || string(b[:5]) != "three" {
		t.Fatalf("read %q, %v", b[:5], err)
	}
	if _, err := peer.Write([]byte("four")); err != nil {
		t.Fatal(err)
	}
	if n, err := l.TryRead(b); string(b[:n]) != "four" {
		t.Fatalf("read %q, %v, want what is there", b[:n], err)
	}
	peer.Close()
	if _, err := l.TryRead(b); err != io.EOF {
		t.Errorf("got %v after the peer has closed, want the end", err)
	}
	if _, err := l.Read(b); err != io.EOF {
		t.Errorf("got %v after the peer has closed, want the end", err)
	}
}

func TestClosingALinkEndsItsReaderAndItsWriter(t *testing.T) {
	l, _ := linked(t)
	ended := make(chan error, 2)
	go func() {
		_, err := l.Read(make([]byte, 1))
		ended <- err
	}()
	go func() {
		_, err := l.Write(make([]byte, 64<<20)) // more than fits where nobody reads
		ended <- err
	}()
	l.Close()
	for range 2 {
		if err := <-ended; err == nil || !isGone(err) {
			t.Errorf("got %v, want an end of the connection", err)
		}
	}
}

func TestAWriteThatNobodyReadsEndsAtItsDeadline(t *testing.T) {
	l, peer := linked(t)
	wrote := make(chan error)
	go func() {
		_, err := l.Write(bytes.Repeat([]byte{1}, 64<<20))
		wrote <- err
	}()
	if _, err := io.ReadFull(peer, make([]byte, 1<<16)); err != nil { // it is under way
		t.Fatal(err)
	}
	if err := l.SetWriteDeadline(time.Now().Add(time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if err := <-wrote; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %v, want a deadline that has passed", err)
	}
}

func TestANapEndsInTimeOrWithWhatComes(t *testing.T) {
	l, peer := linked(t)
	b := make([]byte, 8)
	for _, d := range []time.Duration{0, lateness, 2 * lateness} {
		if n, err := l.Nap(b, d); n != 0 || err != nil {
			t.Fatalf("got %d bytes and %v where nothing comes for %v", n, err, d)
		}
	}
	go func() { _, _ = peer.Write([]byte("came")) }()
	if n, err := l.Nap(b, time.Hour); string(b[:n]) != "came" || err != nil {
		t.Fatalf("read %q, %v", b[:n], err)
	}
	l.Close()
	if _, err := l.Nap(b, time.Hour); err == nil || !isGone(err) {
		t.Errorf("got %v, want an end of the connection", err)
	}
}
