package layout

import (
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// summaryRows is how many rows one entry of a summary stands for.
const summaryRows = 1 << 10

// stored are the values of one feature, stored as S and compared as T: those of row i are data[i·step].
type stored[S Native, T Number] struct {
	data  []S
	step  int64
	sumUp func(data []S, step int64) extreme[T]
	// blocks are what the rows from first on come to, summaryRows at a time; without a summary there are none.
	blocks []extreme[T]
	first  int64
}

// summaryOf gives features whose rows sumUp sums up: those of data, which are step values apart.
func summaryOf[S Native, T Number](sumUp func(data []S, step int64) extreme[T]) func(d *Data, c *ManifestColumn, lane int64) (featureSummary, error) {
	return func(d *Data, c *ManifestColumn, lane int64) (featureSummary, error) {
		v, err := View[S](d, c)
		if err != nil {
			return nil, err
		}
		s := &stored[S, T]{data: v.Data, step: v.Step, sumUp: sumUp}
		if len(v.Data) > 0 {
			s.data = v.Data[lane:]
		}
		return s, nil
	}
}

// rows sums up the rows [from, to), to above from.
func (s *stored[S, T]) rows(from, to int64) extreme[T] {
	return s.sumUp(s.data[from*s.step:(to-1)*s.step+1], s.step)
}

func (s *stored[S, T]) summarise(from, to int64) {
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
				blocks[i] = s.rows(at, at+summaryRows)
			}
		})
	}
	group.Wait()
	if p := fault.Load(); p != nil {
		panic(*p) // where it is recovered, or not, as if the caller had read by itself
	}
	s.blocks, s.first = blocks, from
}

func (s *stored[S, T]) extremes(bounds []int64) Extremes {
	n := max(0, len(bounds)-1)
	e := Extremes{Min: make([]any, n), Max: make([]any, n), Missing: make([]int64, n)}
	for i := range n {
		x := s.stretch(bounds[i], bounds[i+1])
		if e.Missing[i] = x.rows - x.there; x.there > 0 {
			e.Min[i], e.Max[i] = cellOf(x.least), cellOf(x.greatest)
		}
	}
	return e
}

// stretch sums up rows, by their blocks where there are some.
func (s *stored[S, T]) stretch(from, to int64) (e extreme[T]) {
	if from >= to {
		return e
	}
	first := min(max(0, (from-s.first+summaryRows-1)/summaryRows), int64(len(s.blocks)))
	last := min(max(first, (to-s.first)/summaryRows), int64(len(s.blocks)))
	if from < s.first || first >= last {
		return s.rows(from, to)
	}
	begin, end := s.first+first*summaryRows, s.first+last*summaryRows
	if from < begin {
		e = s.rows(from, begin)
	}
	for _, b := range s.blocks[first:last] {
		e = e.join(b)
	}
	if end < to {
		e = e.join(s.rows(end, to))
	}
	return e
}
