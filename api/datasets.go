package api

import (
	"strings"

	"github.com/valyala/fasthttp"

	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/store"
)

var datasetRoutes = []route{
	{"GET", "/v1/datasets", noArg((*Server).listDatasets)},
	{"GET", "/v1/datasets/{name}", oneArg((*Server).showDataset)},
	{"DELETE", "/v1/datasets/{name}", oneArg((*Server).removeDataset)},
	{"POST", "/v1/datasets/{name}/load", oneArg((*Server).load)},
	{"POST", "/v1/datasets/{name}/append", oneArg((*Server).appendRows)},
	{"POST", "/v1/datasets/{name}/ranges", oneArg((*Server).findRanges)},
	{"POST", "/v1/datasets/{name}/verify", oneArg((*Server).verify)},
	{"POST", "/v1/datasets/{name}/scaled", oneArg((*Server).scaled)},
}

func describeDataset(i store.Info) wire.Dataset {
	m := i.Manifest
	d := wire.Dataset{
		Dataset: i.Dataset, Generation: i.Generation, Digest: m.Digest, Rows: m.Rows,
		Items: m.Items.Count, Layout: m.Layout, Bytes: i.Bytes(),
		Created: m.Created, Readers: i.Readers, Columns: make([]string, len(m.Columns)),
		ResidentBytes: residentBytes(i.Memory), PinnedBytes: i.Memory.Pinned,
		DerivedBytes: i.DerivedBytes,
	}
	if m.ScaledOf != nil {
		d.ScaledOf = m.ScaledOf.Dataset
	}
	for j, c := range m.Columns {
		d.Columns[j] = c.Name
	}
	return d
}

func (s *Server) listDatasets(ctx *fasthttp.RequestCtx) error {
	p, err := readPaging(ctx)
	if err != nil {
		return err
	}
	return reply(ctx, 200, s.datasetPage(p))
}

// datasetPage returns a page of the datasets.
func (s *Server) datasetPage(p pageRequest) wire.Datasets {
	infos, next := cutPage(p, s.Store.Datasets(), func(i store.Info) string { return i.Dataset },
		strings.Compare)
	list := wire.Datasets{Datasets: make([]wire.Dataset, len(infos)), Next: next}
	for i, info := range infos {
		list.Datasets[i] = describeDataset(info)
	}
	return list
}

func (s *Server) showDataset(ctx *fasthttp.RequestCtx, name string) error {
	i, err := s.Store.Dataset(name)
	if err != nil {
		return err
	}
	d := describeDataset(i)
	d.Manifest, d.Generations = i.Manifest, i.Generations
	return replyTagged(ctx, d)
}

func (s *Server) removeDataset(ctx *fasthttp.RequestCtx, name string) error {
	removed, err := s.Store.Remove(name)
	if err != nil {
		return err
	}
	s.events.markChanged(topicDatasets)
	return reply(ctx, 200, wire.Removed{Dataset: name, Removed: removed.Generations, Copies: removed.Copies})
}
