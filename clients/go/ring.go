package tensorcache

import (
	"sync"

	"github.com/tensorcache/tensorcache/internal/mmapfile"
)

// ring is the feed's ring in this process: which slots the trainer holds, and which go back. It is
// unmapped once it is closed and nobody holds a slot.
type ring struct {
	slotBytes int64 // bytes

	mu      sync.Mutex
	memory  *mmapfile.Writable
	lent    int
	maxLent int      // slots that may be held before batches are copied
	freed   []uint32 // to be given back
	copied  int64
	closed  bool
}

func newRing(memory *mmapfile.Writable, slots int, slotBytes int64) *ring {
	return &ring{slotBytes: slotBytes, memory: memory, maxLent: max(2, slots-2),
		freed: make([]uint32, 0, slots)}
}

// take is the memory of a slot, which is held until give. Where nearly all slots are held it is a
// copy, and nothing is held. Of a ring that was closed it is nil.
func (r *ring) lend(slot uint32) (memory []byte, isLent bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, false
	}
	memory = r.bytes(slot)
	if r.lent < r.maxLent {
		r.lent++
		return memory, true
	}
	r.copied++
	r.freed = append(r.freed, slot)
	return append(alignedBytes(r.slotBytes)[:0], memory...), false
}

// peek reads a slot and gives it back at once; ok is false once the ring was closed.
func (r *ring) peek(slot uint32, read func(memory []byte)) (isOpen bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		read(r.bytes(slot))
		r.freed = append(r.freed, slot)
	}
	return !r.closed
}

func (r *ring) bytes(slot uint32) []byte {
	return r.memory.Bytes()[int64(slot)*r.slotBytes:][:r.slotBytes]
}

// alignedBytes is memory in which values of every type may begin.
func alignedBytes(size int64) []byte {
	words := make([]uint64, (size+7)/8)
	return bytesOfValues(words)[:size]
}

// give gives a slot back.
func (r *ring) giveBack(slot uint32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lent--
	r.freed = append(r.freed, slot)
	r.unmapWhenUnused()
}

// skip gives back a slot that was never taken.
func (r *ring) giveBackUnused(slot uint32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.freed = append(r.freed, slot)
}

// count is how many slots wait to be given back.
func (r *ring) freedCount() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.freed)
}

// drain moves the slots that wait into b.
func (r *ring) takeFreed(b []uint32) []uint32 {
	r.mu.Lock()
	defer r.mu.Unlock()
	b = append(b, r.freed...)
	r.freed = r.freed[:0]
	return b
}

// close unmaps the ring, as soon as no slot is held.
func (r *ring) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	r.unmapWhenUnused()
}

func (r *ring) unmapWhenUnused() {
	if r.closed && r.lent == 0 {
		_ = r.memory.Close()
	}
}

// stats are the slots that are held and the batches that were copied out.
func (r *ring) counts() (lent int, copied int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lent, r.copied
}
