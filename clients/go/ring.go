package tensorcache

import (
	"sync"

	"github.com/tensorcache/tensorcache/internal/mmapfile"
)

// ring is this process's map of a feed's ring of slots. It knows which slots are lent to batches,
// and which the daemon gets back. It is unmapped when it is closed and no slot is lent.
type ring struct {
	slotBytes int64

	mu     sync.Mutex
	memory *mmapfile.Writable
	lent   int
	// maxLent is how many slots are lent at most; further batches are copied.
	maxLent int
	freed   []uint32 // slots to give back to the daemon
	copied  int64    // number of batches that were copied
	closed  bool
}

func newRing(memory *mmapfile.Writable, slots int, slotBytes int64) *ring {
	return &ring{slotBytes: slotBytes, memory: memory, maxLent: max(2, slots-2),
		freed: make([]uint32, 0, slots)}
}

// lend returns the memory of a slot, which is lent until giveBack. If maxLent slots are lent, it
// returns a copy, and isLent is false. If the ring is closed, it returns nil.
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

// peek calls read with a slot's memory, and frees the slot. It returns false if the ring is closed.
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

// alignedBytes returns memory that is aligned for values of every type.
func alignedBytes(size int64) []byte {
	words := make([]uint64, (size+7)/8)
	return bytesOfValues(words)[:size]
}

// giveBack frees a slot that was lent.
func (r *ring) giveBack(slot uint32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lent--
	r.freed = append(r.freed, slot)
	r.unmapWhenUnused()
}

// giveBackUnused frees a slot that was not lent.
func (r *ring) giveBackUnused(slot uint32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.freed = append(r.freed, slot)
}

// freedCount returns the number of freed slots that the daemon has not got back yet.
func (r *ring) freedCount() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.freed)
}

// takeFreed moves the freed slots into b.
func (r *ring) takeFreed(b []uint32) []uint32 {
	r.mu.Lock()
	defer r.mu.Unlock()
	b = append(b, r.freed...)
	r.freed = r.freed[:0]
	return b
}

// close unmaps the ring as soon as no slot is lent.
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

// counts returns the number of lent slots and of copied batches.
func (r *ring) counts() (lent int, copied int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lent, r.copied
}
