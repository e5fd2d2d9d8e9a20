package feed

import (
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/sampler"
	"github.com/tensorcache/tensorcache/store"
)

// Acquire opens the generation that a request names; a digest that is given must be the
// generation's.
func Acquire(s *store.Store, dataset string, generation int64,
	digest string) (*store.Handle, error) {
	h, err := s.Acquire(dataset, generation)
	if err != nil {
		return nil, err
	}
	if have := h.Data.Manifest.Digest; digest != "" && digest != have {
		h.Release()
		return nil, fmt.Errorf("%w: generation %d of %q now has digest %s, the request names %s",
			store.ErrGone, h.Generation, dataset, have, digest)
	}
	return h, nil
}

// feed attaches a trainer and serves it until either side ends it.
func (s *Server) feed(conn *net.UnixConn, p peer, r wire.FeedRequest) error {
	h, err := Acquire(s.Store, r.Dataset, r.Generation, r.Digest)
	if err != nil {
		return err
	}
	defer h.Release()
	st, reply, err := s.attach(p, h, r)
	if err != nil {
		return err
	}
	defer s.detach(st)
	if err := sendReply(conn, reply, st.ring.memory.File()); err != nil {
		return err
	}
	l, err := newSocket(conn)
	if err != nil {
		return err
	}
	defer s.watch(conn, p, func() { l.Close() })()
	st.connected(l)
	s.ended(l, lost(h, st.serve()))
	return nil
}

// attach checks a request and makes its stream, ring and reply.
func (s *Server) attach(p peer, h *store.Handle, r wire.FeedRequest) (*stream,
	*wire.FeedReply, error) {
	if r.Slots != 0 && (r.Slots < minSlots || r.Slots > maxSlots) {
		return nil, nil,
			wire.NewProblem(wire.InvalidSpec,
				"slots: got %d, want %d to %d, or 0 to let the daemon choose", r.Slots, minSlots,
				maxSlots).WithField("slots")
	}
	w, err := NewWindows(h, r.Spec, r.Cuts)
	if err != nil {
		return nil, nil, err
	}
	if err := w.Index.Explain(); err != nil {
		return nil, nil, err
	}
	sm, err := sampler.New(w.Index, r.Options)
	if err != nil {
		return nil, nil, err
	}
	digest, hash := h.Data.Manifest.Digest, w.Index.Hash()
	cursor := sm.Cursor(digest, hash, 0, 0)
	if len(r.Cursor) > 0 && string(r.Cursor) != "null" {
		if cursor, err = sampler.ParseCursor(r.Cursor); err != nil {
			return nil, nil, err
		}
		if err := sm.Check(cursor, digest, hash); err != nil {
			return nil, nil, err
		}
	}
	delivery, err := w.delivery(r, sm.Options())
	if err != nil {
		return nil, nil, err
	}
	layout, err := newRingLayout(w, delivery, sm.Options(), r.ChannelsFirst, r.Mask)
	if err != nil {
		return nil, nil, err
	}
	f, err := newFiller(w, layout, r.ChannelsFirst)
	if err != nil {
		return nil, nil, err
	}
	f.load = &s.pool.load
	queued := r.Queue && queues()
	rng, slots, err := s.makeRing(chooseSlots(r.Slots, layout.bytes), layout.bytes, queued)
	if err != nil {
		return nil, nil, err
	}
	st := &stream{id: fmt.Sprintf("f%d", s.ids.Add(1)), pid: p.pid, client: r.Client, windows: w,
		sampler: sm, delivery: delivery, filler: f, ring: rng, pool: s.pool, slots: slots,
		goesOn: r.Reconnect, asker: newAsker(h.Data.Map(), w, sm.Options(), delivery)}
	st.start(cursor.Epoch, cursor.Consumed)
	var place *wire.Queue
	if queued {
		at := int64(slots) * layout.bytes
		st.queue = newQueue(rng.memory.Bytes()[at:], slots)
		place = &wire.Queue{Offset: at, Descriptors: int(st.queue.room)}
	}
	if err := s.enter(st, r.Instead); err != nil {
		return nil, nil, errors.Join(err, rng.close())
	}
	return st, &wire.FeedReply{
		Protocol: wire.Protocol, Version: s.Version, Feed: st.id, Dataset: h.Dataset,
		Generation: h.Generation, Digest: digest,
		Delivery: delivery, Path: pathOf(delivery, f), Slots: slots, SlotBytes: layout.bytes,
		Parts:   layout.parts,
		Windows: w.Index.Len(), Batches: sm.Steps(cursor.Epoch, 0), Cursor: cursor, Queue: place,
		Features: w.Features(),
	}, nil
}

// leaving is how long a ring that does not fit waits for feeds to end: the daemon hears a moment
// later than its trainer that a feed was closed, and who closes one to make another would be
// refused.
const leaving = 250 * time.Millisecond

// makeRing reserves a ring within the store's budget, with fewer slots where it does not fit.
func (s *Server) makeRing(slots int, slotBytes int64, queued bool) (*ring, int, error) {
	s.mu.Lock() // one ring at a time
	have, budget := s.roomForRing(minSlots * slotBytes)
	if int64(slots)*slotBytes > have {
		slots = int(have / slotBytes)
	}
	if slots < minSlots {
		s.mu.Unlock()
		need := uint64(minSlots * slotBytes)
		return nil, 0,
			wire.NewProblem(wire.Memory,
				"a ring of %d slots needs %s, the memory budget has %s left of %s", minSlots,
				humanize.IBytes(need), humanize.IBytes(uint64(have)),
				humanize.IBytes(uint64(budget))).
				WithField("batch_size").WithHint(
				"use a smaller batch_size, fewer columns, close another feed, or unpin a dataset")
	}
	var more int64
	if queued {
		more = queueBytes(slots)
	}
	remove := s.Store.AddRing(int64(slots)*slotBytes + more)
	s.mu.Unlock()
	r, err := newRing(filepath.Join(s.Store.Dir(), "tmp"), slots, slotBytes, more)
	if err != nil {
		remove()
		return nil, 0, err
	}
	r.remove = remove
	return r, slots, nil
}

// roomForRing is the store's, after a while if it is not so much at once. The caller holds mu,
// which is not held meanwhile.
func (s *Server) roomForRing(bytes int64) (have, budget int64) {
	late := time.After(s.leaving)
	for over := false; ; {
		have, budget = s.Store.RingRoom()
		if have >= bytes || len(s.streams) == 0 || over {
			return have, budget
		}
		change := s.change
		s.mu.Unlock()
		select {
		case <-change:
		case <-late:
			over = true
		}
		s.mu.Lock()
	}
}

// detach forgets a stream and its ring: the ring first, so that who sees that the feed is gone
// finds its memory free.
func (s *Server) detach(st *stream) {
	if err := st.ring.close(); err != nil {
		s.Log.Error("close ring", "feed", st.id, "error", err)
	}
	s.mu.Lock()
	delete(s.streams, st)
	s.touch()
	s.mu.Unlock()
}
