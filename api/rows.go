package api

import (
	"encoding/json"

	"github.com/valyala/fasthttp"

	"github.com/tensorcache/tensorcache/internal/plan"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
	"github.com/tensorcache/tensorcache/store"
)

// Limits of a preview.
const (
	defaultRows = 20
	maxRows     = 1000
	maxCells    = 1_000_000
)

// showRows sends some rows of an item or of the dataset.
func (s *Server) showRows(ctx *fasthttp.RequestCtx, name string) error {
	q := queryOf(ctx)
	h, err := s.acquire(name, q)
	if err != nil {
		return err
	}
	defer h.Release()
	first, count, err := selectRows(h, q)
	if err != nil {
		return err
	}
	from, to, err := q.slice(count)
	if err != nil {
		return err
	}
	columns, err := q.columns(h, to-from)
	if err != nil {
		return err
	}
	format, err := q.oneOf("format", "json", "arrow")
	if err != nil {
		return err
	}
	if format == "arrow" {
		ctx.SetContentType("application/vnd.apache.arrow.stream")
		return h.Data.WriteStream(ctx.Response.BodyWriter(), columns, first+from, first+to)
	}
	p := wire.Rows{From: from, To: to, Count: count, Columns: make([]string, len(columns)),
		Rows: make([][]any, to-from)}
	for i := range p.Rows {
		p.Rows[i] = make([]any, len(columns))
	}
	for i, c := range columns {
		p.Columns[i] = c.Name
		cells, err := cellValues(h.Data, c, first+from, first+to)
		if err != nil {
			return err
		}
		for row, cell := range cells {
			p.Rows[row][i] = cell
		}
	}
	return reply(ctx, 200, p)
}

// selectRows returns the rows of the item that a query names, by default all rows.
func selectRows(h *store.Handle, q query) (first, count int64, err error) {
	value, byValue := q["item"]
	_, byCode := q["item_code"]
	offsets, err := plan.Offsets(h)
	if err != nil {
		return 0, 0, err
	}
	code := int64(0)
	switch {
	case byValue && byCode:
		return 0, 0, wire.NewProblem(wire.InvalidRequest,
			"item: given together with item_code, want one of them").WithField("item")
	case byValue:
		code, err = plan.ItemCode(h, "item", json.RawMessage(value))
	case byCode:
		code, err = q.itemCode(int64(len(offsets)) - 1)
	default:
		return 0, h.Data.Manifest.Rows, nil
	}
	if err != nil {
		return 0, 0, err
	}
	return offsets[code], offsets[code+1] - offsets[code], nil
}

// slice reads from and to, with the rules of slices in Python, for n rows. Without to, it returns
// defaultRows rows.
func (q query) slice(n int64) (from, to int64, err error) {
	const unlimited = 1 << 62
	if from, err = q.number("from", 0, -unlimited, unlimited); err != nil {
		return 0, 0, err
	}
	if to, err = q.number("to", unlimited, -unlimited, unlimited); err != nil {
		return 0, 0, err
	}
	from, to = clamp(from, n), clamp(to, n)
	if _, given := q["to"]; !given {
		to = min(to, from+defaultRows)
	}
	to = max(from, to)
	if to-from > maxRows {
		return 0, 0, wire.NewProblem(wire.InvalidRequest,
			"to: got rows %d to %d, want at most %d rows", from, to, maxRows).WithField("to")
	}
	return from, to, nil
}

func clamp(row, n int64) int64 {
	if row < 0 {
		row += n
	}
	return min(max(0, row), n)
}

// columns returns the columns that a query names, by default all.
func (q query) columns(h *store.Handle, rows int64) ([]*layout.ManifestColumn, error) {
	m := h.Data.Manifest
	names, err := q.names("columns")
	if err != nil {
		return nil, err
	}
	if names == nil {
		for _, c := range m.Columns {
			names = append(names, c.Name)
		}
	}
	columns, cells := make([]*layout.ManifestColumn, 0, min(len(names), len(m.Columns))), int64(0)
	for _, name := range names {
		c, err := findColumn(h, name)
		if err != nil {
			return nil, err
		}
		if cells += rows * max(c.Width(), 1); cells > maxCells {
			return nil, wire.NewProblem(wire.TooLarge, "columns: the rows have over %d values",
				maxCells).WithField("columns").WithHint("ask for fewer rows or columns")
		}
		columns = append(columns, c)
	}
	return columns, nil
}

// findColumn returns a column, or an error that lists the columns.
func findColumn(h *store.Handle, name string) (*layout.ManifestColumn, error) {
	c, err := h.Data.Manifest.Column(name)
	if err != nil {
		return nil, plan.UnknownColumn(h, "columns", name)
	}
	return c, nil
}

// cellValues returns the values of rows for JSON: texts for words and times, lists for a column of
// shape [rows, n].
func cellValues(d *layout.Data, c *layout.ManifestColumn, from, to int64) ([]any, error) {
	b, err := d.Dense(c, from, to)
	if err != nil {
		return nil, err
	}
	cells := layout.Cells(c.DType, b)
	switch c.DType {
	case layout.Timestamp:
		for i := range cells {
			cells[i] = timeValue(cells[i].(int64), c)
		}
	case layout.Text:
		words, missing, err := d.Words(c.Name, b)
		if err != nil {
			return nil, err
		}
		for i := range cells {
			if cells[i] = words[i]; missing[i] {
				cells[i] = nil
			}
		}
	}
	width := c.Width()
	if width == 0 {
		return cells, nil
	}
	rows := make([]any, to-from)
	for i := range rows {
		rows[i] = cells[int64(i)*width:][:width:width]
	}
	return rows, nil
}
