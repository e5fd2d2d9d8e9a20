package tensorcache

import (
	"context"
	"errors"
	"time"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// Stats is what a feed did so far, and who waited for whom: the trainer for data, by its own clock, the daemon for the trainer, by
// the daemon's.
type Stats struct {
	Batches   int64         // handed to the loop
	Pass      time.Duration // inside passes
	WaitData  time.Duration // of these, in wait for data
	Held      int           // slots that the trainer keeps
	Copied    int64         // batches copied out because the trainer kept nearly all slots
	Slots     int           // of the ring
	SlotBytes int64
	Path      string // how a context gets to the loop: memcpy, transpose or view; "" where the daemon has no part in it

	WaitTrainer      time.Duration // how long the daemon waited for the trainer
	WaitTrainerShare float64       // of the time since the feed was attached
	Verdict          string        // what limits the feed and what to try, in one line; "" where the daemon has no word of it
}

// Stats asks the daemon how the feed does. Where no daemon serves it, what the daemon would say is left out.
func (f *Feed[T]) Stats(ctx context.Context) (Stats, error) {
	f.mu.Lock()
	s := f.stream
	stats := Stats{Batches: f.batches, Copied: f.copied}
	f.mu.Unlock()
	stats.Pass, stats.WaitData = f.meter.read()
	if s == nil {
		return stats, nil
	}
	held, copied := s.ring.stats()
	stats.Held, stats.Copied = held, stats.Copied+copied
	stats.Slots, stats.SlotBytes, stats.Path = s.reply.Slots, s.reply.SlotBytes, s.reply.Path
	if err := s.report(); err != nil {
		return stats, gone(ctx, err)
	}
	var one wire.Feed
	switch err := ours(f.windows.data.cache.control.Get(ctx, "/v1/feeds/"+s.reply.Feed, &one)); {
	case errors.Is(err, FeedNotFound): // it has just ended
	case err != nil:
		return stats, err
	default:
		stats.WaitTrainer = time.Duration(one.WaitTrainerS * float64(time.Second))
		stats.WaitTrainerShare, stats.Verdict = one.WaitTrainerShare, one.Verdict
	}
	return stats, nil
}
