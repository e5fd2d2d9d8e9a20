package feed

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/feed/transport"
	"github.com/tensorcache/tensorcache/internal/wire"
)

// client is a connection to feed.sock, as docs/PROTOCOL.md describes it.
type client struct{ conn *net.UnixConn }

func dial(path string) (client, error) {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return client{}, err
	}
	return client{conn}, nil
}

func (c client) send(kind uint32, payload []byte) error {
	return c.sendWithin(waitTimeout, kind, payload)
}

// sendWithin returns an error if the daemon does not read the frame within d.
func (c client) sendWithin(d time.Duration, kind uint32, payload []byte) error {
	if err := c.conn.SetWriteDeadline(time.Now().Add(d)); err != nil {
		return err
	}
	frame := make([]byte, wire.HeaderSize, wire.HeaderSize+len(payload))
	wire.PutHeader(frame, kind, len(payload))
	_, err := c.conn.Write(append(frame, payload...))
	return err
}

// receive reads a frame and the file descriptors of its first byte. If it is ERROR, the error is a
// *wire.Problem.
func (c client) receive() (kind uint32, payload []byte, fds []int, err error) {
	if err := c.conn.SetReadDeadline(time.Now().Add(waitTimeout)); err != nil {
		return 0, nil, nil, err
	}
	var header [wire.HeaderSize]byte
	oob := make([]byte, unix.CmsgSpace(8*4))
	n, m, _, _, err := c.conn.ReadMsgUnix(header[:], oob)
	if err == nil && n == 0 {
		err = io.EOF
	}
	if err == nil && m > 0 {
		fds, err = rights(oob[:m])
	}
	if err == nil {
		_, err = io.ReadFull(c.conn, header[n:])
	}
	if err != nil {
		return 0, nil, fds, err
	}
	payload = make([]byte, binary.LittleEndian.Uint32(header[:]))
	kind = binary.LittleEndian.Uint32(header[4:])
	if _, err = io.ReadFull(c.conn, payload); err == nil && kind == wire.FrameError {
		var p wire.Problem
		if err = wire.Strict(payload, &p); err == nil {
			err = &p
		}
	}
	return kind, payload, fds, err
}

func rights(oob []byte) (fds []int, err error) {
	messages, err := unix.ParseSocketControlMessage(oob)
	for _, m := range messages {
		more, rerr := unix.ParseUnixRights(&m)
		fds, err = append(fds, more...), errors.Join(err, rerr)
	}
	return fds, err
}

// ask sends a request and decodes the reply.
func (c client) ask(request, answer any) (fds []int, err error) {
	payload, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	if err := c.send(wire.FrameRequest, payload); err != nil {
		return nil, err
	}
	kind, payload, fds, err := c.receive()
	if err == nil && kind != wire.FrameReply {
		err = fmt.Errorf("answered by a frame of kind %d", kind)
	}
	if err == nil {
		err = wire.Strict(payload, answer)
	}
	return fds, err
}

// trainer is a client with a feed. It reads batches and returns their slots.
type trainer struct {
	client
	wire.FeedReply
	ring    []byte
	fd      int
	stream  uint32
	pending []wire.Descriptor
	words   []uint64 // of the queue; nil without one
	seen    uint64
	given   uint64
}

func attachTo(path string, request map[string]any) (*trainer, error) {
	c, err := dial(path)
	if err != nil {
		return nil, err
	}
	t := &trainer{client: c, fd: -1}
	fds, err := c.ask(request, &t.FeedReply)
	if err == nil && len(fds) != 1 {
		err = fmt.Errorf("%d descriptors came with the reply, want the ring's", len(fds))
	}
	if err == nil {
		t.fd = fds[0]
		size := t.SlotBytes * int64(t.Slots)
		if t.Queue != nil {
			size = t.Queue.Offset + transport.QueueBytes(t.Slots)
		}
		t.ring, err = unix.Mmap(t.fd, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		if err == nil && t.Queue != nil {
			t.words = unsafeSlice[uint64](t.ring[t.Queue.Offset:])
		}
	}
	if err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

func (env *testEnv) attach(t tb, request map[string]any) *trainer {
	t.Helper()
	return must(attachTo(env.path, request))(t)
}

// refuse returns the problem with which the daemon refuses a request.
func (env *testEnv) refuse(t tb, request any) *wire.Problem {
	t.Helper()
	c := must(dial(env.path))(t)
	defer c.conn.Close()
	var answer map[string]any
	_, err := c.ask(request, &answer)
	return problemIn(t, err)
}

func problemIn(t tb, err error) *wire.Problem {
	t.Helper()
	var p *wire.Problem
	if !errors.As(err, &p) {
		t.Fatalf("got %v, want a problem", err)
	}
	return p
}

func (t *trainer) close() {
	t.conn.Close()
	if t.ring != nil {
		_ = unix.Munmap(t.ring)
		t.ring = nil
	}
	if t.fd >= 0 {
		unix.Close(t.fd)
		t.fd = -1
	}
}

// next returns the next descriptor, of any stream.
func (t *trainer) next() (wire.Descriptor, error) {
	for len(t.pending) == 0 {
		if t.words != nil && t.readQueue() {
			break
		}
		kind, payload, _, err := t.receive()
		if err != nil {
			return wire.Descriptor{}, err
		}
		if kind != wire.FrameBatches || (len(payload) == 0) != (t.words != nil) ||
			len(payload)%wire.DescriptorSize != 0 {
			return wire.Descriptor{}, fmt.Errorf("a frame of kind %d and %d bytes, want batches",
				kind, len(payload))
		}
		for ; len(payload) > 0; payload = payload[wire.DescriptorSize:] {
			t.pending = append(t.pending, wire.ParseDescriptor(payload))
		}
	}
	d := t.pending[0]
	t.pending = t.pending[1:]
	return d, nil
}

// batch returns the next descriptor of the current stream. It returns the slots of older streams.
func (t *trainer) batch(test tb) wire.Descriptor {
	test.Helper()
	for {
		d := must(t.next())(test)
		if d.Stream == t.stream {
			return d
		}
		if d.Slot != wire.NoSlot {
			t.credit(test, d.Slot)
		}
	}
}

func (t *trainer) credit(test tb, slots ...uint32) {
	test.Helper()
	if t.words != nil {
		t.giveCredits(slots...)
		slots = nil
	}
	var payload []byte
	for _, s := range slots {
		payload = binary.LittleEndian.AppendUint32(payload, s)
	}
	if err := t.send(wire.FrameCredit, payload); err != nil {
		test.Fatal(err)
	}
}

func (t *trainer) seek(test tb, epoch uint64, consumed int64) {
	test.Helper()
	t.stream++
	if err := t.send(wire.FrameSeek,
		wire.Seek{Stream: t.stream, Epoch: epoch, Consumed: consumed}.Append(nil)); err != nil {
		test.Fatal(err)
	}
}

// ended reads until the daemon ends the feed, and returns its error: io.EOF if there is none.
func (t *trainer) ended() error {
	for {
		if _, err := t.next(); err != nil {
			return err
		}
	}
}

// slot returns the memory of a slot.
func (t *trainer) slot(i uint32) []byte { return t.ring[int64(i)*t.SlotBytes:][:t.SlotBytes] }

// part returns a part by its name, nil if there is none.
func (t *trainer) part(name string) *wire.Part {
	for i := range t.Parts {
		if t.Parts[i].Name == name {
			return &t.Parts[i]
		}
	}
	return nil
}

// starts returns the first rows of a batch's windows.
func (t *trainer) starts(d wire.Descriptor) []int64 {
	return int64s(t.slot(d.Slot), t.part("start").Offset, int(d.Rows))
}
