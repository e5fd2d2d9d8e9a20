package feed

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"net"
	"testing"
	"time"

	"github.com/tensorcache/tensorcache/internal/batch"
	"github.com/tensorcache/tensorcache/internal/feed/prefetch"
	"github.com/tensorcache/tensorcache/internal/feed/transport"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/sampler"
)

// slow is a file of which nothing is in memory. It counts what is done with its pages.
type slow struct{ looks, asked, waits, disabled int }

func (s *slow) Resident(int64) bool      { s.looks++; return false }
func (s *slow) WillNeed(_, _ int64)      { s.asked++ }
func (s *slow) Populate(int64, int64)    { s.waits++ }
func (s *slow) DisableReadAhead() func() { s.disabled++; return func() { s.disabled-- } }
func (s *slow) IsReadAheadOff() bool     { return s.disabled > 0 }

// told is a trainer's end that writes down how many pages had been waited for when it was told of
// batches.
type told struct {
	net.Conn
	file    *slow
	batches int
	most    int // waits for pages that were not of a batch it was told of
}

func (c *told) SetReadDeadline(time.Time) error  { return nil }
func (c *told) SetWriteDeadline(time.Time) error { return nil }
func (c *told) TryRead([]byte) (int, error)      { return 0, nil }

// ReadFor is not called without a queue.
func (c *told) ReadFor([]byte, time.Duration) (int, error) { return 0, io.EOF }

// Read is called once all slots are full: the trainer has heard enough, and goes.
func (c *told) Read([]byte) (int, error) { return 0, io.EOF }

func (c *told) Write(b []byte) (int, error) {
	c.most = max(c.most, c.file.waits-c.batches)
	c.batches += int(binary.LittleEndian.Uint32(b)) / wire.DescriptorSize
	return len(b), nil
}

const coldSlots = 32

// serveCold serves coldSlots batches of a feed of whose file nothing is in memory.
func serveCold(t *testing.T, st *stream) (*slow, *told) {
	t.Helper()
	file := &slow{}
	c := &told{file: file}
	st.prefetcher = prefetch.New(file, st.windows, st.sampler.Options(),
		st.delivery != batch.Starts)
	st.connect(transport.New(c, nil, st.slots, st, &st.pool.Busy))
	if err := st.serve(); !errors.Is(err, io.EOF) || c.batches != coldSlots {
		t.Fatalf("%d batches, then %v", c.batches, err)
	}
	return file, c
}

// coldBurst returns how many batches of a feed are announced at once if nothing is in memory.
func coldBurst(t *testing.T, st *stream) int {
	t.Helper()
	p := prefetch.New(&slow{}, st.windows, st.sampler.Options(), true)
	var b sampler.Batch
	if err := errors.Join(st.sampler.Batch(&b, 0, 0), p.Check(&b, 0, 0)); err != nil ||
		!p.IsCold() {
		t.Fatalf("cold %t, %v", p.IsCold(), err)
	}
	return p.BurstSize(math.MaxInt)
}

// TestAColdBatchIsAnnouncedBeforeManyOthersAreRead counts pages, one a batch, that were waited for
// before a batch was announced.
func TestAColdBatchIsAnnouncedBeforeManyOthersAreRead(t *testing.T) {
	for _, delivery := range []string{batch.Slot, batch.Local} {
		t.Run(delivery, func(t *testing.T) {
			w := newWorld(t, roomy)
			w.series(t, "d", 1_000_000)
			st, detach := w.stream(t,
				request("d", with("slots", coldSlots), with("delivery", delivery),
					spec("columns", []string{"a"}),
					options("order", "random_start", "batch_size", 60_000)))
			defer detach()
			_, c := serveCold(t, st)
			if st.forDisk <= 0 {
				t.Error("the meter has no word of waiting for the disk")
			}
			burst := coldBurst(t, st)
			if most := 2 * burst; c.most > most {
				t.Errorf("%d batches were waited for before one of them was announced, want at most %d: a burst, and the next", c.most, most)
			}
		})
	}
}

// TestAFeedOfPlacesAloneAsksForNoPage has nothing in memory: one page of a billion rows that was
// not took such a feed a system call a window, for a thousand batches.
func TestAFeedOfPlacesAloneAsksForNoPage(t *testing.T) {
	w := newWorld(t, roomy)
	w.series(t, "d", 100_000)
	st, detach := w.stream(t, request("d", with("slots", coldSlots), with("delivery", batch.Starts),
		options("order", "shuffle", "batch_size", 60)))
	defer detach()
	file, _ := serveCold(t, st)
	if file.looks+file.asked+file.waits+file.disabled > 0 {
		t.Errorf("%d looks at pages, %d asked for, %d waited for; want none", file.looks,
			file.asked, file.waits)
	}
}
