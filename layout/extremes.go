package layout

// Extremes are the least and greatest values of stretches of rows: of stretch i, Missing[i] values are missing and Min[i] to Max[i]
// hold the others, both nil where there are none. They are as [Cells] shows them, but 0 and 1 for bool.
type Extremes struct {
	Min, Max []any
	Missing  []int64
}

// Feature is one feature of a column whose extremes are asked for. It is immutable after Summarise, safe for concurrent use, and valid
// while the caller holds an Acquire.
type Feature struct{ featureSummary }

// featureSummary is a Feature of any dtype.
type featureSummary interface {
	summarise(from, to int64)
	extremes(bounds []int64) Extremes
}

// Feature is feature lane of a column, 0 for a plain one.
func (d *Data) Feature(c *ManifestColumn, lane int64) (*Feature, error) {
	s, err := natives[c.DType].featureSummary(d, c, lane)
	return &Feature{s}, err
}

// Extremes are those of the stretches of dataset rows [bounds[i], bounds[i+1]). The bounds ascend and lie inside the column.
func (f *Feature) Extremes(bounds []int64) Extremes { return f.extremes(bounds) }

// Summarise reads the rows [from, to) once, on all cores, and keeps what each 1,024 of them come to, in about 1 % of their memory.
// Afterwards the extremes of any stretches of these rows take time of the stretches, and not of the rows. A fault of the mapped memory,
// as of a file that was cut off, is a panic in the caller's goroutine.
func (f *Feature) Summarise(from, to int64) { f.summarise(from, to) }

// extreme is what rows come to: of none that is there, least and greatest mean nothing.
type extreme[T Number] struct {
	least, greatest T
	there, rows     int64
}

func (e extreme[T]) join(o extreme[T]) extreme[T] {
	switch {
	case e.there == 0:
		e.least, e.greatest = o.least, o.greatest
	case o.there > 0:
		e.least, e.greatest = min(e.least, o.least), max(e.greatest, o.greatest)
	}
	e.there, e.rows = e.there+o.there, e.rows+o.rows
	return e
}

// see takes in a value that is there.
func (e *extreme[T]) see(v T) {
	if e.there == 0 {
		e.least, e.greatest = v, v
	}
	if e.there++; v < e.least {
		e.least = v
	}
	if v > e.greatest {
		e.greatest = v
	}
}

// seeNumbers sums up values that lie step apart; NaN is missing.
func seeNumbers[T Number](data []T, step int64) (e extreme[T]) {
	n, at := int64(len(data)), int64(0)
	e.rows = (n + step - 1) / step
	for at < n && data[at] != data[at] { // up to the first that is there
		at += step
	}
	if at >= n {
		return e
	}
	least, greatest, there := data[at], data[at], int64(0)
	for ; at < n; at += step {
		v := data[at]
		if v < least {
			least = v
		}
		if v > greatest {
			greatest = v
		}
		if v == v {
			there++
		}
	}
	return extreme[T]{least, greatest, there, e.rows}
}

func seeHalves(data []Half, step int64) (e extreme[float32]) {
	for at := int64(0); at < int64(len(data)); at += step {
		if e.rows++; !data[at].IsNaN() {
			e.see(data[at].Float32())
		}
	}
	return e
}

// seeCodes sums up codes of words; −1 is missing.
func seeCodes(data []int32, step int64) (e extreme[int32]) {
	for at := int64(0); at < int64(len(data)); at += step {
		if e.rows++; data[at] >= 0 {
			e.see(data[at])
		}
	}
	return e
}
