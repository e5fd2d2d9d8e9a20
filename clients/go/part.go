package tensorcache

// Part is one array of a batch. The first axis of Shape counts windows. Values of a window are
// contiguous, in C order (the last axis varies fastest). It is the zero Part if the spec does not
// ask for it.
type Part[T Value] struct {
	Data  []T
	Shape []int
	// Step is the number of values between the starts of two consecutive windows in Data, if they
	// overlap, as in a view. It is 0 if the windows are contiguous.
	Step int
}

// Window returns the values of window i, a slice of Data.
func (p Part[T]) Window(i int) []T {
	size := p.size()
	from := i * size
	if p.Step > 0 {
		from = i * p.Step
	}
	return p.Data[from : from+size : from+size]
}

// size returns the number of values of a window.
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

// dense returns the part with contiguous windows: a copy if they overlap.
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

// withShape returns a part of a shape, in the memory of p if that is large enough.
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
