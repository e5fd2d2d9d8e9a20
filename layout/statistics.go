package layout

import (
	"math"
	"math/rand/v2"
	"strconv"

	tdigest "github.com/caio/go-tdigest/v4"
)

// Statistics are those of the values of a numeric column as they are stored, features together. What is no finite number, or of a
// column without values, is nil. Quantiles are approximate: of a t-digest (Dunning) of 1,024 to 2,048 values drawn at random, or of all
// where there are fewer, so that the rank of each is off by up to about 4 % of the values.
type Statistics struct {
	Count     int64               `json:"count"` // values that are not missing
	Min       *float64            `json:"min"`
	Max       *float64            `json:"max"`
	Mean      *float64            `json:"mean"`
	Std       *float64            `json:"std"` // with ddof 0
	Quantiles map[string]*float64 `json:"quantiles"`
}

// quantiles are those that statistics have.
var quantiles = []float64{0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99}

// sampleOf is of how many values of a column the quantiles are computed: few enough that it costs little beside the load.
func sampleOf(values int64) int64 { return min(values, max(1<<10, min(values/64, 2<<10))) }

// observer follows the values of a column, block by block.
type observer struct {
	dtype    DType
	values   int64 // of the whole column
	n        int64
	mean, m2 float64
	lo, hi   float64
	sample   []float64
	random   *rand.Rand
}

func newObserver(dtype DType, values int64) *observer {
	return &observer{
		dtype: dtype, values: values, lo: math.Inf(1), hi: math.Inf(-1), random: rand.New(rand.NewPCG(1, 2)),
		sample: make([]float64, 0, sampleOf(values)),
	}
}

// see takes in a block and tells how many of its values are missing.
func (o *observer) see(block []byte) (missing int64) {
	switch o.dtype {
	case Float32:
		return observe(o, cast[float32](block))
	case Float64:
		return observe(o, cast[float64](block))
	case Int8:
		return observe(o, cast[int8](block))
	case Int16:
		return observe(o, cast[int16](block))
	case Int32:
		return observe(o, cast[int32](block))
	case Int64:
		return observe(o, cast[int64](block))
	case Uint8, Bool:
		return observe(o, cast[uint8](block))
	case Uint16:
		return observe(o, cast[uint16](block))
	case Uint32:
		return observe(o, cast[uint32](block))
	case Uint64:
		return observe(o, cast[uint64](block))
	case Float16:
		half := cast[Half](block)
		wide := make([]float32, len(half))
		for i, h := range half {
			wide[i] = h.Float32()
		}
		return observe(o, wide)
	}
	if o.dtype == Text {
		for _, v := range cast[int32](block) {
			if v < 0 {
				missing++
			}
		}
	}
	return missing
}

// sums are what is summed up over a block: differences from a value near them, and their squares.
type sums struct {
	n               int64
	sum, squares    float64
	least, greatest float64
}

func observe[T Number](o *observer, values []T) (missing int64) {
	near := o.mean
	for i := 0; o.n == 0 && i < len(values); i++ {
		if near = float64(values[i]); near-near == 0 {
			break
		}
	}
	if near-near != 0 {
		near = 0
	}
	s := sumUp(values, near)
	if s.sum != s.sum { // a value is missing, or there are infinities
		s = sumUpPresent(values, near)
	}
	o.join(s, near)
	o.draw(len(values), func(i int) float64 { return float64(values[i]) })
	return int64(len(values)) - s.n
}

// sumUp sums up values of which none is missing; else the sum is NaN.
func sumUp[T Number](values []T, near float64) sums {
	if len(values) == 0 {
		return sums{}
	}
	var s0, s1, s2, s3, q0, q1, q2, q3 float64
	lo, hi := values[0], values[0]
	i := 0
	for ; i+4 <= len(values); i += 4 {
		v := values[i : i+4 : i+4]
		a, b, c, d := v[0], v[1], v[2], v[3]
		x, y, z, w := float64(a)-near, float64(b)-near, float64(c)-near, float64(d)-near
		s0, s1, s2, s3 = s0+x, s1+y, s2+z, s3+w
		q0, q1, q2, q3 = q0+x*x, q1+y*y, q2+z*z, q3+w*w
		if a < lo {
			lo = a
		}
		if a > hi {
			hi = a
		}
		if b < lo {
			lo = b
		}
		if b > hi {
			hi = b
		}
		if c < lo {
			lo = c
		}
		if c > hi {
			hi = c
		}
		if d < lo {
			lo = d
		}
		if d > hi {
			hi = d
		}
	}
	for ; i < len(values); i++ {
		x := float64(values[i]) - near
		s0, q0, lo, hi = s0+x, q0+x*x, min(lo, values[i]), max(hi, values[i])
	}
	return sums{int64(len(values)), s0 + s1 + s2 + s3, q0 + q1 + q2 + q3, float64(lo), float64(hi)}
}

// sumUpPresent leaves out what is missing.
func sumUpPresent[T Number](values []T, near float64) sums {
	s := sums{least: math.Inf(1), greatest: math.Inf(-1)}
	for _, v := range values {
		if v != v {
			continue
		}
		x := float64(v) - near
		s.n, s.sum, s.squares = s.n+1, s.sum+x, s.squares+x*x
		s.least, s.greatest = min(s.least, float64(v)), max(s.greatest, float64(v))
	}
	return s
}

// join joins a block's sums with those before (Chan, Golub, LeVeque).
func (o *observer) join(s sums, near float64) {
	if s.n == 0 {
		return
	}
	k, n := float64(s.n), float64(o.n+s.n)
	mean := near + s.sum/k
	delta := mean - o.mean
	o.m2 += max(0, s.squares-s.sum*s.sum/k) + delta*delta*k*float64(o.n)/n
	o.mean += delta * k / n
	o.n += s.n
	o.lo, o.hi = min(o.lo, s.least), max(o.hi, s.greatest)
}

// draw takes the block's share of the sample, one value out of each of so many equal parts of it.
func (o *observer) draw(n int, value func(i int) float64) {
	parts := n
	if sample := sampleOf(o.values); sample < o.values {
		parts = int(float64(n)*float64(sample)/float64(o.values) + o.random.Float64())
	}
	for i := range parts {
		from, to := i*n/parts, (i+1)*n/parts
		at := from
		if to-from > 1 {
			at += o.random.IntN(to - from)
		}
		for k := range to - from { // the next that is there, in a circle
			if v := value(from + (at-from+k)%(to-from)); v-v == 0 {
				o.sample = append(o.sample, v)
				break
			}
		}
	}
}

// statistics are those of all that was seen.
func (o *observer) statistics() *Statistics {
	s := &Statistics{Count: o.n, Quantiles: map[string]*float64{}}
	if o.n > 0 {
		s.Min, s.Max = finite(o.lo), finite(o.hi)
		s.Mean, s.Std = finite(o.mean), finite(math.Sqrt(o.m2/float64(o.n)))
	}
	digest, err := tdigest.New(tdigest.LocalRandomNumberGenerator(1))
	if err != nil { // of options, which are constant
		panic(err)
	}
	for _, v := range o.sample {
		_ = digest.Add(v) // refuses NaN and infinities alone
	}
	for _, q := range quantiles {
		// Between the ends it draws lines, which may go beyond the values.
		s.Quantiles[strconv.FormatFloat(q, 'g', -1, 64)] = finite(min(max(digest.Quantile(q), o.lo), o.hi))
	}
	return s
}

func finite(v float64) *float64 {
	if v-v != 0 {
		return nil
	}
	return &v
}
