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

// Statistics are those of the values of a numeric column as they are stored, features together. What is no finite number, or of a
// column without values, is nil. Quantiles are approximate: of a t-digest (Dunning) of 1,024 to 2,048 values drawn at random, and as many of
// stretches of which most is missing, or of all where there are fewer, so that the rank of each is off by up to about 4 % of the values; by
// more where whole stretches are there but most of the column is missing.
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
func sampleSize(values int64) int64 { return min(values, max(1<<10, min(values/64, 2<<10))) }

// observer follows the values of a column, block by block.
type observer struct {
	dtype  DType
	values int64 // of the whole column
	moments.Moments
	sample     []float64
	rare       []weightedValue // of blocks with few values
	rareWeight float64         // how many of these one stands for by now, 0 for 1
	random     *rand.Rand
}

func newObserver(dtype DType, values int64) *observer {
	return &observer{dtype: dtype, values: values, random: rand.New(rand.NewPCG(1, 2)), sample: make([]float64, 0, sampleSize(values))}
}

// add adds a block and returns how many of its values are missing.
func (o *observer) add(block []byte) (missing int64) { return natives[o.dtype].observe(o, block) }

func observe[T moments.Number](o *observer, values []T) (missing int64) {
	n := int64(len(values))
	missing = moments.See(&o.Moments, values)
	if 2*missing > n {
		sampleRare(o, values, n-missing)
	} else {
		sampleBlock(o, values)
	}
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

// sampleBlock takes the block's share of the sample, one value out of each of so many equal parts of it; where that is missing, none.
func sampleBlock[T moments.Number](o *observer, values []T) {
	n := len(values)
	parts := n
	if sample := sampleSize(o.values); sample < o.values {
		parts = int(float64(n)*float64(sample)/float64(o.values) + o.random.Float64())
	}
	for i := range parts {
		from, to := i*n/parts, (i+1)*n/parts
		at := from
		if to-from > 1 {
			at += o.random.IntN(to - from)
		}
		if v := float64(values[at]); v-v == 0 {
			o.sample = append(o.sample, v)
		}
	}
}

// sampleRare takes values of a block of which most are missing: all that are there, until they are many, and then one of so many.
func sampleRare[T moments.Number](o *observer, values []T, present int64) {
	weight := max(1, o.rareWeight, float64(present)/rareLimit)
	k := int64(min(float64(present), float64(present)/weight+o.random.Float64()))
	if k > 0 && k < present/16 { // looking here and there takes less than looking at all
		for found := int64(0); found < k; {
			if v := float64(values[o.random.IntN(len(values))]); v == v {
				o.addRare(v, weight)
				found++
			}
		}
	} else if k > 0 {
		step := float64(present) / float64(k)
		at, next := 0.0, o.random.Float64()*step
		for _, x := range values {
			if v := float64(x); v == v {
				if at++; at > next {
					o.addRare(v, weight)
					next += step
				}
			}
		}
	}
	if len(o.rare) > 2*rareLimit {
		o.resample()
	}
}

// addRare takes in a value that stands for so many.
func (o *observer) addRare(v, weight float64) {
	if v-v == 0 {
		o.rare = append(o.rare, weightedValue{v, weight})
	}
}

// weightedValue is a value that stands for so many.
type weightedValue struct{ value, weight float64 }

// rareLimit is how many values stand for those of blocks with few.
const rareLimit = 1 << 10

// resample leaves rareLimit of the values that stand for others, each as often as it is likely (systematic resampling, Kitagawa 1996).
func (o *observer) resample() {
	var all float64
	for _, w := range o.rare {
		all += w.weight
	}
	o.rareWeight = all / rareLimit
	next, sum, chosen := o.random.Float64()*o.rareWeight, 0.0, o.rare[:0]
	for _, w := range o.rare {
		times := 0.0
		for sum += w.weight; next < sum; next += o.rareWeight {
			times++
		}
		if times > 0 {
			chosen = append(chosen, weightedValue{w.value, times * o.rareWeight})
		}
	}
	o.rare = chosen
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
	for _, w := range o.weightedValues() {
		_ = digest.AddWeighted(w.value, uint64(math.Round(w.weight))) // refuses NaN and infinities alone
	}
	for _, q := range quantiles {
		// Between the ends it draws lines, which may go beyond the values.
		s.Quantiles[strconv.FormatFloat(q, 'g', -1, 64)] = finite(min(max(digest.Quantile(q), o.Least), o.Greatest))
	}
	return s
}

// weightedValues are all values that were drawn, with how many each stands for: in parts of what the lightest does, since digests count in whole numbers.
func (o *observer) weightedValues() []weightedValue {
	const parts = 16
	unit, one := 1.0, 1.0
	if len(o.rare) > 0 {
		lightest := slices.MinFunc(o.rare, func(a, b weightedValue) int { return cmp.Compare(a.weight, b.weight) })
		unit = parts / lightest.weight
		one = unit * float64(o.values) / float64(sampleSize(o.values))
	}
	all := make([]weightedValue, 0, len(o.rare)+len(o.sample))
	for _, w := range o.rare {
		all = append(all, weightedValue{w.value, w.weight * unit})
	}
	for _, v := range o.sample {
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
