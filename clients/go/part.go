package tensorcache

// Part is one array of a batch: of len(Shape) axes, of which the first counts the windows. It is
// empty where the spec does not ask for the part. Values of a window are dense, in C order; so are
// the windows, unless Step says otherwise.
type Part[T Value] struct {
	Data  []T
	Shape []int
	// Step is 0 where the windows follow each other in Data. In a view they overlap: then it is the
	// number of values from the first of a window to the first of the next.
	Step int
}

// Window is the piece of one window: what belongs to index i of the first axis, without a copy.
func (p Part[T]) Window(i int) []T {
	size := p.size()
	from := i * size
	if p.Step > 0 {
		from = i * p.Step
	}
	return p.Data[from : from+size : from+size]
}

// size is how many values a window has.
func (p Part[T]) size() int {
	if len(p.Shape) == 0 {
		return 0
	}
	size := 1
	for _, n := range p.Shape[1:] {
		size *= n
	}
	return size
}

// dense is the part with windows that follow each other: a copy where they do not.
func (p Part[T]) dense() Part[T] {
	if p.Step == 0 {
		return p
	}
	return copyPart(p)
}

func copyPart[T Value](p Part[T]) Part[T] {
	if p.Step == 0 {
		return Part[T]{Data: copySlice(p.Data), Shape: copySlice(p.Shape)}
	}
	copied := Part[T]{Data: make([]T, 0, p.Shape[0]*p.size()), Shape: copySlice(p.Shape)}
	for i := range p.Shape[0] {
		copied.Data = append(copied.Data, p.Window(i)...)
	}
	return copied
}

func copySlice[T any](s []T) []T {
	if s == nil {
		return nil
	}
	return append(make([]T, 0, len(s)), s...)
}

// sized returns a part of a shape, in the memory of p if that is large enough.
func withShape[T Value](p Part[T], shape []int) Part[T] {
	n := 1
	for _, length := range shape {
		n *= length
	}
	if cap(p.Data) < n {
		p.Data = make([]T, n)
	}
	return Part[T]{Data: p.Data[:n], Shape: shape}
}
