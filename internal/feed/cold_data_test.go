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

// coldFile is a file that is not in memory. It counts the calls of its methods.
type coldFile struct{ checks, asked, waits, disabled int }

func (s *coldFile) Resident(int64) bool      { s.checks++; return false }
func (s *coldFile) WillNeed(_, _ int64)      { s.asked++ }
func (s *coldFile) Populate(int64, int64)    { s.waits++ }
func (s *coldFile) DisableReadAhead() func() { s.disabled++; return func() { s.disabled-- } }
func (s *coldFile) IsReadAheadOff() bool     { return s.disabled > 0 }

// recordingSocket is the socket of a trainer. For each message with batches, it records how many
// pages the feed had waited for.
type recordingSocket struct {
	net.Conn
	file    *coldFile
	batches int
	most    int // most pages that were waited for beyond those of the announced batches
}

func (c *recordingSocket) SetReadDeadline(time.Time) error  { return nil }
func (c *recordingSocket) SetWriteDeadline(time.Time) error { return nil }
func (c *recordingSocket) TryRead([]byte) (int, error)      { return 0, nil }

// ReadFor is never called, because the feed has no queue.
func (c *recordingSocket) ReadFor([]byte, time.Duration) (int, error) { return 0, io.EOF }

// Read is called when all slots are full. The trainer then ends the feed.
func (c *recordingSocket) Read([]byte) (int, error) { return 0, io.EOF }

func (c *recordingSocket) Write(b []byte) (int, error) {
	c.most = max(c.most, c.file.waits-c.batches)
	c.batches += int(binary.LittleEndian.Uint32(b)) / wire.DescriptorSize
	return len(b), nil
}

const coldSlots = 32

// serveCold serves coldSlots batches of a feed whose file is not in memory.
func serveCold(t *testing.T, st *feed) (*coldFile, *recordingSocket) {
	t.Helper()
	file := &coldFile{}
	c := &recordingSocket{file: file}
	st.prefetcher = prefetch.New(file, st.windows, st.sampler, readerOf(st.delivery))
	st.connect(transport.New(c, nil, st.slots, st, &st.pool.Busy))
	if err := st.serve(); !errors.Is(err, io.EOF) || c.batches != coldSlots {
		t.Fatalf("%d batches, then %v", c.batches, err)
	}
	return file, c
}

// coldBurst returns how many batches of a feed are announced at once if nothing is in memory.
func coldBurst(t *testing.T, st *feed) int {
	t.Helper()
	p := prefetch.New(&coldFile{}, st.windows, st.sampler, prefetch.Daemon)
	var b sampler.Batch
	err := st.sampler.Batch(&b, 0, 0)
	if p.Check(&b, 0, 0); err != nil || !p.IsCold() {
		t.Fatalf("cold %t, %v", p.IsCold(), err)
	}
	return p.BurstSize(math.MaxInt)
}

// TestAColdBatchIsAnnouncedBeforeManyOthersAreRead counts the pages, one for each batch, that were
// waited for before a batch was announced.
func TestAColdBatchIsAnnouncedBeforeManyOthersAreRead(t *testing.T) {
	for _, delivery := range []string{batch.Slot, batch.Local} {
		t.Run(delivery, func(t *testing.T) {
			env := newTestEnv(t, largeBudget)
			env.publishSeries(t, "d", 1_000_000)
			st, detach := env.attachFeed(t,
				request("d", with("slots", coldSlots), with("delivery", delivery),
					spec("columns", []string{"a"}),
					options("order", "random_start", "batch_size", 60_000)))
			defer detach()
			_, c := serveCold(t, st)
			if st.forDisk <= 0 {
				t.Error("the meter does not count waits for the disk")
			}
			burst := coldBurst(t, st)
			if most := 2 * burst; c.most > most {
				t.Errorf("%d batches were waited for before one of them was announced, "+
					"want at most %d: a burst, and the next", c.most, most)
			}
		})
	}
}

// TestAFeedOfPlacesReadsNoPages checks that such a feed ignores pages that are not in memory. One
// missing page of a billion rows once cost it a system call for each window of a thousand batches.
func TestAFeedOfPlacesReadsNoPages(t *testing.T) {
	env := newTestEnv(t, largeBudget)
	env.publishSeries(t, "d", 100_000)
	st, detach := env.attachFeed(t, request("d", with("slots", coldSlots),
		with("delivery", batch.Starts),
		options("order", "shuffle", "batch_size", 60)))
	defer detach()
	file, _ := serveCold(t, st)
	if file.checks+file.asked+file.waits+file.disabled > 0 {
		t.Errorf("%d checks of pages, %d asked for, %d waited for; want none", file.checks,
			file.asked, file.waits)
	}
}
