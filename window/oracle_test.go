package window_test

import (
	"math"
	"time"

	"github.com/tensorcache/tensorcache/window"
)

// oracle finds all positions with loops over rows. It follows the definitions in the package
// comment and shares no code with the package.
type oracle struct {
	spec  window.Spec
	table window.Table
}

// found is the expected content of an index.
type found struct {
	places   []window.Place
	pads     []int64
	rejected map[window.Reason]int64
}

// rowsOf are the rows of an item in a part: which may be prediction rows, where the range begins
// (even if it is empty), and the first row that may be a context row.
type rowsOf struct {
	in      []bool
	lo, hi  int64
	context int64
	cutRows bool
	gone    bool
}

func or1(v int64) int64 {
	if v == 0 {
		return 1
	}
	return v
}

// slice resolves bounds as slice.indices of Python does.
func slice(b *window.Bounds, n int64) (int64, int64) {
	lo, hi := int64(0), n
	if b == nil {
		return lo, hi
	}
	norm := func(v int64) int64 {
		if v < 0 {
			v += n
			if v < 0 {
				v = 0
			}
		}
		if v > n {
			v = n
		}
		return v
	}
	if b.From != nil {
		lo = norm(*b.From)
	}
	if b.To != nil {
		hi = norm(*b.To)
	}
	if hi < lo {
		hi = lo
	}
	return lo, hi
}

// instantOf returns the time of a value of a time column, in seconds and nanoseconds.
func instantOf(tick int64, unit string) time.Time {
	switch unit {
	case "s":
		return time.Unix(tick, 0)
	case "ms":
		return time.UnixMilli(tick)
	case "us":
		return time.UnixMicro(tick)
	case "ns":
		return time.Unix(0, tick)
	case "day":
		return time.Unix(tick*86400, 0)
	}
	panic(unit)
}

// notBefore reports whether a row's time is at or after a bound, which is JSON.
func (o *oracle) notBefore(tick int64, v window.TimeValue) bool {
	text := v.String()
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return !instantOf(tick, o.table.Unit).Before(t)
	}
	var number int64
	neg := false
	for i, c := range text {
		if i == 0 && c == '-' {
			neg = true
			continue
		}
		number = number*10 + int64(c-'0')
	}
	if neg {
		number = -number
	}
	return tick >= number
}

// span returns the number of rows before each bound.
func (o *oracle) span(item int64, b *window.TimeBounds) (int64, int64) {
	lo, hi := int64(0), int64(0)
	for _, tick := range o.times(item) {
		if b.From != nil && !o.notBefore(tick, *b.From) {
			lo++
		}
		if b.To == nil || !o.notBefore(tick, *b.To) {
			hi++
		}
	}
	if hi < lo {
		hi = lo
	}
	return lo, hi
}

func (o *oracle) times(item int64) []int64 {
	return o.table.Times[o.table.Offsets[item]:o.table.Offsets[item+1]]
}

func (o *oracle) rows(item int64) int64 { return o.table.Offsets[item+1] - o.table.Offsets[item] }

func (o *oracle) admitted(item int64) (int64, int64) {
	if o.spec.Time != nil {
		return o.span(item, o.spec.Time)
	}
	return slice(o.spec.Rows, o.rows(item))
}

// part applies the cuts to an item.
func (o *oracle) part(item int64, cuts []window.Cut) rowsOf {
	n := o.rows(item)
	a, b := o.admitted(item)
	r := rowsOf{in: make([]bool, n), lo: a, hi: b, context: a}
	for i := a; i < b; i++ {
		r.in[i] = true
	}
	for _, c := range cuts {
		switch {
		case c.Where != nil:
			o.where(item, &r, *c.Where)
		case c.Split != nil:
			o.split(item, &r, *c.Split, c.Part)
		}
	}
	return r
}

// keep narrows the range to [lo, hi).
func (r *rowsOf) keep(lo, hi int64) {
	for i := range r.in {
		if int64(i) < lo || int64(i) >= hi {
			r.in[i] = false
		}
	}
	if lo > r.lo {
		r.lo = lo
	}
	if hi < r.hi {
		r.hi = hi
	}
	if r.hi < r.lo {
		r.hi = r.lo
	}
}

func (r *rowsOf) own(before *bool) {
	if before != nil && !*before && r.lo > r.context {
		r.context = r.lo
	}
}

func (o *oracle) where(item int64, r *rowsOf, w window.Where) {
	if w.Items != nil {
		r.gone = r.gone || !contains(w.Items, item)
	}
	if w.Rows != nil && (w.Rows.From != nil || w.Rows.To != nil) {
		r.keep(slice(w.Rows, o.rows(item)))
		r.cutRows = true
	}
	if w.Time != nil && (w.Time.From != nil || w.Time.To != nil) {
		r.keep(o.span(item, w.Time))
		r.cutRows = true
	}
	r.own(w.ContextBeforeSplit)
}

func contains(list []int64, v int64) bool {
	for _, x := range list {
		if x == v {
			return true
		}
	}
	return false
}

func (o *oracle) split(item int64, r *rowsOf, s window.Split, part int) {
	defer func() { r.own(s.ContextBeforeSplit) }()
	if s.Items != nil {
		if s.Items.Lists != nil {
			r.gone = r.gone || !contains(s.Items.Lists[part], item)
		} else {
			r.gone = r.gone || o.partOfHash(item, s.Items.Fractions) != part
		}
		return
	}
	begins := o.begins(item, r, s)
	end := begins[part+1]
	if part+2 < len(begins) {
		end -= s.Purge
	}
	if end < begins[part] {
		end = begins[part]
	}
	r.keep(begins[part], end)
	r.cutRows = true
}

// begins returns the first rows of all parts, and the end of the last.
func (o *oracle) begins(item int64, r *rowsOf, s window.Split) []int64 {
	if s.AtTimes != nil {
		list := []int64{r.lo}
		for _, at := range s.AtTimes {
			count := int64(0)
			for _, tick := range o.times(item) {
				if !o.notBefore(tick, at) {
					count++
				}
			}
			list = append(list, count)
		}
		return append(list, r.hi)
	}
	n := r.hi - r.lo
	var sizes []int64
	rest := -1
	for i, l := range s.Lengths {
		if l == nil {
			rest = i
			sizes = append(sizes, 0)
		} else {
			sizes = append(sizes, *l)
		}
	}
	for i, f := range s.Fractions {
		if f == nil {
			rest = i
			sizes = append(sizes, 0)
		} else {
			product := float64(n) * *f
			sizes = append(sizes, int64(math.Floor(product+1e-9)))
		}
	}
	if s.Fractions != nil && rest < 0 {
		rest = len(s.Fractions) - 1
		sizes[rest] = 0
	}
	// Assign the rows one by one.
	left, dealt := n, make([]int64, len(sizes))
	for i, size := range sizes {
		for ; size > 0 && left > 0; size-- {
			dealt[i]++
			left--
		}
	}
	if rest >= 0 {
		dealt[rest] += left
	}
	list := []int64{r.lo}
	for _, d := range dealt {
		list = append(list, list[len(list)-1]+d)
	}
	return list
}

func (o *oracle) partOfHash(item int64, fractions []*float64) int {
	u := float64(o.table.ItemHash(item)>>11) / (1 << 53)
	rest, sum := len(fractions)-1, 0.0
	for i, f := range fractions {
		if f == nil {
			rest = i
		}
	}
	for i, f := range fractions {
		if i != rest {
			sum += *f
		}
	}
	edge := 0.0
	for i, f := range fractions {
		if i == rest {
			edge += math.Max(0, 1-sum)
		} else {
			edge += *f
		}
		if u < edge {
			return i
		}
	}
	return len(fractions) - 1
}

// index finds the windows of the spec and the cuts.
func (o *oracle) index(cuts []window.Cut) found {
	f := found{rejected: map[window.Reason]int64{}}
	if len(cuts) > 0 && cuts[len(cuts)-1].Latest {
		o.latest(&f, cuts)
		return f
	}
	d, total := or1(o.spec.Dilation), o.spec.ContextLength+o.spec.Gap+o.spec.PredictionLength
	for item := range int64(len(o.table.Offsets) - 1) {
		part := o.part(item, cuts)
		if part.gone {
			continue
		}
		n := o.rows(item)
		far := total*d + n + or1(o.spec.Stride)
		for s := -far; s <= far; s++ {
			if !o.isPosition(item, s) {
				continue
			}
			row := o.partRow(s)
			if part.cutRows && !(row >= 0 && row < n && part.in[row]) {
				continue
			}
			if why := o.why(item, s, &part); why != "" {
				f.rejected[why]++
				continue
			}
			f.places = append(f.places, window.Place{Item: item, Start: s})
			f.pads = append(f.pads, o.pad(item, s))
		}
	}
	return f
}

// partRow returns the row that decides which part a position belongs to.
func (o *oracle) partRow(s int64) int64 {
	if o.spec.PredictionLength == 0 {
		return s + (o.spec.ContextLength-1)*or1(o.spec.Dilation)
	}
	return s + (o.spec.ContextLength+o.spec.Gap)*or1(o.spec.Dilation)
}

// pad returns the number of context rows before the first admitted row.
func (o *oracle) pad(item, s int64) int64 {
	a, _ := o.admitted(item)
	pad := int64(0)
	for i := range o.spec.ContextLength {
		if s+i*or1(o.spec.Dilation) < a {
			pad++
		}
	}
	return pad
}

// padded reports whether min_context admits a start before the first admitted row: enough context
// rows are not padding, and no row after the context is (for P = 0 not the last context row).
func (o *oracle) padded(item, s int64) bool {
	a, b := o.admitted(item)
	if s >= a || a >= b || o.spec.MinContext == nil {
		return false
	}
	real := s + o.spec.ContextLength*or1(o.spec.Dilation)
	if o.spec.PredictionLength == 0 {
		real = o.lastRow(s)
	}
	if real < a {
		return false
	}
	return o.spec.ContextLength-o.pad(item, s) >= *o.spec.MinContext
}
