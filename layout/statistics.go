package layout

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	tdigest "github.com/caio/go-tdigest/v4"

	"github.com/tensorcache/tensorcache/internal/moments"
)

// Statistics are the statistics of the stored values of a numeric column, over all its features. A
// number that is not finite is nil, and so are all numbers of a column without values.
//
// Quantiles are approximate. A t-digest (Dunning) estimates them from 1,024 to 2,048 random values,
// or from all values if there are fewer. Blocks in which most values are missing have a second
// sample of the same size. The rank of a quantile is wrong by up to about 4 % of the values. The
// error is larger if most of the column is missing but whole blocks of it are not.
type Statistics struct {
	Count     int64               `json:"count"` // of values that are not missing
	Min       *float64            `json:"min"`
	Max       *float64            `json:"max"`
	Mean      *float64            `json:"mean"`
	Std       *float64            `json:"std"` // with ddof 0
	Quantiles map[string]*float64 `json:"quantiles"`
}

// quantiles are the ranks of the quantiles in Statistics.
var quantiles = []float64{0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99}

// sampleSize returns how many of a column's values to sample for the quantiles. The sample is
// small, so that it costs little compared with the load.
func sampleSize(values int64) int64 { return min(values, max(1<<10, min(values/64, 2<<10))) }

// columnStatistics computes the statistics of a column, block by block.
type columnStatistics struct {
	dtype  DType
	values int64 // number of values of the column
	moments.Moments
	sample     []float64
	rare       []weightedValue // from blocks in which most values are missing
	rareWeight float64         // current weight of a value in rare; 0 means 1
	random     *rand.Rand
}

func newColumnStatistics(dtype DType, values int64) *columnStatistics {
	return &columnStatistics{
		dtype: dtype, values: values, random: rand.New(rand.NewPCG(1, 2)),
		sample: make([]float64, 0, sampleSize(values)),
	}
}

// add adds a block and returns the number of its missing values.
func (c *columnStatistics) add(block []byte) (missing int64) {
	return natives[c.dtype].addStatistics(c, block)
}

func addValues[T moments.Number](c *columnStatistics, values []T) (missing int64) {
	n := int64(len(values))
	missing = moments.Add(&c.Moments, values)
	if 2*missing > n {
		sampleRare(c, values, n-missing)
	} else {
		sampleBlock(c, values)
	}
	return missing
}

// missingCodes returns the number of missing texts in codes.
func missingCodes(codes []int32) (missing int64) {
	for _, code := range codes {
		if code < 0 {
			missing++
		}
	}
	return missing
}

// addHalves converts halves to float32 in blocks and adds them.
func addHalves(c *columnStatistics, halves []Half) (missing int64) {
	wide := make([]float32, min(len(halves), 4096))
	for part := range slices.Chunk(halves, 4096) {
		for i, h := range part {
			wide[i] = h.Float32()
		}
		missing += addValues(c, wide[:len(part)])
	}
	return missing
}

// sampleBlock adds the block's part of the sample. It divides the block into equal parts and draws
// one value of each, unless the drawn value is missing.
func sampleBlock[T moments.Number](c *columnStatistics, values []T) {
	n := len(values)
	parts := n
	if sample := sampleSize(c.values); sample < c.values {
		parts = int(float64(n)*float64(sample)/float64(c.values) + c.random.Float64())
	}
	for i := range parts {
		from, to := i*n/parts, (i+1)*n/parts
		at := from
		if to-from > 1 {
			at += c.random.IntN(to - from)
		}
		if v := float64(values[at]); v-v == 0 {
			c.sample = append(c.sample, v)
		}
	}
}

// sampleRare samples a block in which most values are missing. It adds all present values until
// they are too many, and then a fraction of them.
func sampleRare[T moments.Number](c *columnStatistics, values []T, present int64) {
	weight := max(1, c.rareWeight, float64(present)/rareLimit)
	k := int64(min(float64(present), float64(present)/weight+c.random.Float64()))
	if k > 0 && k < present/16 { // a few random reads cost less than a scan
		for found := int64(0); found < k; {
			if v := float64(values[c.random.IntN(len(values))]); v == v {
				c.addRare(v, weight)
				found++
			}
		}
	} else if k > 0 {
		step := float64(present) / float64(k)
		at, next := 0.0, c.random.Float64()*step
		for _, x := range values {
			if v := float64(x); v == v {
				if at++; at > next {
					c.addRare(v, weight)
					next += step
				}
			}
		}
	}
	if len(c.rare) > 2*rareLimit {
		c.resample()
	}
}

// addRare adds a finite value with its weight to rare.
func (c *columnStatistics) addRare(v, weight float64) {
	if v-v == 0 {
		c.rare = append(c.rare, weightedValue{v, weight})
	}
}

// weightedValue is a value that represents weight values of the column.
type weightedValue struct{ value, weight float64 }

// rareLimit is the number of values that resample leaves in rare, which grows to twice as many.
const rareLimit = 1 << 10

// resample reduces rare to about rareLimit values. It draws each in proportion to its weight
// (systematic resampling, Kitagawa 1996).
func (c *columnStatistics) resample() {
	var all float64
	for _, w := range c.rare {
		all += w.weight
	}
	c.rareWeight = all / rareLimit
	next, sum, chosen := c.random.Float64()*c.rareWeight, 0.0, c.rare[:0]
	for _, w := range c.rare {
		times := 0.0
		for sum += w.weight; next < sum; next += c.rareWeight {
			times++
		}
		if times > 0 {
			chosen = append(chosen, weightedValue{w.value, times * c.rareWeight})
		}
	}
	c.rare = chosen
}

// result returns the statistics of all blocks that were added.
func (c *columnStatistics) result() *Statistics {
	s := &Statistics{Count: c.N, Quantiles: map[string]*float64{}}
	if c.N > 0 {
		s.Min, s.Max = finite(c.Least), finite(c.Greatest)
		s.Mean, s.Std = finite(c.Mean), finite(c.Std())
	}
	digest, err := tdigest.New(tdigest.LocalRandomNumberGenerator(1))
	if err != nil { // the options are constant and valid
		panic(err)
	}
	for _, w := range c.weightedValues() {
		// It fails only for NaN and infinities.
		_ = digest.AddWeighted(w.value, uint64(math.Round(w.weight)))
	}
	for _, q := range quantiles {
		// The digest interpolates, so a quantile may be outside the values.
		s.Quantiles[strconv.FormatFloat(q, 'g', -1, 64)] = finite(
			min(max(digest.Quantile(q), c.Least), c.Greatest))
	}
	return s
}

// weightedValues returns both samples with their weights. Digests count in whole numbers, so
// weights are multiples of a fraction of the lightest one.
func (c *columnStatistics) weightedValues() []weightedValue {
	const parts = 16
	unit, one := 1.0, 1.0
	if len(c.rare) > 0 {
		lightest := slices.MinFunc(c.rare,
			func(a, b weightedValue) int { return cmp.Compare(a.weight, b.weight) })
		unit = parts / lightest.weight
		one = unit * float64(c.values) / float64(sampleSize(c.values))
	}
	all := make([]weightedValue, 0, len(c.rare)+len(c.sample))
	for _, w := range c.rare {
		all = append(all, weightedValue{w.value, w.weight * unit})
	}
	for _, v := range c.sample {
		all = append(all, weightedValue{v, one})
	}
	return all
}

func finite(v float64) *float64 {
	if v-v != 0 {
		return nil
	}
	return &v
}
