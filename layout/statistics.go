package layout

import (
	"math/rand/v2"
	"slices"
	"strconv"

	tdigest "github.com/caio/go-tdigest/v4"

	"github.com/tensorcache/tensorcache/internal/moments"
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
	dtype  DType
	values int64 // of the whole column
	moments.Moments
	foretold bool // what the moments are in the end
	sample   []float64
	random   *rand.Rand
}

func newObserver(dtype DType, values int64) *observer {
	return &observer{dtype: dtype, values: values, random: rand.New(rand.NewPCG(1, 2)), sample: make([]float64, 0, sampleOf(values))}
}

// see takes in a block and tells how many of its values are missing, unless that is foretold.
func (o *observer) see(block []byte) (missing int64) { return natives[o.dtype].see(o, block) }

func observe[T moments.Number](o *observer, values []T) (missing int64) {
	if !o.foretold {
		missing = moments.See(&o.Moments, values)
	}
	o.draw(len(values), func(i int) float64 { return float64(values[i]) })
	return missing
}

// missingCodes counts the codes of texts that are missing.
func missingCodes(codes []int32) (missing int64) {
	for _, code := range codes {
		if code < 0 {
			missing++
		}
	}
	return missing
}

// observeHalves widens some halves at a time.
func observeHalves(o *observer, halves []Half) (missing int64) {
	wide := make([]float32, min(len(halves), 4096))
	for part := range slices.Chunk(halves, 4096) {
		for i, h := range part {
			wide[i] = h.Float32()
		}
		missing += observe(o, wide[:len(part)])
	}
	return missing
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
	s := &Statistics{Count: o.N, Quantiles: map[string]*float64{}}
	if o.N > 0 {
		s.Min, s.Max = finite(o.Least), finite(o.Greatest)
		s.Mean, s.Std = finite(o.Mean), finite(o.Std())
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
		s.Quantiles[strconv.FormatFloat(q, 'g', -1, 64)] = finite(min(max(digest.Quantile(q), o.Least), o.Greatest))
	}
	return s
}

func finite(v float64) *float64 {
	if v-v != 0 {
		return nil
	}
	return &v
}
