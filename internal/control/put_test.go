package control

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// fakeReceiver serves one connection on a feed socket, and returns a client of it.
func fakeReceiver(t *testing.T, serve func(conn net.Conn)) *Client {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		var scratch [wire.HeaderSize]byte
		_, length, err := wire.ReadHeader(conn, scratch[:], wire.MaxRequest)
		if err == nil {
			_, err = io.CopyN(io.Discard, conn, int64(length))
		}
		if err != nil {
			t.Error(err)
		}
		serve(conn)
	}()
	t.Cleanup(func() {
		l.Close()
		<-done
	})
	return &Client{Daemon: wire.Daemon{Feed: path}}
}

func sendFrame(t *testing.T, conn net.Conn, kind uint32, body any) {
	t.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	frame := make([]byte, wire.HeaderSize, wire.HeaderSize+len(b))
	wire.PutHeader(frame, kind, len(b))
	if _, err := conn.Write(append(frame, b...)); err != nil {
		t.Error(err)
	}
}

func TestARefusedPutReturnsWhileItsStreamBlocks(t *testing.T) {
	c := fakeReceiver(t, func(conn net.Conn) {
		sendFrame(t, conn, wire.FrameError,
			wire.NewProblem(wire.InvalidName, "no such name can be"))
	})
	stream, writer := io.Pipe() // blocks forever
	defer writer.Close()        // ends the copying goroutine
	failed := make(chan error, 1)
	go func() {
		_, err := c.PutArrow("../x", nil, false, stream)
		failed <- err
	}()
	select {
	case err := <-failed:
		if p := (*wire.Problem)(nil); !errors.As(err, &p) || p.Type != wire.InvalidName {
			t.Errorf("got %v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the refusal is not noticed")
	}
}

func TestAPutSendsItsWholeStream(t *testing.T) {
	sent := strings.Repeat("0123456789", 100_000)
	c := fakeReceiver(t, func(conn net.Conn) {
		got, err := io.ReadAll(conn)
		if err != nil || string(got) != sent {
			t.Errorf("%d bytes came of %d, %v", len(got), len(sent), err)
		}
		sendFrame(t, conn, wire.FrameReply, wire.PutReply{Dataset: "d", Rows: 3})
	})
	reply, err := c.PutArrow("d", nil, false, strings.NewReader(sent))
	if err != nil || reply.Rows != 3 {
		t.Errorf("%+v, %v", reply, err)
	}
}

func TestAPutWhoseStreamFailsIsAborted(t *testing.T) {
	broken := errors.New("the pipe is broken")
	c := fakeReceiver(t, func(conn net.Conn) {
		got, err := io.ReadAll(conn)
		if err != nil || len(got) != 4 {
			t.Errorf("%d bytes came, %v", len(got), err)
		}
	})
	stream := io.MultiReader(bytes.NewReader([]byte("half")), iotest.ErrReader(broken))
	if _, err := c.PutArrow("d", nil, false, stream); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}
