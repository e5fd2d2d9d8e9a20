package feed

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// Feeds lists the attached trainers, oldest first.
func (s *Server) Feeds() []wire.Feed {
	s.mu.Lock()
	streams := make([]*stream, 0, len(s.streams))
	for f := range s.streams {
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

// Changes is closed when the next feed comes or goes.
func (s *Server) Changes() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.change
}

// touch says that a feed came or went. The caller holds mu.
func (s *Server) touch() {
	close(s.change)
	s.change = make(chan struct{})
}

// Feed describes one of them. The error is a *wire.Problem of type feed_not_found.
func (s *Server) Feed(id string) (wire.Feed, error) {
	f, err := s.find(id)
	if err != nil {
		return wire.Feed{}, err
	}
	return f.describe(), nil
}

// CloseFeed ends a feed; its trainer is told by an error of type feed_closed, once it has taken
// what was announced before. Closing one that is just ending is no error.
func (s *Server) CloseFeed(id string) (wire.Feed, error) {
	f, err := s.find(id)
	if err != nil {
		return wire.Feed{}, err
	}
	said := f.describe()
	why := wire.NewProblem(wire.FeedClosed, "feed %s was closed through the control API", id).
		WithHint("attach again with the saved state to go on")
	f.close(why)
	s.mu.Lock()
	heir := f.heir
	s.mu.Unlock()
	if heir != nil {
		heir.close(why)
	}
	return said, nil
}

// enter notes a stream that begins, in place of another where that one is named. The error is why
// that is exchanged no more. From here on who closes it closes both: its client goes on with one of
// them.
func (s *Server) enter(st *stream, instead string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if instead != "" {
		f, err := s.named(instead)
		if err != nil {
			return err
		}
		if why := f.closed.Load(); why != nil {
			return why
		}
		f.heir = st
	}
	s.streams[st] = true
	s.touch()
	return nil
}

// find is a stream by its name. The error is a *wire.Problem of type feed_not_found.
func (s *Server) find(id string) (*stream, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.named(id)
}

// named is find for a caller that holds mu.
func (s *Server) named(id string) (*stream, error) {
	for f := range s.streams {
		if f.id == id {
			return f, nil
		}
	}
	return nil, wire.NewProblem(wire.FeedNotFound, "no feed is named %q", id).WithField(
		"feed").WithHint("tensorcache feeds lists them")
}

// close has the feed end for a reason, which its trainer is told. The first reason counts.
func (s *stream) close(why *wire.Problem) {
	s.closed.CompareAndSwap(nil, why)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != nil {
		_ = s.conn.SetReadDeadline(time.Now())                 // where it waits for the client
		_ = s.conn.SetWriteDeadline(time.Now().Add(lastWords)) // of a client that does not read
	}
}

// connected gives the stream its connection: from now on it may be closed while it writes.
func (s *stream) connected(l link) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conn = l
}
