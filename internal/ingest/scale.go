package ingest

import (
	"context"
	"fmt"
	"math"

	"github.com/tensorcache/tensorcache/layout"
)

// scaleAll fits and applies the scaling of every column that is scaled.
func (l *load) scaleAll(ctx context.Context, offsets []int64, k *keys) (map[string]*layout.Scale, error) {
	var scaled []int
	for i, c := range l.columns {
		if l.scales(c, l.wanted.roles[i]) {
			scaled = append(scaled, i)
		}
	}
	fits := make([]*layout.Scale, len(scaled))
	err := parallel(ctx, l.workers, len(scaled), "", func(_, i int) (err error) {
		c := scaled[i]
		fits[i], err = l.scaleColumn(ctx, c, offsets, k)
		l.meter.rows.Store(l.rows * int64(i+1) / int64(len(scaled)))
		return err
	})
	out := map[string]*layout.Scale{}
	for i, c := range scaled {
		out[l.columns[c].name] = fits[i]
	}
	return out, err
}

func (l *load) scaleColumn(ctx context.Context, i int, offsets []int64, k *keys) (*layout.Scale, error) {
	to := l.writer.Dest(i)
	s := scaling{load: l, column: l.columns[i].name, keys: k, offsets: offsets}
	if at, ok := l.staged[i]; ok {
		return scaleInto(ctx, s, layout.Values[float64](l.stage.Dest(at)), layout.Values[float32](to))
	}
	if to.DType == layout.Float32 {
		return scaleInto(ctx, s, layout.Values[float32](to), layout.Values[float32](to))
	}
	return scaleInto(ctx, s, layout.Values[float64](to), layout.Values[float64](to))
}

// scaling is the scaling of one column.
type scaling struct {
	*load
	column  string
	keys    *keys
	offsets []int64
}

// moments are what a scaling is fitted from: count, mean and sum of squared deviations, least and greatest.
type moments struct {
	n          int64
	mean, m2   float64
	least, top float64
}

// add joins two groups of values (Chan, Golub, LeVeque).
func (m moments) add(o moments) moments {
	if m.n == 0 || o.n == 0 {
		if o.n == 0 {
			return m
		}
		return o
	}
	n := float64(m.n + o.n)
	delta := o.mean - m.mean
	return moments{
		n: m.n + o.n, mean: m.mean + delta*float64(o.n)/n, m2: m.m2 + o.m2 + delta*delta*float64(m.n)*float64(o.n)/n,
		least: min(m.least, o.least), top: max(m.top, o.top),
	}
}

// fitTile is how many rows are summed up before they are joined with the rest; the result depends on it, not on timing.
const fitTile = 2048

func measure[T float32 | float64](v layout.Strided[T], feature int, first, end int64) (m moments) {
	for ; first < end; first += fitTile {
		m = m.add(measureTile(v, feature, first, min(end, first+fitTile)))
	}
	return m
}

// measureTile leaves NaNs out.
func measureTile[T float32 | float64](v layout.Strided[T], feature int, first, end int64) moments {
	m := moments{least: math.Inf(1), top: math.Inf(-1)}
	sum := 0.0
	for row := first; row < end; row++ {
		if x := float64(v.Data[row*v.Step+int64(feature)]); x == x {
			m.n++
			sum += x
			m.least, m.top = min(m.least, x), max(m.top, x)
		}
	}
	if m.n == 0 {
		return m
	}
	m.mean = sum / float64(m.n)
	for row := first; row < end; row++ {
		if x := float64(v.Data[row*v.Step+int64(feature)]); x == x {
			m.m2 += (x - m.mean) * (x - m.mean)
		}
	}
	return m
}

// fit turns moments into shift and scale. A spread of 0 scales by 1.
func (m moments) fit(kind string) (shift, scale float64) {
	switch {
	case m.n == 0:
		return 0, 1
	case m.least == m.top:
		return m.least, 1
	case kind == scaleMinMax:
		return m.least, m.top - m.least
	}
	return m.mean, math.Sqrt(m.m2 / float64(m.n))
}

// scaleInto fits on the values of from and writes the scaled ones.
func scaleInto[S, D float32 | float64](ctx context.Context, s scaling, from layout.Strided[S], to layout.Strided[D]) (*layout.Scale, error) {
	out := &layout.Scale{Kind: s.Scale, Per: perColumn}
	if s.ScalePer == perItem {
		out.Per = perItem
	}
	items := len(s.offsets) - 1
	pooled := make([]moments, from.Width)
	for item := range items {
		first, end := fitRows(s.FitRows, s.offsets[item], s.offsets[item+1])
		for f := range pooled {
			m := measure(from, f, first, end)
			if out.Per == perColumn {
				pooled[f] = pooled[f].add(m)
				continue
			}
			if err := s.take(out, m, measureAll(from, f, s.offsets[item], s.offsets[item+1], m), item); err != nil {
				return nil, err
			}
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	if out.Per == perColumn {
		for f := range pooled {
			if err := s.take(out, pooled[f], measureAll(from, f, 0, s.rows, pooled[f]), -1); err != nil {
				return nil, err
			}
		}
	}
	for item := range items {
		at := 0
		if out.Per == perItem {
			at = item * int(from.Width)
		}
		for f := range pooled {
			write(from, to, int64(f), s.offsets[item], s.offsets[item+1], out.Shift[at+f], out.Scale[at+f])
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// measureAll measures more rows where those of the fit held nothing, to tell whether there is anything to scale.
func measureAll[T float32 | float64](v layout.Strided[T], feature int, first, end int64, m moments) moments {
	if m.n > 0 {
		return m
	}
	return measure(v, feature, first, end)
}

// take notes a fit. Rows that hold nothing to fit on, though others hold something, are refused.
func (s scaling) take(out *layout.Scale, m, all moments, item int) error {
	shift, scale := m.fit(s.Scale)
	e := &SourceError{Path: s.readers[0].path(), Column: s.column}
	of := ""
	if item >= 0 && len(s.keys.at) > 0 {
		of = " of item " + s.keys.item(s.offsets[item])
	}
	if m.n == 0 && all.n > 0 {
		e.Reason = fmt.Sprintf("the fit rows%s hold no value to scale by", of)
		e.Hint = "choose other rows with --fit-rows"
		return e
	}
	if math.IsInf(shift, 0) || math.IsInf(scale, 0) || shift != shift || scale != scale {
		e.Reason = fmt.Sprintf("values%s from %g to %g cannot be scaled", of, m.least, m.top)
		e.Hint = "leave the column out with --columns"
		return e
	}
	out.Shift, out.Scale = append(out.Shift, shift), append(out.Scale, scale)
	return nil
}

// fitRows are the rows of an item, from first to end, that a scaling is fitted on.
func fitRows(r *[2]*int64, first, end int64) (int64, int64) {
	bound := func(b *int64, open int64) int64 {
		switch {
		case b == nil:
			return open
		case *b < 0:
			return max(first, end+*b)
		}
		return min(end, first+*b)
	}
	if r == nil {
		return first, end
	}
	a, b := bound(r[0], first), bound(r[1], end)
	return a, max(a, b)
}

func write[S, D float32 | float64](from layout.Strided[S], to layout.Strided[D], feature, first, end int64, shift, scale float64) {
	for row := first; row < end; row++ {
		to.Data[row*to.Step+feature] = D((float64(from.Data[row*from.Step+feature]) - shift) / scale)
	}
}
