package api

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/valyala/fasthttp"

	"github.com/tensorcache/tensorcache/internal/plan"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
	"github.com/tensorcache/tensorcache/store"
)

// viewRoutes return the content of a dataset.
var viewRoutes = []route{
	{"GET", "/v1/datasets/{name}/items", oneArg((*Server).listItems)},
	{"GET", "/v1/datasets/{name}/rows", oneArg((*Server).showRows)},
	{"GET", "/v1/datasets/{name}/series", oneArg((*Server).showSeries)},
	{"POST", "/v1/datasets/{name}/stretches", oneArg((*Server).stretches)},
	{"POST", "/v1/datasets/{name}/windows", oneArg((*Server).showWindows)},
}

// Limits of a page of items.
const (
	defaultItems = 100
	maxItems     = 1000
)

// acquire opens the generation that a query names, by default the newest. The caller must release
// the handle.
func (s *Server) acquire(name string, q query) (*store.Handle, error) {
	number, err := q.number("generation", 0, 0, 1<<62)
	if err != nil {
		return nil, err
	}
	return s.Store.Acquire(name, number)
}

func (s *Server) listItems(ctx *fasthttp.RequestCtx, name string) error {
	q := queryOf(ctx)
	limit, err := q.number("limit", defaultItems, 1, maxItems)
	if err != nil {
		return err
	}
	after, err := q.number("after", -1, -1, 1<<62)
	if err != nil {
		return err
	}
	h, err := s.acquire(name, q)
	if err != nil {
		return err
	}
	defer h.Release()
	names, err := plan.ItemNames(h)
	if err != nil {
		return err
	}
	list := wire.Items{Items: []wire.Item{}, Count: names.Len()}
	codes := codeRange(after+1, names.Len(), limit+1)
	if search := q["search"]; search != "" {
		codes, list.Count = searchItems(names, search, after, limit+1)
	}
	if int64(len(codes)) > limit {
		codes = codes[:limit]
		list.Next = &codes[limit-1]
	}
	offsets, err := plan.Offsets(h)
	if err != nil {
		return err
	}
	for _, code := range codes {
		item, err := describeItem(h, offsets, code)
		if err != nil {
			return err
		}
		list.Items = append(list.Items, item)
	}
	return reply(ctx, 200, list)
}

// codeRange returns the numbers from first to before end, at most n of them.
func codeRange(first, end, n int64) []int64 {
	codes := []int64{}
	for code := first; code < end && int64(len(codes)) < n; code++ {
		codes = append(codes, code)
	}
	return codes
}

// searchItems returns the first n items after one whose name contains the text, ignoring case, and
// the number of all such items.
func searchItems(
	names *layout.ItemNames,
	text string,
	after, n int64,
) (codes []int64, count int64) {
	lowerText := []byte(strings.ToLower(text))
	var buf []byte
	for code := range names.Len() {
		buf = names.AppendText(buf[:0], code)
		if !bytes.Contains(toLower(buf), lowerText) {
			continue
		}
		if count++; code > after && int64(len(codes)) < n {
			codes = append(codes, code)
		}
	}
	return codes, count
}

// toLower returns a text in lower case, in place if it is ASCII.
func toLower(b []byte) []byte {
	for i, c := range b {
		if c >= utf8.RuneSelf {
			return bytes.ToLower(b)
		}
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return b
}

func describeItem(h *store.Handle, offsets []int64, code int64) (wire.Item, error) {
	value, err := plan.ItemValue(h.Data, code)
	if err != nil {
		return wire.Item{}, err
	}
	item := wire.Item{ItemCode: code, Item: value, Rows: offsets[code+1] - offsets[code]}
	if item.Rows == 0 {
		return item, nil
	}
	times, c, err := rowTimes(h.Data)
	if times != nil {
		item.FirstTime, item.LastTime = timeValue(times[offsets[code]], c),
			timeValue(times[offsets[code+1]-1], c)
	}
	return item, err
}

// rowTimes returns the times of all rows and their column, or nil if the dataset has no time
// column.
func rowTimes(d *layout.Data) ([]int64, *layout.ManifestColumn, error) {
	if d.Manifest.Time == "" {
		return nil, nil, nil
	}
	c, err := d.Manifest.Column(d.Manifest.Time)
	if err != nil {
		return nil, nil, err
	}
	v, err := layout.View[int64](d, c)
	return v.Data, c, err
}
