package feed

import (
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/tensorcache/tensorcache/internal/batch"
	"github.com/tensorcache/tensorcache/internal/feed/prefetch"
	"github.com/tensorcache/tensorcache/internal/feed/transport"
	"github.com/tensorcache/tensorcache/internal/peer"
	"github.com/tensorcache/tensorcache/internal/plan"
	"github.com/tensorcache/tensorcache/internal/problem"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/sampler"
	"github.com/tensorcache/tensorcache/store"
)

// feed attaches a trainer and serves it until either side ends the feed.
func (s *Server) feed(conn *net.UnixConn, p peer.Process, r wire.FeedRequest) error {
	h, err := plan.Acquire(s.Store, r.Dataset, r.Generation, r.Digest)
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
	socket, err := transport.NewSocket(conn)
	if err != nil {
		return err
	}
	c := transport.New(socket, st.queue, st.slots, st, &s.pool.Busy)
	defer s.watch(conn, p, func() { c.Close() })()
	st.connect(c)
	s.reportEnd(c, problem.OfLost(h, st.serve()))
	return nil
}

// attach checks a request and makes its feed, ring and reply.
func (s *Server) attach(p peer.Process, h *store.Handle, r wire.FeedRequest) (*feed,
	*wire.FeedReply, error) {
	if r.Slots != 0 && (r.Slots < minSlots || r.Slots > maxSlots) {
		return nil, nil,
			wire.NewProblem(wire.InvalidSpec,
				"slots: got %d, want %d to %d, or 0 to let the daemon choose", r.Slots, minSlots,
				maxSlots).WithField("slots")
	}
	w, err := plan.New(h, r.Spec, r.Cuts)
	if err != nil {
		return nil, nil, err
	}
	if err := w.Index.Explain(); err != nil {
		return nil, nil, err
	}
	sm, err := w.Sampler(r.Options)
	if err != nil {
		return nil, nil, err
	}
	digest, hash := h.Data.Manifest.Digest, w.Index.Hash()
	cursor := sm.Cursor(digest, hash, 0, 0)
	cursor.Spec = cursorSpec(w)
	if len(r.Cursor) > 0 && string(r.Cursor) != "null" {
		given, err := sampler.ParseCursor(r.Cursor)
		if err != nil {
			return nil, nil, err
		}
		if err := given.Check(cursor); err != nil {
			return nil, nil, err
		}
		if err := sm.Check(given, digest, hash); err != nil {
			return nil, nil, err
		}
		given.Spec = cursor.Spec
		cursor = given
	}
	features := w.Features() // of the spec, not of the parts that the request names
	if w, err = w.Select(r.Parts, r.Mask); err != nil {
		return nil, nil, err
	}
	warnings, err := w.Warnings()
	if err != nil {
		return nil, nil, err
	}
	delivery, err := batch.ChooseDelivery(w, r, sm.Options())
	if err != nil {
		return nil, nil, err
	}
	slot, err := batch.NewLayout(w, delivery, batch.ShapeOf(sm, r.ChannelsFirst, r.Mask))
	if err != nil {
		return nil, nil, err
	}
	f, err := batch.NewFiller(w, slot, r.ChannelsFirst)
	if err != nil {
		return nil, nil, err
	}
	f.Yield = s.pool.Yield
	queued := r.Queue && transport.HasQueues()
	rng, slots, err := s.makeRing(chooseSlots(r.Slots, slot.Bytes), slot.Bytes, queued)
	if err != nil {
		return nil, nil, err
	}
	st := &feed{id: fmt.Sprintf("f%d", s.ids.Add(1)), pid: p.PID, client: r.Client, windows: w,
		sampler: sm, delivery: delivery, filler: f, ring: rng, pool: s.pool, slots: slots,
		reconnects: r.Reconnect, turn: s.pool.NewTurn(),
		prefetcher: prefetch.New(h.Data.Map(), w, sm, readerOf(delivery))}
	st.start(cursor.Epoch, cursor.Consumed)
	var place *wire.Queue
	if queued {
		at := int64(slots) * slot.Bytes
		st.queue = rng.memory.Bytes()[at:]
		place = &wire.Queue{Offset: at, Descriptors: transport.QueueCapacity(slots)}
	}
	if err := s.register(st, r.Instead); err != nil {
		return nil, nil, errors.Join(err, rng.close())
	}
	return st, &wire.FeedReply{
		Protocol: r.Protocol(), Version: s.Version, Feed: st.id, Dataset: h.Dataset,
		Generation: h.Generation, Digest: digest,
		Delivery: delivery, Path: f.Path(delivery), Slots: slots, SlotBytes: slot.Bytes,
		Parts:   slot.Parts,
		Windows: w.Index.Len(), Batches: sm.Steps(cursor.Epoch, 0), Cursor: cursor, Queue: place,
		Features: features, Warnings: warnings,
	}, nil
}

// readerOf returns who reads the rows of batches.
func readerOf(delivery string) prefetch.Reader {
	switch delivery {
	case batch.Slot:
		return prefetch.Daemon
	case batch.Starts:
		return prefetch.Nobody
	}
	return prefetch.Client
}

// maxCursorSpec is the largest spec with cuts that a cursor contains. Cuts may have lists of items.
const maxCursorSpec = 4 << 10

// cursorSpec returns the spec and the cuts for a cursor, "" if they are long.
func cursorSpec(w *plan.Windows) string {
	if text := w.Index.Canonical(); len(text) <= maxCursorSpec {
		return text
	}
	return ""
}

// ringTimeout is how long a ring that does not fit waits for other feeds to end. The daemon learns
// a moment later than the trainer that a feed was closed; a trainer that closes one feed to open
// another would be refused.
const ringTimeout = 250 * time.Millisecond

// makeRing reserves a ring within the store's budget, with fewer slots if it does not fit.
func (s *Server) makeRing(slots int, slotBytes int64, queued bool) (*ring, int, error) {
	s.mu.Lock() // one ring at a time
	have, budget := s.awaitRingMemory(minSlots * slotBytes)
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
				"use a smaller `batch_size`, fewer columns, close another feed, or unpin a dataset")
	}
	var more int64
	if queued {
		more = transport.QueueBytes(slots)
	}
	remove := s.Store.Budget.AddRing(int64(slots)*slotBytes + more)
	s.mu.Unlock()
	r, err := newRing(filepath.Join(s.Store.Dir(), "tmp"), slots, slotBytes, more)
	if err != nil {
		remove()
		return nil, 0, err
	}
	r.remove = remove
	return r, slots, nil
}

// awaitRingMemory returns how many bytes the store has left for rings, and the budget. If fewer
// than bytes are left, it waits up to ringTimeout for feeds to end. The caller holds mu, which
// awaitRingMemory releases while it waits.
func (s *Server) awaitRingMemory(bytes int64) (have, budget int64) {
	late := time.After(s.ringTimeout)
	for over := false; ; {
		have, budget = s.Store.Budget.LeftForRings()
		if have >= bytes || len(s.feeds) == 0 || over {
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

// detach removes a feed and its ring. It closes the ring first, so that its memory is free once
// the feed is no longer listed.
func (s *Server) detach(st *feed) {
	if err := st.ring.close(); err != nil {
		s.Log.Error("close ring", "feed", st.id, "error", err)
	}
	s.mu.Lock()
	delete(s.feeds, st)
	s.notify()
	s.mu.Unlock()
}
