package tensorcache

import (
	"fmt"
	"sync"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// spareBlocks is how many blocks a gatherer keeps for batches to come; who held more batches at
// once frees the rest.
const spareBlocks = 16

// gatherer makes batches of what is mapped here, by the deliveries view and local. The maps stay
// until it is closed and no batch is held any more.
type gatherer[T Value] struct {
	parts   *parts[T]
	masks   bool  // views tell of padding, which they do not have
	stride  int64 // rows between neighbouring windows
	release func()

	mu     sync.Mutex
	free   []*gathered[T]
	lent   int
	closed bool
}

// gathered is memory that one batch is gathered into.
type gathered[T Value] struct {
	parts Batch[T]
	back  func()
}

func newGatherer[T Value](w *Windows, o FeedOptions) (*gatherer[T], error) {
	release, err := w.data.retain()
	if err != nil {
		return nil, err
	}
	g := &gatherer[T]{masks: o.Mask, stride: max(1, w.spec.Stride)}
	if g.parts, err = newParts[T](w, int(max(0, o.BatchSize)), o.ChannelsFirst,
		o.Mask); err != nil {
		release()
		return nil, err
	}
	end := w.data.data.Map().DisableReadAhead()
	g.release = func() {
		end()
		release()
	}
	return g, nil
}

// gather fills the parts of a batch by its places.
func (g *gatherer[T]) gather(b *Batch[T], h *holder) error {
	own := g.take()
	if own == nil {
		return fmt.Errorf("the feed is %w", ErrClosed)
	}
	h.block = own.back
	if b.Mask.Data == nil && g.masks {
		g.parts.mask(b, &own.parts)
	}
	return g.parts.fill(b, &own.parts)
}

// view is a batch of windows that start a stride apart: the slot says where the first of them is.
func (g *gatherer[T]) view(s *stream, d wire.Descriptor) (*Batch[T], error) {
	own := g.take()
	if own == nil {
		return nil, fmt.Errorf("the feed is %w", ErrClosed)
	}
	var item, start int64
	if !s.ring.peek(d.Slot, func(memory []byte) {
		item, start = partOf[int64](s.layout, "item", memory, 1).Data[0],
			partOf[int64](s.layout, "start", memory, 1).Data[0]
	}) {
		own.back()
		return nil, fmt.Errorf("the feed is %w", ErrClosed)
	}
	n := int(d.Rows)
	if cap(own.parts.Item) < n {
		own.parts.Item, own.parts.Start = make([]int64, n), make([]int64, n)
	}
	b := &Batch[T]{Item: own.parts.Item[:n], Start: own.parts.Start[:n],
		source: g.parts.windows.source, holder: &holder{block: own.back}}
	b.holder.holds.Store(1)
	for i := range n {
		b.Item[i], b.Start[i] = item, start+int64(i)*g.stride
	}
	if err := g.parts.view(b, &own.parts, g.stride); err != nil {
		b.drop(b.holder)
		return nil, err
	}
	if g.masks {
		g.parts.mask(b, &own.parts)
	}
	return b, nil
}

// take is memory for a batch, nil once the maps may be gone.
func (g *gatherer[T]) take() *gathered[T] {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil
	}
	g.lent++
	if last := len(g.free) - 1; last >= 0 {
		own := g.free[last]
		g.free = g.free[:last]
		return own
	}
	own := &gathered[T]{}
	own.back = func() { g.give(own) }
	return own
}

func (g *gatherer[T]) give(own *gathered[T]) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.lent--
	if len(g.free) < spareBlocks {
		g.free = append(g.free, own)
	}
	g.releaseWhenDone()
}

// close lets go of the maps, as soon as no batch is held. Calling it again does nothing.
func (g *gatherer[T]) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	g.releaseWhenDone()
}

func (g *gatherer[T]) releaseWhenDone() {
	if g.closed && g.lent == 0 {
		g.release()
		g.free = nil
	}
}
