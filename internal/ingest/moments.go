package ingest

import "math"

// moments are count, mean and sum of squared deviations, least and greatest of values. The zero value is that of none.
type moments struct {
	n          int64
	mean, m2   float64
	least, top float64
}

// measure are the moments of the values that are not NaN, in two passes over them.
func measure(values []float64) (m moments) {
	if len(values) > 0 && !anyMissing(values) {
		return measureAll(values)
	}
	sum := 0.0
	for _, v := range values {
		if v != v {
			continue
		}
		if m.n == 0 {
			m.least, m.top = v, v
		}
		m.n++
		sum += v
		if v < m.least {
			m.least = v
		}
		if v > m.top {
			m.top = v
		}
	}
	if m.n == 0 {
		return m
	}
	m.mean = sum / float64(m.n)
	for _, v := range values {
		if v == v {
			m.m2 += (v - m.mean) * (v - m.mean)
		}
	}
	return m
}

// measureAll is measure for values of which none is NaN.
func measureAll(values []float64) moments {
	m := moments{n: int64(len(values)), least: values[0], top: values[0]}
	sum := 0.0
	for _, v := range values {
		sum += v
		if v < m.least {
			m.least = v
		}
		if v > m.top {
			m.top = v
		}
	}
	m.mean = sum / float64(m.n)
	var a, b float64 // two sums, so that neither waits for the other
	for i := 0; i+2 <= len(values); i += 2 {
		x, y := values[i]-m.mean, values[i+1]-m.mean
		a, b = a+x*x, b+y*y
	}
	if len(values)%2 == 1 {
		x := values[len(values)-1] - m.mean
		a += x * x
	}
	m.m2 = a + b
	return m
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

// fit turns moments into shift and scale, as scikit-learn's StandardScaler, MinMaxScaler and MaxAbsScaler. A spread of 0 scales by 1.
func (m moments) fit(kind string) (shift, scale float64) {
	if kind == scaleMaxAbs {
		if scale = max(-m.least, m.top); m.n == 0 || scale == 0 {
			scale = 1
		}
		return 0, scale
	}
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
