package feed

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tensorcache/tensorcache/internal/feed/transport"
	"github.com/tensorcache/tensorcache/internal/wire"
)

// Feeds returns the attached feeds, the oldest first.
func (s *Server) Feeds() []wire.Feed {
	s.mu.Lock()
	streams := make([]*feed, 0, len(s.feeds))
	for f := range s.feeds {
		streams = append(streams, f)
	}
	s.mu.Unlock()
	out := make([]wire.Feed, 0, len(streams))
	for _, f := range streams {
		out = append(out, f.describe())
	}
	slices.SortFunc(out, func(a, b wire.Feed) int {
		return cmp.Or(len(a.Feed)-len(b.Feed), strings.Compare(a.Feed, b.Feed)) // f2 before f10
	})
	return out
}

// Changes returns a channel that is closed when the next feed begins or ends.
func (s *Server) Changes() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.change
}

// notify wakes the goroutines that wait for Changes. The caller holds mu.
func (s *Server) notify() {
	close(s.change)
	s.change = make(chan struct{})
}

// Feed describes one feed. The error is a *wire.Problem of type feed_not_found.
func (s *Server) Feed(id string) (wire.Feed, error) {
	f, err := s.find(id)
	if err != nil {
		return wire.Feed{}, err
	}
	return f.describe(), nil
}

// CloseFeed ends a feed and returns its last state. Its trainer gets an error of type feed_closed,
// after the batches that were announced before. To close a feed that is just ending is not an
// error.
func (s *Server) CloseFeed(id string) (wire.Feed, error) {
	f, err := s.find(id)
	if err != nil {
		return wire.Feed{}, err
	}
	feed := f.describe()
	why := wire.NewProblem(wire.FeedClosed, "feed %s was closed through the control API", id).
		WithHint("attach again with the saved state to go on")
	f.close(why)
	s.mu.Lock()
	successor := f.successor
	s.mu.Unlock()
	if successor != nil {
		successor.close(why)
	}
	return feed, nil
}

// register adds a feed. If it replaces another one that has ended, the error says why. From now
// on closing either closes both, because the client continues with one of them.
func (s *Server) register(st *feed, replaces string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if replaces != "" {
		f, err := s.findLocked(replaces)
		if err != nil {
			return err
		}
		if why := f.closed.Load(); why != nil {
			return why
		}
		f.successor = st
	}
	s.feeds[st] = true
	s.notify()
	return nil
}

// find returns a feed by its id. The error is a *wire.Problem of type feed_not_found.
func (s *Server) find(id string) (*feed, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.findLocked(id)
}

// findLocked is find for a caller that holds mu.
func (s *Server) findLocked(id string) (*feed, error) {
	for f := range s.feeds {
		if f.id == id {
			return f, nil
		}
	}
	return nil, wire.NewProblem(wire.FeedNotFound, "no feed is named %q", id).WithField(
		"feed").WithHint("tensorcache feeds lists them")
}

// close ends the feed for a reason, which it sends to the trainer. Only the first reason counts.
func (s *feed) close(why *wire.Problem) {
	s.closed.CompareAndSwap(nil, why)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != nil {
		s.conn.Interrupt()
	}
}

// connect sets the feed's connection. From now on the feed may be closed while it waits or
// writes.
func (s *feed) connect(c *transport.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conn = c
}
