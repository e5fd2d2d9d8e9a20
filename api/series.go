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

// Bounds of a drawing.
const (
	somePoints   = 2000
	mostPoints   = 10_000
	mostFeatures = 64
	// longItem is from how many rows on an item's features are summarised, so that the next drawing
	// reads a part of them.
	longItem = 1 << 18
)

// drawSeries samples the rows of an item down to so many points.
func (s *Server) drawSeries(ctx *fasthttp.RequestCtx, name string) error {
	q := queryOf(ctx)
	points, err := q.number("points", somePoints, 1, mostPoints)
	if err != nil {
		return err
	}
	h, err := s.generation(name, q)
	if err != nil {
		return err
	}
	defer h.Release()
	offsets, err := plan.Offsets(h)
	if err != nil {
		return err
	}
	code, err := q.code(int64(len(offsets)) - 1)
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
	chosen, err := q.features(h)
	if err != nil {
		return err
	}
	out := wire.Series{Code: code, Rows: n, From: from, To: to,
		Series: make([]wire.FeatureSeries, len(chosen))}
	if out.Item, err = plan.ItemValue(h.Data, code); err != nil {
		return err
	}
	bounds := buckets(first+from, first+to, points)
	out.Row = make([]int64, len(bounds)-1)
	for i := range out.Row {
		out.Row[i] = bounds[i] - first
	}
	if err := timeOf(&out, h.Data, first); err != nil {
		return err
	}
	for i, c := range chosen {
		f, err := s.featureOf(h, c, code, first, n)
		if err != nil {
			return err
		}
		x := f.Extremes(bounds)
		out.Series[i] = wire.FeatureSeries{Column: c.name, Min: x.Min, Max: x.Max,
			Missing: x.Missing}
	}
	return reply(ctx, 200, out)
}

// buckets are the bounds of as many stretches of rows as points, or as rows, of which none is
// longer than another by more than a row.
func buckets(from, to, points int64) []int64 {
	n := min(points, to-from)
	bounds := make([]int64, n+1)
	whole, rest := int64(0), int64(0)
	if n > 0 {
		whole, rest = (to-from)/n, (to-from)%n
	}
	for i := range bounds {
		bounds[i] = from + int64(i)*whole + min(int64(i), rest)
	}
	return bounds
}

// timeOf adds the time of each bucket's first row.
func timeOf(out *wire.Series, d *layout.Data, first int64) error {
	times, c, err := timesOf(d)
	if times == nil {
		return err
	}
	out.Unit, out.Time = c.Unit, make([]int64, len(out.Row))
	for i, row := range out.Row {
		out.Time[i] = times[first+row]
	}
	return nil
}

// featureName is one feature of a column.
type featureName struct {
	*layout.ManifestColumn
	lane int64
	name string
}

// features are those that a query names, as columns or as a[0]; without names all numeric value
// columns.
func (q query) features(h *store.Handle) ([]featureName, error) {
	m := h.Data.Manifest
	wanted, err := q.names("columns")
	if err != nil {
		return nil, err
	}
	var out []featureName
	for i := range m.Columns {
		if c := &m.Columns[i]; wanted == nil && c.Role == layout.RoleValue && c.DType.IsNumeric() {
			out = appendFeatures(out, c)
		}
	}
	for _, name := range wanted {
		if c, lane, ok := laneOf(m, name); ok {
			out = append(out, featureName{c, lane, name})
			continue
		}
		c, err := columnOf(h, name)
		if err != nil {
			return nil, err
		}
		out = appendFeatures(out, c)
	}
	if len(out) > mostFeatures {
		return nil, wire.NewProblem(wire.InvalidRequest,
			"columns: got more than %d features, want at most so many", mostFeatures).WithField(
			"columns").WithHint(
			`name those that are wanted, also as a[0] of a column of shape [rows, n]`)
	}
	return out, nil
}

// appendFeatures stops where there are too many.
func appendFeatures(out []featureName, c *layout.ManifestColumn) []featureName {
	if c.Width() == 0 {
		return append(out, featureName{c, 0, c.Name})
	}
	for lane := range min(c.Width(), mostFeatures+1) {
		out = append(out, featureName{c, lane, fmt.Sprintf("%s[%d]", c.Name, lane)})
	}
	return out
}

// laneOf reads a[0], where a is a column of shape [rows, n] with such a feature and no column has
// this very name.
func laneOf(m *layout.Manifest, name string) (*layout.ManifestColumn, int64, bool) {
	if _, err := m.Column(name); err == nil {
		return nil, 0, false
	}
	column, rest, _ := strings.Cut(name, "[")
	for { // a name may have brackets of its own
		c, err := m.Column(column)
		number, closed := strings.CutSuffix(rest, "]")
		lane, bad := strconv.ParseInt(number, 10, 64)
		if err == nil && closed && bad == nil && lane >= 0 && lane < c.Width() {
			return c, lane, true
		}
		more, after, found := strings.Cut(rest, "[")
		if !found {
			return nil, 0, false
		}
		column, rest = column+"["+more, after
	}
}

// featureOf gives a feature of an item; that of a long one is summarised, one at a time, and kept
// with the generation.
func (s *Server) featureOf(h *store.Handle, c featureName, code, first,
	rows int64) (*layout.Feature, error) {
	if rows < longItem {
		return h.Data.Feature(c.ManifestColumn, c.lane)
	}
	f, err := h.Derived(fmt.Sprintf("extremes %d %d %s", code, c.lane, c.Name),
		func() (any, error) {
			f, err := h.Data.Feature(c.ManifestColumn, c.lane)
			if err == nil {
				s.summaries.Lock()
				defer s.summaries.Unlock()
				f.Summarise(first, first+rows)
			}
			return f, err
		})
	if err != nil {
		return nil, err
	}
	return f.(*layout.Feature), nil
}
