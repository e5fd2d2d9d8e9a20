package layout

import (
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// Extremes are the minima and maxima of ranges of rows. In range i, Missing[i] values are missing,
// and the others are from Min[i] to Max[i]. Both are nil if all values are missing. They have the
// types that [Cells] returns, except 0 and 1 for bool.
type Extremes struct {
	Min, Max []any
	Missing  []int64
}

// Feature computes extremes of one feature of a column. It is immutable after Summarise, safe for
// concurrent use, and valid until the caller releases its Acquire.
type Feature struct{ featureSummary }

// featureSummary is a Feature of any dtype.
type featureSummary interface {
	summarise(from, to int64)
	extremes(bounds []int64) Extremes
}

// Feature returns one feature of a column by its number: 0 for a plain column.
func (d *Data) Feature(c *ManifestColumn, feature int64) (*Feature, error) {
	s, err := natives[c.DType].featureSummary(d, c, feature)
	return &Feature{s}, err
}

// Extremes returns the extremes of the ranges of dataset rows [bounds[i], bounds[i+1]). The bounds
// must ascend and be inside the column.
func (f *Feature) Extremes(bounds []int64) Extremes { return f.extremes(bounds) }

// Summarise reads the rows [from, to) once, on all cores, and stores the extremes of each block of
// 1,024 rows, in about 1 % of the memory of the values. Afterwards the time for extremes of these
// rows depends on the number of ranges and not on the number of rows. A fault of the mapped memory,
// for example of a truncated file, panics in the caller's goroutine.
func (f *Feature) Summarise(from, to int64) { f.summarise(from, to) }

// extreme summarises rows. least and greatest are undefined if no value is present.
type extreme[T Number] struct {
	least, greatest T
	present, rows   int64
}

func (e extreme[T]) join(o extreme[T]) extreme[T] {
	switch {
	case e.present == 0:
		e.least, e.greatest = o.least, o.greatest
	case o.present > 0:
		e.least, e.greatest = min(e.least, o.least), max(e.greatest, o.greatest)
	}
	e.present, e.rows = e.present+o.present, e.rows+o.rows
	return e
}

// add adds a value that is not missing.
func (e *extreme[T]) add(v T) {
	if e.present == 0 {
		e.least, e.greatest = v, v
	}
	if e.present++; v < e.least {
		e.least = v
	}
	if v > e.greatest {
		e.greatest = v
	}
}

// extremeOfNumbers summarises every step-th value of data. NaN is missing.
func extremeOfNumbers[T Number](data []T, step int64) (e extreme[T]) {
	n, at := int64(len(data)), int64(0)
	e.rows = (n + step - 1) / step
	for at < n && data[at] != data[at] { // skip to the first present value
		at += step
	}
	if at >= n {
		return e
	}
	least, greatest, present := data[at], data[at], int64(0)
	for ; at < n; at += step {
		v := data[at]
		if v < least {
			least = v
		}
		if v > greatest {
			greatest = v
		}
		if v == v {
			present++
		}
	}
	return extreme[T]{least, greatest, present, e.rows}
}

// extremeOfHalves summarises every step-th value of data. NaN is missing.
func extremeOfHalves(data []Half, step int64) (e extreme[float32]) {
	for at := int64(0); at < int64(len(data)); at += step {
		if e.rows++; !data[at].IsNaN() {
			e.add(data[at].Float32())
		}
	}
	return e
}

// extremeOfCodes summarises every step-th code of a word. −1 is missing.
func extremeOfCodes(data []int32, step int64) (e extreme[int32]) {
	for at := int64(0); at < int64(len(data)); at += step {
		if e.rows++; data[at] >= 0 {
			e.add(data[at])
		}
	}
	return e
}

// summaryRows is the number of rows of one block of a summary.
const summaryRows = 1 << 10

// featureValues are the values of one feature, stored as S and compared as T. Row i is
// data[i·step].
type featureValues[S Native, T Number] struct {
	data      []S
	step      int64
	extremeOf func(data []S, step int64) extreme[T]
	// blocks are the extremes of each summaryRows rows, from row first on; empty without a summary.
	blocks []extreme[T]
	first  int64
}

// summaryOf returns a constructor of features whose rows extremeOf summarises.
func summaryOf[S Native, T Number](
	extremeOf func(data []S, step int64) extreme[T],
) func(d *Data, c *ManifestColumn, feature int64) (featureSummary, error) {
	return func(d *Data, c *ManifestColumn, feature int64) (featureSummary, error) {
		v, err := View[S](d, c)
		if err != nil {
			return nil, err
		}
		s := &featureValues[S, T]{data: v.Data, step: v.Step, extremeOf: extremeOf}
		if len(v.Data) > 0 {
			s.data = v.Data[feature:]
		}
		return s, nil
	}
}

// scan summarises the rows [from, to) from their values. to must be above from.
func (s *featureValues[S, T]) scan(from, to int64) extreme[T] {
	return s.extremeOf(s.data[from*s.step:(to-1)*s.step+1], s.step)
}

func (s *featureValues[S, T]) summarise(from, to int64) {
	blocks := make([]extreme[T], (to-from)/summaryRows)
	workers := runtime.GOMAXPROCS(0)
	var group sync.WaitGroup
	var fault atomic.Pointer[any]
	for w := range workers {
		group.Go(func() {
			defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
			defer func() {
				if p := recover(); p != nil {
					fault.Store(&p)
				}
			}()
			for i := len(blocks) * w / workers; i < len(blocks)*(w+1)/workers; i++ {
				at := from + int64(i)*summaryRows
				blocks[i] = s.scan(at, at+summaryRows)
			}
		})
	}
	group.Wait()
	if p := fault.Load(); p != nil {
		panic(*p) // in the caller's goroutine, which may recover
	}
	s.blocks, s.first = blocks, from
}

func (s *featureValues[S, T]) extremes(bounds []int64) Extremes {
	n := max(0, len(bounds)-1)
	e := Extremes{Min: make([]any, n), Max: make([]any, n), Missing: make([]int64, n)}
	for i := range n {
		x := s.extremeOfRows(bounds[i], bounds[i+1])
		if e.Missing[i] = x.rows - x.present; x.present > 0 {
			e.Min[i], e.Max[i] = cellOf(x.least), cellOf(x.greatest)
		}
	}
	return e
}

// extremeOfRows summarises the rows [from, to), from blocks as far as there are some.
func (s *featureValues[S, T]) extremeOfRows(from, to int64) (e extreme[T]) {
	if from >= to {
		return e
	}
	first := min(max(0, (from-s.first+summaryRows-1)/summaryRows), int64(len(s.blocks)))
	last := min(max(first, (to-s.first)/summaryRows), int64(len(s.blocks)))
	if from < s.first || first >= last {
		return s.scan(from, to)
	}
	begin, end := s.first+first*summaryRows, s.first+last*summaryRows
	if from < begin {
		e = s.scan(from, begin)
	}
	for _, b := range s.blocks[first:last] {
		e = e.join(b)
	}
	if end < to {
		e = e.join(s.scan(end, to))
	}
	return e
}
