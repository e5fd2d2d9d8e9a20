package tensorcache

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// Stats is what a feed has done, and how long each side waited for the other. The client measures
// Pass and WaitData, the daemon WaitTrainer.
type Stats struct {
	Batches   int64         // batches handed to the loop
	Pass      time.Duration // time inside passes
	WaitData  time.Duration // time inside passes in which the loop waited for data
	Held      int           // slots of batches that are held or in the loop's body
	Copied    int64         // batches copied because nearly all slots were held
	Slots     int           // slots of the ring
	SlotBytes int64
	// Path is how the daemon gets a context to the loop: memcpy, transpose or view. It is "" if the
	// daemon does not.
	Path string

	WaitTrainer      time.Duration // time in which the daemon waited for the trainer
	WaitTrainerShare float64       // share of WaitTrainer in the time since the feed was attached
	// Verdict is one line on what limits the feed and what to try, or "" if the daemon has none.
	Verdict string
}

// Stats returns statistics of the feed. It asks the daemon for WaitTrainer, WaitTrainerShare and
// Verdict, which are zero if no daemon serves the feed.
func (f *Feed[T]) Stats(ctx context.Context) (Stats, error) {
	for {
		s, stats := f.localStats()
		if s == nil {
			return stats, nil
		}
		err := f.askDaemon(ctx, s, &stats)
		if err != nil && !f.isServing(s) { // another stream was attached meanwhile
			continue
		}
		if errors.Is(err, FeedNotFound) { // it has just ended
			err = nil
		}
		return stats, err
	}
}

// isServing reports whether the feed's batches come from a stream.
func (f *Feed[T]) isServing(s *stream) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.stream == s
}

// localStats returns what this process knows, and the stream to ask the daemon about; nil if none
// is attached.
func (f *Feed[T]) localStats() (*stream, Stats) {
	f.mu.Lock()
	defer f.mu.Unlock()
	stats := Stats{Batches: f.batches, Copied: f.endedCopied}
	stats.Pass, stats.WaitData = f.meter.read()
	rings := f.endedRings
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

// askDaemon sends the meter, and asks the daemon until its statistics include that.
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
		// all values of one reading, so that they agree with the verdict
		if reported := seconds(status.PassS); reported >= stats.Pass {
			stats.Pass, stats.WaitData = reported, seconds(status.WaitDataS)
			break
		}
	}
	return nil
}

// maxStatusRequests limits how often askDaemon asks.
const maxStatusRequests = 20

func seconds(s float64) time.Duration { return time.Duration(math.Round(s * float64(time.Second))) }
