package api

import (
	"strconv"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/tensorcache/tensorcache/internal/ingest"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/store"
)

var datasetRoutes = []route{
	{"GET", "/v1/datasets", plain((*Server).listDatasets)},
	{"GET", "/v1/datasets/{name}", named((*Server).showDataset)},
	{"DELETE", "/v1/datasets/{name}", named((*Server).removeDataset)},
	{"POST", "/v1/datasets/{name}/load", named((*Server).load)},
	{"POST", "/v1/datasets/{name}/append", named((*Server).appendRows)},
}

var jobRoutes = []route{
	{"GET", "/v1/jobs", plain((*Server).listJobs)},
	{"GET", "/v1/jobs/{id}", named((*Server).showJob)},
	{"DELETE", "/v1/jobs/{id}", named((*Server).cancelJob)},
}

var feedRoutes = []route{
	{"GET", "/v1/feeds", plain((*Server).listFeeds)},
}

func describe(i store.Info) wire.Dataset {
	m := i.Manifest
	d := wire.Dataset{
		Dataset: i.Dataset, Generation: i.Generation, Digest: m.Digest, Rows: m.Rows, Items: m.Items.Count, Layout: m.Layout, Bytes: i.Bytes(),
		Created: m.Created, Readers: i.Readers, Columns: make([]string, len(m.Columns)),
	}
	for j, c := range m.Columns {
		d.Columns[j] = c.Name
	}
	return d
}

func (s *Server) listDatasets(ctx *fasthttp.RequestCtx) error {
	list := wire.Datasets{Datasets: []wire.Dataset{}}
	for _, i := range s.Store.Datasets() {
		list.Datasets = append(list.Datasets, describe(i))
	}
	return reply(ctx, 200, list)
}

func (s *Server) showDataset(ctx *fasthttp.RequestCtx, name string) error {
	i, err := s.Store.Dataset(name)
	if err != nil {
		return err
	}
	d := describe(i)
	d.Manifest, d.Generations = i.Manifest, i.Generations
	return reply(ctx, 200, d)
}

func (s *Server) removeDataset(ctx *fasthttp.RequestCtx, name string) error {
	removed, err := s.Store.Remove(name)
	if err != nil {
		return err
	}
	return reply(ctx, 200, wire.Removed{Dataset: name, Removed: removed})
}

func (s *Server) load(ctx *fasthttp.RequestCtx, name string) error {
	var o ingest.Options
	if err := read(ctx, &o); err != nil {
		return err
	}
	job, err := s.Jobs.Load(name, o)
	if err != nil {
		return err
	}
	return reply(ctx, 202, job)
}

func (s *Server) appendRows(ctx *fasthttp.RequestCtx, name string) error {
	var a wire.Append
	if err := read(ctx, &a); err != nil {
		return err
	}
	job, err := s.Jobs.Append(name, a)
	if err != nil {
		return err
	}
	return reply(ctx, 202, job)
}

func (s *Server) listFeeds(ctx *fasthttp.RequestCtx) error {
	return reply(ctx, 200, wire.Feeds{Feeds: s.Feeds.Feeds()})
}

func (s *Server) listJobs(ctx *fasthttp.RequestCtx) error {
	return reply(ctx, 200, wire.Jobs{Jobs: s.Jobs.List()})
}

// longestWait bounds how long a request for a job may wait for its end.
const longestWait = 30 * time.Second

func (s *Server) showJob(ctx *fasthttp.RequestCtx, id string) error {
	var wait time.Duration
	if arg := ctx.QueryArgs().Peek("wait_ms"); len(arg) > 0 {
		ms, err := strconv.ParseInt(string(arg), 10, 64)
		if err != nil || ms < 0 || ms > longestWait.Milliseconds() {
			return wire.NewProblem(wire.InvalidRequest, "wait_ms: got %q, want a whole number from 0 to %d", arg, longestWait.Milliseconds()).WithField("wait_ms")
		}
		wait = time.Duration(ms) * time.Millisecond
	}
	job, err := s.Jobs.Wait(id, wait)
	if err != nil {
		return err
	}
	return reply(ctx, 200, job)
}

func (s *Server) cancelJob(ctx *fasthttp.RequestCtx, id string) error {
	job, err := s.Jobs.Cancel(id, string(ctx.QueryArgs().Peek("owner")))
	if err != nil {
		return err
	}
	return reply(ctx, 200, job)
}
