package api

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/valyala/fasthttp"

	"github.com/tensorcache/tensorcache/internal/plan"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
	"github.com/tensorcache/tensorcache/store"
)

// Limits of a drawing.
const (
	defaultPoints = 2000
	maxPoints     = 10_000
	maxFeatures   = 64
	// summaryMinRows is the number of rows from which the features of an item are summarised, so
	// that later requests read only part of them.
	summaryMinRows = 1 << 18
)

// showSeries sends the extremes of an item's features in at most this many intervals of rows.
func (s *Server) showSeries(ctx *fasthttp.RequestCtx, name string) error {
	q := queryOf(ctx)
	points, err := q.number("points", defaultPoints, 1, maxPoints)
	if err != nil {
		return err
	}
	h, err := s.acquire(name, q)
	if err != nil {
		return err
	}
	defer h.Release()
	offsets, err := plan.Offsets(h)
	if err != nil {
		return err
	}
	code, err := q.itemCode(int64(len(offsets)) - 1)
	if err != nil {
		return err
	}
	first, n := offsets[code], offsets[code+1]-offsets[code]
	from, err := q.number("from", 0, 0, n)
	if err != nil {
		return err
	}
	to, err := q.number("to", n, from, n)
	if err != nil {
		return err
	}
	features, err := q.features(h)
	if err != nil {
		return err
	}
	out := wire.Series{ItemCode: code, Rows: n, From: from, To: to,
		Series: make([]wire.FeatureSeries, len(features))}
	if out.Item, err = plan.ItemValue(h.Data, code); err != nil {
		return err
	}
	bounds := bucketBounds(first+from, first+to, points)
	out.Row = make([]int64, len(bounds)-1)
	for i := range out.Row {
		out.Row[i] = bounds[i] - first
	}
	if err := addTimes(&out, h.Data, first); err != nil {
		return err
	}
	for i, c := range features {
		f, err := s.feature(h, c, code, first, n)
		if err != nil {
			return err
		}
		x := f.Extremes(bounds)
		out.Series[i] = wire.FeatureSeries{Column: c.name, Min: x.Min, Max: x.Max,
			Missing: x.Missing}
	}
	return reply(ctx, 200, out)
}

// bucketBounds returns the bounds of intervals of rows: one per point, at most one per row. Their
// lengths differ by at most one row.
func bucketBounds(from, to, points int64) []int64 {
	count := min(points, to-from)
	bounds := make([]int64, count+1)
	size, remainder := int64(0), int64(0)
	if count > 0 {
		size, remainder = (to-from)/count, (to-from)%count
	}
	for i := range bounds {
		bounds[i] = from + int64(i)*size + min(int64(i), remainder)
	}
	return bounds
}

// addTimes adds the time of the first row of each interval.
func addTimes(out *wire.Series, d *layout.Data, first int64) error {
	times, c, err := rowTimes(d)
	if times == nil {
		return err
	}
	out.Unit, out.Time = c.Unit, make([]int64, len(out.Row))
	for i, row := range out.Row {
		out.Time[i] = times[first+row]
	}
	return nil
}

// seriesFeature is one feature of a column.
type seriesFeature struct {
	*layout.ManifestColumn
	index int64
	name  string
}

// features returns the features that a query names, as columns or as a[0]. The default is those
// of windows that name no columns.
func (q query) features(h *store.Handle) ([]seriesFeature, error) {
	m := h.Data.Manifest
	names, err := q.names("columns")
	if err != nil {
		return nil, err
	}
	var features []seriesFeature
	for i := range m.Columns {
		if c := &m.Columns[i]; names == nil && c.InDefaultWindows() {
			features = appendFeatures(features, c)
		}
	}
	for _, name := range names {
		if c, index, ok := parseFeature(m, name); ok {
			features = append(features, seriesFeature{c, index, name})
			continue
		}
		c, err := findColumn(h, name)
		if err != nil {
			return nil, err
		}
		features = appendFeatures(features, c)
	}
	if len(features) > maxFeatures {
		return nil, wire.NewProblem(wire.InvalidRequest,
			"columns: got too many features, want at most %d", maxFeatures).WithField(
			"columns").WithHint(
			`name those that are wanted, also as a[0] of a column of shape [rows, n]`)
	}
	return features, nil
}

// appendFeatures appends the features of a column, at most one more than the limit.
func appendFeatures(features []seriesFeature, c *layout.ManifestColumn) []seriesFeature {
	if c.Width() == 0 {
		return append(features, seriesFeature{c, 0, c.Name})
	}
	for index := range min(c.Width(), maxFeatures+1) {
		features = append(features, seriesFeature{c, index, fmt.Sprintf("%s[%d]", c.Name, index)})
	}
	return features
}

// parseFeature parses a[0], where a is a column of shape [rows, n] with n > 0 and no column has the
// name a[0].
func parseFeature(m *layout.Manifest, name string) (*layout.ManifestColumn, int64, bool) {
	if _, err := m.Column(name); err == nil {
		return nil, 0, false
	}
	column, suffix, _ := strings.Cut(name, "[")
	for { // the name of the column may have brackets, too
		c, err := m.Column(column)
		number, isClosed := strings.CutSuffix(suffix, "]")
		index, parseErr := strconv.ParseInt(number, 10, 64)
		if err == nil && isClosed && parseErr == nil && index >= 0 && index < c.Width() {
			return c, index, true
		}
		inName, afterBracket, found := strings.Cut(suffix, "[")
		if !found {
			return nil, 0, false
		}
		column, suffix = column+"["+inName, afterBracket
	}
}

// feature returns a feature of an item. If the item is long, it is summarised first; the summary is
// stored with the generation.
func (s *Server) feature(h *store.Handle, c seriesFeature, code, first,
	rows int64) (*layout.Feature, error) {
	if rows < summaryMinRows {
		return h.Data.Feature(c.ManifestColumn, c.index)
	}
	f, err := h.Derived(fmt.Sprintf("extremes %d %d %s", code, c.index, c.Name),
		func() (any, error) {
			f, err := h.Data.Feature(c.ManifestColumn, c.index)
			if err == nil {
				s.summaryMutex.Lock()
				defer s.summaryMutex.Unlock()
				f.Summarise(first, first+rows)
			}
			return f, err
		})
	if err != nil {
		return nil, err
	}
	return f.(*layout.Feature), nil
}
