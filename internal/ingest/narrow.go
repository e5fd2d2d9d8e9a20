package ingest

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/tensorcache/tensorcache/internal/ingest/parallel"
	"github.com/tensorcache/tensorcache/layout"
)

// hintWider is for values that a dtype which was asked for cannot hold.
const hintWider = "store the column as a wider dtype with --dtype"

// loss is the largest error that storing floats as narrower ones has made. It is safe for concurrent use.
type loss struct {
	mu sync.Mutex
	layout.DTypeError
}

// add takes over larger errors.
func (l *loss) add(e layout.DTypeError) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.Abs, l.Rel = max(l.Abs, e.Abs), max(l.Rel, e.Rel)
}

// noted is e with the error of a value v that became x.
func noted(e layout.DTypeError, v, x float64) layout.DTypeError {
	d := math.Abs(x - v) // NaN for what is not finite, which is kept as it is
	if d > e.Abs {
		e.Abs = d
	}
	if a := math.Abs(v); d > e.Rel*a {
		e.Rel = d / a
	}
	return e
}

// sink is where a column's values go.
type sink struct {
	layout.Dest
	// loss is there where the load asks for another dtype: integers must then be kept exactly, and what floats lose is noted.
	loss *loss
	// marks say with a 1 which values are missing, where marked is set: the column is held.
	marks  layout.Dest
	marked bool
}

// Lane is one feature of the column.
func (s sink) Lane(i int64) sink {
	s.Dest = s.Dest.Lane(i)
	if s.marked {
		s.marks = s.marks.Lane(i)
	}
	return s
}

// note measures what storing floats as narrower ones has lost; from and to are slices of values.
func (l *loss) note(from, to any) {
	src, ok := from.([]float64)
	if l == nil || !ok {
		return
	}
	var e layout.DTypeError
	switch to := to.(type) {
	case []float32:
		for i, v := range src { // as noted, in registers
			d, a := math.Abs(float64(to[i])-v), math.Abs(v)
			if d > e.Abs {
				e.Abs = d
			}
			if d > e.Rel*a {
				e.Rel = d / a
			}
		}
	case []layout.Half:
		for i, v := range src {
			e = noted(e, v, float64(to[i].Float32()))
		}
	default:
		return
	}
	l.add(e)
}

// inexact is the place of the first integer that the float type of d does not hold, -1 where it holds all.
func inexact[S int64 | uint64](d layout.DType, src []S) int {
	bits := 0
	switch d {
	case layout.Float16:
		bits = 11
	case layout.Float32:
		bits = 24
	case layout.Float64:
		bits = 53
	default:
		return -1
	}
	for i, v := range src {
		if a := max(v, -v); uint64(a)>>bits == 0 { // also of the least int64, which is its own opposite
			continue
		}
		if x := float64(v); math.Abs(x) >= 1<<63 && S(x/2)*2 != v || math.Abs(x) < 1<<63 && S(x) != v || bits == 24 && float64(float32(x)) != x || bits == 11 && float64(layout.HalfOf(x).Float32()) != x {
			return i
		}
	}
	return -1
}

// asks tells whether a column is stored as another dtype than it has because the load asks for it, and nothing is done to it before.
func (o Options) asks(c column, role layout.Role) bool {
	return o.DType.of(c) != "" && role == layout.RoleValue && o.steps(c, role) == (steps{}) && o.stored(c, role).DType != c.kind.dtype()
}

// converts tells whether a column is filled as what it is and converted after: one of a text file, whose cells are read as few dtypes only,
// and floats of which a filter leaves rows out, so that what narrowing loses is told of those that are kept.
func (o Options) converts(c column, role layout.Role) bool {
	if !o.asks(c, role) {
		return false
	}
	if c.width == 0 && o.filters() && (c.kind == kindFloat64 || c.kind == kindFloat32) {
		return true
	}
	return c.inferred && !(o.stored(c, role).DType == layout.Float32 && (c.kind == kindFloat64 || c.kind == kindUnknown))
}

// convertAll converts the columns that were filled as what they are.
func (l *load) convertAll(ctx context.Context, rows int64) error {
	for i, c := range l.columns {
		if !l.converts(c, l.wanted.roles[i]) {
			continue
		}
		from, to := l.stage.Dest(l.staged[i]), sink{Dest: l.writer.Dest(i), loss: l.losses[i]}
		err := parallel.For(ctx, l.workers, int((rows+tileRows-1)/tileRows), "", func(_, tile int) error {
			first := int64(tile) * tileRows
			n := min(tileRows, rows-first)
			switch from.DType {
			case layout.Int64:
				return convertTile(l, c, to, layout.Values[int64](from), first, n)
			case layout.Bool:
				return convertTile(l, c, to, layout.Values[uint8](from), first, n)
			case layout.Float32:
				return convertTile(l, c, to, layout.Values[float32](from), first, n)
			}
			return convertTile(l, c, to, layout.Values[float64](from), first, n)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func convertTile[S number](l *load, c column, to sink, from layout.Strided[S], first, n int64) error {
	src := from.Data[first : first+n] // plain: what is converted is no tensor
	bad := put(to, first, src)
	if bad < 0 {
		return nil
	}
	e := l.place(first + int64(bad))
	e.Column, e.Text, e.Reason, e.Hint = c.name, fmt.Sprint(src[bad]), "does not fit "+string(to.DType), hintWider
	if src[bad] != src[bad] {
		e.Text, e.Reason, e.Hint = "", "the value is missing, which only a float column can say", "fill it with --fill "+c.name+"=0"
	}
	return &e
}

// overflows is the place of the first finite value that would be stored as infinite, -1 without one.
func overflows(d layout.DType, values []float64) int {
	limit := float32Overflow
	switch d {
	case layout.Float16:
		limit = float16Overflow
	case layout.Float32:
	default:
		return -1
	}
	most, over := math.Float64bits(limit)-1, uint64(0)
	for _, v := range values {
		over |= most - math.Float64bits(v)&^(1<<63) // its highest bit is set beyond the limit, and for what is not finite
	}
	if over>>63 == 0 {
		return -1
	}
	return slices.IndexFunc(values, func(v float64) bool { return math.Abs(v) >= limit && !math.IsInf(v, 0) })
}

// What rounds to infinity from there on.
const (
	float16Overflow = 65520.0
	float32Overflow = 0x1.ffffffp127
)

// narrowedTo is a value as a dtype of floats holds it.
func narrowedTo(d layout.DType, v float64) float64 {
	switch d {
	case layout.Float16:
		return float64(layout.HalfOf(v).Float32())
	case layout.Float32:
		return float64(float32(v))
	}
	return v
}

// noteResults measures what storing the results of steps loses.
func noteResults(l *loss, d layout.DType, values []float64) {
	var e layout.DTypeError
	for _, v := range values {
		e = noted(e, v, narrowedTo(d, v))
	}
	l.add(e)
}

// errorsOf are the errors of the columns whose floats were narrowed.
func (l *load) errorsOf() map[string]*layout.DTypeError {
	out := map[string]*layout.DTypeError{}
	for i, s := range l.losses {
		c, to, do := l.columns[i], l.writer.Dest(i).DType, l.steps(l.columns[i], l.wanted.roles[i])
		was := c.kind.dtype()
		if do != (steps{}) && !(c.kind.isInteger() && do.wholes()) {
			was = layout.Float64 // of results
		}
		if was.IsFloat() && to.IsFloat() && to.Size() < was.Size() {
			e := s.DTypeError
			out[c.name] = &e
		}
	}
	return out
}
