package tensorcache

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tensorcache/tensorcache/internal/mmapfile"
	"github.com/tensorcache/tensorcache/internal/wire"
)

// stream is one attachment to the daemon: the socket, which receives descriptors of batches and
// sends credits for slots, and the ring of slots.
type stream struct {
	conn   *net.UnixConn
	reply  wire.FeedReply
	layout *slotLayout
	ring   *ring
	meter  *meter
	close  func()

	id          uint32            // changes with each seek; descriptors of another one are skipped
	queue       []wire.Descriptor // received descriptors
	next        int               // the first of queue that nextDescriptor has not returned
	buffer      []byte            // received bytes; the first filled ones are not parsed yet
	filled      int
	daemonError error       // of an ERROR frame
	writeFailed atomic.Bool // a frame was perhaps sent in part

	freed []uint32 // reused by giveBack
	mu    sync.Mutex
	frame []byte // to send; mu guards it
}

// attach starts a feed and maps its ring.
func (c *Cache) attach(ctx context.Context, request wire.FeedRequest, m *meter) (*stream, error) {
	s := &stream{meter: m, buffer: make([]byte, 1<<16)}
	conn, files, err := c.request(ctx, request, &s.reply)
	if err != nil {
		return nil, err
	}
	s.conn = conn
	if err := s.mapRing(files); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	s.id = s.reply.Stream
	s.queue = make([]wire.Descriptor, 0, s.reply.Slots)
	s.close = sync.OnceFunc(func() {
		// a daemon that does not read must not block the caller for long
		_ = s.conn.SetWriteDeadline(time.Now().Add(time.Second))
		s.mu.Lock()
		_, _ = s.conn.Write(appendHeader(nil, wire.FrameDone, 0))
		s.mu.Unlock()
		_ = s.conn.Close()
		s.ring.close()
	})
	return s, nil
}

// mapRing maps the ring of the reply, and checks the layout of its slots.
func (s *stream) mapRing(files []*os.File) error {
	r := s.reply
	if len(files) != 1 || r.Slots < 1 || r.SlotBytes < 1 {
		closeAll(files)
		return fmt.Errorf("%w: a feed with %d files, %d slots of %d bytes", ErrProtocol, len(files),
			r.Slots, r.SlotBytes)
	}
	memory, err := mmapfile.NewShared(files[0], int64(r.Slots)*r.SlotBytes)
	if err != nil {
		return err
	}
	s.ring = newRing(memory, r.Slots, r.SlotBytes)
	if s.layout, err = newSlotLayout(r); err != nil {
		s.ring.close()
	}
	return err
}

// nextDescriptor returns the next descriptor of this stream. It skips those from before a seek and
// gives back their slots. ok is false if more must be received first.
func (s *stream) nextDescriptor() (d wire.Descriptor, ok bool) {
	for s.next < len(s.queue) {
		d = s.queue[s.next]
		s.next++
		if d.Stream == s.id {
			return d, true
		}
		if d.Slot != wire.NoSlot {
			s.ring.giveBackUnused(d.Slot)
		}
	}
	return d, false
}

// receive waits for more bytes from the daemon, which may complete no descriptor yet. It gives
// slots back first, so that the daemon has every slot that no batch uses. What came before an error
// can still be read.
func (s *stream) receive() error {
	if s.daemonError != nil {
		return s.daemonError
	}
	if err := s.giveBack(1); err != nil {
		return err
	}
	began := time.Now()
	n, err := s.conn.Read(s.buffer[s.filled:])
	s.meter.addWait(began)
	s.filled += n
	if err := s.parse(); err != nil {
		return err
	}
	if n > 0 {
		return nil
	}
	return err
}

// parse moves whole frames from the buffer to the queue.
func (s *stream) parse() error {
	if s.next == len(s.queue) {
		s.queue, s.next = s.queue[:0], 0
	}
	at := 0
	for s.filled-at >= wire.HeaderSize {
		kind, length, err := parseHeader(s.buffer[at:])
		if err != nil {
			return err
		}
		end := at + wire.HeaderSize + int(length)
		if end > s.filled {
			if end-at > len(s.buffer) {
				s.buffer = append(s.buffer, make([]byte, end-at-len(s.buffer))...)
			}
			break
		}
		payload := s.buffer[at+wire.HeaderSize : end]
		switch {
		case kind == wire.FrameError:
			s.daemonError = parseErrorFrame(payload)
		case kind == wire.FrameBatches && length%wire.DescriptorSize == 0:
			for ; len(payload) > 0; payload = payload[wire.DescriptorSize:] {
				d := wire.ParseDescriptor(payload)
				if d.Slot != wire.NoSlot &&
					(int(d.Slot) >= s.reply.Slots || int64(d.Rows) > s.layout.batchSize) {
					return fmt.Errorf("%w: a batch of %d windows in slot %d", ErrProtocol,
						d.Rows, d.Slot)
				}
				s.queue = append(s.queue, d)
			}
		default:
			return fmt.Errorf("%w: a frame of kind %d and %d bytes in a feed", ErrProtocol,
				kind, length)
		}
		at = end
	}
	s.filled = copy(s.buffer, s.buffer[at:s.filled])
	if s.next == len(s.queue) {
		return s.daemonError
	}
	return nil
}

// undoNext makes nextDescriptor return its latest descriptor again.
func (s *stream) undoNext() { s.next-- }

// giveBack sends the freed slots as one CREDIT frame if there are at least atLeast, and with it a
// METER frame if one is due.
func (s *stream) giveBack(atLeast int) error {
	if s.ring.freedCount() < atLeast {
		return nil
	}
	s.freed = s.ring.takeFreed(s.freed[:0])
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frame = appendHeader(s.frame[:0], wire.FrameCredit, 4*len(s.freed))
	for _, slot := range s.freed {
		s.frame = binary.LittleEndian.AppendUint32(s.frame, slot)
	}
	s.frame = s.meter.appendFrame(s.frame, false)
	return s.sendFrame()
}

// sendMeter sends a METER frame at once.
func (s *stream) sendMeter() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frame = s.meter.appendFrame(s.frame[:0], true)
	_, err := s.conn.Write(s.frame)
	if err != nil {
		s.writeFailed.Store(true)
	}
	return err
}

// seek continues at another place, and makes nextDescriptor skip what was sent before.
func (s *stream) seek(epoch uint64, consumed int64) error {
	s.id++
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frame = appendHeader(s.frame[:0], wire.FrameSeek, wire.SeekSize)
	s.frame = wire.Seek{Stream: s.id, Epoch: epoch, Consumed: consumed}.Append(s.frame)
	return s.sendFrame()
}

// sendFrame sends frame. The caller holds mu.
func (s *stream) sendFrame() error {
	if _, err := s.conn.Write(s.frame); err != nil {
		s.writeFailed.Store(true)
		return s.finalError(err)
	}
	return nil
}

// finalError returns the error of the ERROR frame that the daemon sent before it closed the
// connection, or else err.
func (s *stream) finalError(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	_ = s.conn.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	for s.daemonError == nil {
		n, readErr := s.conn.Read(s.buffer[s.filled:])
		s.filled += n
		if parseErr := s.parse(); parseErr != nil {
			return parseErr
		}
		if readErr != nil {
			return err
		}
	}
	return s.daemonError
}

// cursorJSON returns a cursor in JSON; nil is the beginning.
func cursorJSON(c *Cursor) (json.RawMessage, error) {
	if c == nil {
		return nil, nil
	}
	return json.Marshal(c)
}
