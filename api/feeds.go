package api

import (
	"github.com/valyala/fasthttp"

	"github.com/tensorcache/tensorcache/internal/wire"
)

var feedRoutes = []route{
	{"GET", "/v1/feeds", noArg((*Server).listFeeds)},
	{"GET", "/v1/feeds/{id}", oneArg((*Server).showFeed)},
	{"DELETE", "/v1/feeds/{id}", oneArg((*Server).closeFeed)},
}

func (s *Server) listFeeds(ctx *fasthttp.RequestCtx) error {
	p, err := readPaging(ctx)
	if err == nil {
		err = p.checkNumbered("f")
	}
	if err != nil {
		return err
	}
	return reply(ctx, 200, s.feedPage(p))
}

// feedPage returns a page of the feeds, oldest first.
func (s *Server) feedPage(p pageRequest) wire.Feeds {
	list, next := cutPage(
		p,
		s.Feeds.Feeds(),
		func(f wire.Feed) string { return f.Feed },
		compareNumbered,
	)
	return wire.Feeds{Feeds: list, Next: next}
}

func (s *Server) showFeed(ctx *fasthttp.RequestCtx, id string) error {
	f, err := s.Feeds.Feed(id)
	if err != nil {
		return err
	}
	return reply(ctx, 200, f)
}

// closeFeed ends a feed. Its trainer gets an error that says so.
func (s *Server) closeFeed(ctx *fasthttp.RequestCtx, id string) error {
	f, err := s.Feeds.CloseFeed(id)
	if err != nil {
		return err
	}
	return reply(ctx, 200, f)
}
