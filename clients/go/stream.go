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

// stream is one attachment to the daemon: the socket that descriptors come from and credits go to,
// and the ring.
type stream struct {
	conn         *net.UnixConn
	reply        wire.FeedReply
	layout       *slotLayout
	ring         *ring
	meter        *meter
	attached     time.Time     // of the attachment
	passedBefore time.Duration // inside passes, then
	close        func()

	id          uint32            // descriptors of an older stream are to be skipped
	queue       []wire.Descriptor // received; those before at were handed out
	next        int
	buffer      []byte // received; the first filled bytes are not parsed yet
	filled      int
	daemonError error       // an ERROR frame came
	writeFailed atomic.Bool // a frame was perhaps sent in part

	freed []uint32 // scratch of giveBack
	mu    sync.Mutex
	frame []byte // what is being sent
}

// attach opens a feed.
func (c *Cache) attach(ctx context.Context, request wire.FeedRequest, m *meter) (*stream, error) {
	s := &stream{meter: m, buffer: make([]byte, 1<<16)}
	conn, files, err := c.request(ctx, request, &s.reply)
	if err != nil {
		return nil, err
	}
	s.conn, s.attached = conn, time.Now()
	s.passedBefore, _ = m.read()
	if err := s.mapRing(files); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	s.id = s.reply.Stream
	s.queue = make([]wire.Descriptor, 0, s.reply.Slots)
	s.close = sync.OnceFunc(func() {
		// a daemon that stands still holds nobody up
		_ = s.conn.SetWriteDeadline(time.Now().Add(time.Second))
		s.mu.Lock()
		_, _ = s.conn.Write(appendHeader(nil, wire.FrameDone, 0))
		s.mu.Unlock()
		_ = s.conn.Close()
		s.ring.close()
	})
	return s, nil
}

// mapRing maps the ring of the reply, and checks what it says of a slot against it.
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

// next is the next descriptor of this stream; older ones are skipped and their slots given back. ok
// is false where more must be received first.
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

// receive waits for some bytes more of what the daemon sends: descriptors, perhaps none yet. Slots
// are given back before, so the daemon always has what the trainer does not hold. What was received
// before an error is kept.
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

// parse takes the whole frames out of the buffer.
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

// unread takes back that next handed out its latest descriptor.
func (s *stream) undoNext() { s.next-- }

// giveBack sends the freed slots as one CREDIT, if there are so many, and now and then what the
// meter says.
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

// report tells the daemon what the meter says.
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

// seek goes on at another place; what is under way from before is skipped.
func (s *stream) seek(epoch uint64, consumed int64) error {
	s.id++
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frame = appendHeader(s.frame[:0], wire.FrameSeek, wire.SeekSize)
	s.frame = wire.Seek{Stream: s.id, Epoch: epoch, Consumed: consumed}.Append(s.frame)
	return s.sendFrame()
}

// write sends what is in out; the caller holds mu.
func (s *stream) sendFrame() error {
	if _, err := s.conn.Write(s.frame); err != nil {
		s.writeFailed.Store(true)
		return s.finalError(err)
	}
	return nil
}

// lastWords is the ERROR frame that the daemon may have left before it closed, else the error.
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

// cursorJSON is a cursor in a request; nil begins at the beginning.
func cursorJSON(c *Cursor) (json.RawMessage, error) {
	if c == nil {
		return nil, nil
	}
	return json.Marshal(c)
}
