package tensorcache

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// Stats is what a feed did so far, and who waited for whom: the trainer for data, by its own clock,
// the daemon for the trainer, by the daemon's.
type Stats struct {
	Batches   int64         // handed to the loop
	Pass      time.Duration // inside passes
	WaitData  time.Duration // of these, in wait for data
	Held      int           // slots that the trainer keeps
	Copied    int64         // batches copied out because the trainer kept nearly all slots
	Slots     int           // of the ring
	SlotBytes int64
	// how a context gets to the loop: memcpy, transpose or view; "" where the daemon has no part in
	// it
	Path string

	Step map[string]time.Duration // what a step took by each delivery that DeliverAuto has tried

	WaitTrainer      time.Duration // how long the daemon waited for the trainer
	WaitTrainerShare float64       // of the time since the feed was attached
	// what limits the feed and what to try, in one line; "" where the daemon has no word of it
	Verdict string
}

// Stats asks the daemon how the feed does. Where no daemon serves it, what the daemon would say is
// left out.
func (f *Feed[T]) Stats(ctx context.Context) (Stats, error) {
	for {
		s, stats := f.localStats()
		if s == nil {
			return stats, nil
		}
		err := f.askDaemon(ctx, s, &stats)
		if err != nil && !f.isServing(s) { // another one does since: it is asked
			continue
		}
		if errors.Is(err, FeedNotFound) { // it has just ended
			err = nil
		}
		return stats, err
	}
}

// serves tells whether the feed's batches come from a stream.
func (f *Feed[T]) isServing(s *stream) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.stream == s
}

// count is what is known here, and the stream to ask about; nil where none is attached.
func (f *Feed[T]) localStats() (*stream, Stats) {
	f.mu.Lock()
	defer f.mu.Unlock()
	stats := Stats{Batches: f.batches, Copied: f.oldCopied}
	stats.Pass, stats.WaitData = f.meter.read()
	if f.chooser != nil {
		stats.Step = f.chooser.stepTimes()
	}
	rings := f.oldRings
	if s := f.stream; s != nil {
		stats.Slots, stats.SlotBytes, stats.Path = s.reply.Slots, s.reply.SlotBytes, s.reply.Path
		_, copied := s.ring.counts()
		stats.Copied += copied
		rings = append(rings[:len(rings):len(rings)], s.ring)
	}
	for _, r := range rings {
		lent, _ := r.counts()
		stats.Held += lent
	}
	return f.stream, stats
}

// hear asks the daemon until it has heard what it was told just before.
func (f *Feed[T]) askDaemon(ctx context.Context, s *stream, stats *Stats) error {
	if err := s.sendMeter(); err != nil {
		return connectionError(ctx, err)
	}
	for range maxStatusRequests {
		var status wire.Feed
		if err := clientError(f.windows.data.cache.control.Get(ctx, "/v1/feeds/"+s.reply.Feed,
			&status)); err != nil {
			return err
		}
		stats.WaitTrainer, stats.WaitTrainerShare, stats.Verdict = seconds(status.WaitTrainerS),
			status.WaitTrainerShare, status.Verdict
		// one reading for all: the verdict is on what the daemon was told
		if reported := seconds(status.PassS); reported >= stats.Pass {
			stats.Pass, stats.WaitData = reported, seconds(status.WaitDataS)
			break
		}
	}
	return nil
}

// hearings is how often the daemon is asked about a feed until it has heard what it was told of it
// just before.
const maxStatusRequests = 20

func seconds(s float64) time.Duration { return time.Duration(math.Round(s * float64(time.Second))) }
