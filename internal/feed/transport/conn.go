// Package transport sends the descriptors of batches to one client, and receives its credits and
// requests.
//
// A [Conn] sends descriptors over the feed's socket, in frames, or through a queue in the ring's
// memory, without a system call. [Conn.Send] sends, [Conn.Credits] handles what the client has
// sent, and [Conn.Wait] waits for more: spinning, sleeping or blocked on the socket, depending on
// how fast the client gives slots back.
//
// docs/PROTOCOL.md describes the frames and the queue.
//
// # Caveats
//
// One goroutine uses a Conn. Only Interrupt and Close may be called by others.
//
// A client can write to the queue at any time. What it writes is checked as frames are, and an
// error ends its feed only.
package transport

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// Handler handles what the client sends. An error ends the feed.
type Handler interface {
	// Credit takes a slot back.
	Credit(slot uint64) error
	// Seek makes the feed continue at another cursor.
	Seek(s wire.Seek)
	// Meter records the waiting times that the client reports in a METER frame.
	Meter(payload []byte) error
}

// Busy counts the goroutines that use a processor.
type Busy interface {
	// Begin counts the calling goroutine until End.
	Begin()
	End()
	// Yield lets other goroutines run if every processor is busy.
	Yield()
	// HasSpare reports whether a processor is left for others.
	HasSpare() bool
}

// Conn is the connection of one attached client.
type Conn struct {
	socket  Socket
	queue   *queue // nil without one
	slots   int
	handler Handler
	busy    Busy

	input    []byte // bytes from the client; the last frame may be incomplete
	received int    // bytes in input
	done     bool   // the client wants no more batches

	pace         creditPace
	clientAsleep bool   // the client waits on the socket until something is sent
	clientRead   uint64 // number of descriptors that it had read by then
	clientWaited bool   // since TakeWaited
	interrupted  atomic.Bool
}

// New returns the connection over a socket, after the daemon has answered the feed's request.
// memory is that of the queue, nil for none. busy counts the calling goroutine except while it is
// blocked.
func New(s Socket, memory []byte, slots int, h Handler, busy Busy) *Conn {
	c := &Conn{socket: s, slots: slots, handler: h, busy: busy,
		input: make([]byte, wire.HeaderSize+wire.MaxFrame)}
	if memory != nil {
		c.queue = newQueue(memory, slots)
	}
	return c
}

// Done reports whether the client has said that it wants no more batches.
func (c *Conn) Done() bool { return c.done }

// TakeWaited reports whether the client has waited since the last call.
func (c *Conn) TakeWaited() bool {
	waited := c.clientWaited
	c.clientWaited = false
	return waited
}

// writeTimeout is how long a client may take to read what is sent.
const writeTimeout = time.Second

// CanSend reports whether descriptors of n batches can be sent. Over the socket they always can.
func (c *Conn) CanSend(n int) (bool, error) {
	if c.queue == nil {
		return true, nil
	}
	return c.queue.canSend(n)
}

// Send sends a message of descriptors, which begins with HeaderSize unused bytes. It handles what
// the client sends while it does not read, and returns early if the client is done.
func (c *Conn) Send(message []byte) error {
	if c.queue != nil {
		c.queue.send(message[wire.HeaderSize:])
		return c.wakeClient()
	}
	wire.PutHeader(message, wire.FrameBatches, len(message)-wire.HeaderSize)
	for {
		if err := c.socket.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
			return err
		}
		n, err := c.socket.Write(message)
		if !errors.Is(err, os.ErrDeadlineExceeded) || c.interrupted.Load() {
			return err
		}
		message = message[n:]
		if err := c.poll(); err != nil || c.done {
			return err
		}
	}
}

// Credits handles the frames that have come, and takes the credits of the queue, without waiting.
// io.EOF means that the client has closed the connection.
func (c *Conn) Credits() error {
	if err := c.poll(); err != nil || c.done {
		return err
	}
	return c.takeCredits()
}

// takeCredits handles the credits of the queue, and wakes a client that waits although there are
// descriptors.
func (c *Conn) takeCredits() error {
	if c.queue == nil {
		return nil
	}
	n, err := c.queue.takeCredits(c.handler.Credit)
	if err != nil {
		return err
	}
	c.pace.record(n)
	return c.wakeClient()
}

// wakeClient wakes a client that waits although there are descriptors.
func (c *Conn) wakeClient() error {
	if !c.clientAsleep || c.queue.sent == c.clientRead {
		return nil
	}
	c.clientAsleep = false
	if err := c.socket.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	_, err := c.socket.Write(wakeUp)
	return err
}

// wakeUp is a BATCHES frame without descriptors: they are in the queue.
var wakeUp = func() []byte {
	frame := make([]byte, wire.HeaderSize)
	wire.PutHeader(frame, wire.FrameBatches, 0)
	return frame
}()

// poll reads once, without waiting, and handles the frames. It does not read until nothing is left:
// a client that never stops sending must not keep its feed from being closed.
func (c *Conn) poll() error { return c.receive(c.socket.TryRead(c.input[c.received:])) }

// receive handles the frames in the input, after n more bytes have come.
func (c *Conn) receive(n int, err error) error {
	if n == 0 {
		return err
	}
	c.received += n
	rest := c.input[:c.received]
	for len(rest) >= wire.HeaderSize && !c.done {
		kind, length := wire.ParseHeader(rest)
		if length > wire.MaxFrame {
			return fmt.Errorf("%w: a frame of kind %d says %d bytes, at most %d", wire.ErrFrame,
				kind, length, wire.MaxFrame)
		}
		end := wire.HeaderSize + int(length)
		if len(rest) < end {
			break
		}
		if err := c.handle(kind, rest[wire.HeaderSize:end]); err != nil {
			return err
		}
		rest = rest[end:]
	}
	c.received = copy(c.input, rest)
	return nil
}

// handle handles one frame.
func (c *Conn) handle(kind uint32, payload []byte) error {
	switch kind {
	case wire.FrameCredit:
		return c.credit(payload)
	case wire.FrameSeek:
		seek, err := wire.ParseSeek(payload)
		c.handler.Seek(seek)
		return err
	case wire.FrameMeter:
		return c.handler.Meter(payload)
	case wire.FrameWait:
		return c.clientWaits(payload)
	case wire.FrameDone:
		c.done = true
		return nil
	}
	return fmt.Errorf("%w: a frame of kind %d in a feed, want credit, seek, meter, wait or done",
		wire.ErrFrame, kind)
}

// credit handles a CREDIT frame.
func (c *Conn) credit(payload []byte) error {
	if len(payload)%4 != 0 {
		return fmt.Errorf("%w: a credit of %d bytes, want a multiple of 4", wire.ErrFrame,
			len(payload))
	}
	for ; len(payload) > 0; payload = payload[4:] {
		if err := c.handler.Credit(uint64(binary.LittleEndian.Uint32(payload))); err != nil {
			return err
		}
	}
	return nil
}

// clientWaits handles a WAIT frame: the client waits until more is sent than it has read.
func (c *Conn) clientWaits(payload []byte) error {
	if len(payload) != wire.WaitSize || c.queue == nil {
		return fmt.Errorf("%w: a wait of %d bytes, want %d, in a feed with a queue", wire.ErrFrame,
			len(payload), wire.WaitSize)
	}
	c.clientAsleep, c.clientWaited = true, true
	c.clientRead = binary.LittleEndian.Uint64(payload)
	return nil
}

// Interrupt ends a Wait or a Send of the feed's goroutine, also of a client that does not read. Any
// goroutine may call it.
func (c *Conn) Interrupt() {
	c.interrupted.Store(true)
	_ = c.socket.SetReadDeadline(time.Now())
	_ = c.socket.SetWriteDeadline(time.Now().Add(writeTimeout))
}

// Write writes to the socket.
func (c *Conn) Write(b []byte) (int, error) { return c.socket.Write(b) }

// SetWriteDeadline sets when a Write must have ended.
func (c *Conn) SetWriteDeadline(at time.Time) error { return c.socket.SetWriteDeadline(at) }

// Close closes the socket. Any goroutine may call it.
func (c *Conn) Close() error { return c.socket.Close() }
