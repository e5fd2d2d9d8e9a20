package layout

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"unsafe"

	"github.com/cespare/xxhash/v2"
	"pgregory.net/rapid"
)

// bytesOf returns the memory of values.
func bytesOf[T Number](values []T) []byte {
	if len(values) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&values[0])),
		len(values)*int(unsafe.Sizeof(values[0])))
}

func TestStatisticsEqualANaiveComputation(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		base := rapid.SampledFrom([]float64{0, -7, 1e6}).Draw(r, "base")
		values := rapid.SliceOfN(rapid.OneOf(rapid.Float64Range(-50, 50), rapid.Just(math.NaN()),
			rapid.Just(3.0)), 0, 60).Draw(r, "values")
		var present []float64
		mean, m2 := 0.0, 0.0
		for i := range values {
			if values[i] += base; values[i] == values[i] {
				present = append(present, values[i])
			}
		}
		for _, v := range present {
			mean += v / float64(len(present))
		}
		for _, v := range present {
			m2 += (v - mean) * (v - mean) / float64(len(present))
		}
		o := newColumnStatistics(Float64, int64(len(values)))
		cut := rapid.IntRange(0, len(values)).Draw(r, "cut")
		missing := o.add(bytesOf(values[:cut])) + o.add(bytesOf(values[cut:]))
		s := o.result()
		if s.Count != int64(len(present)) || missing != int64(len(values)-len(present)) {
			r.Fatalf("%d values, %d missing, want %d of %d", s.Count, missing,
				len(present), len(values))
		}
		if len(present) == 0 {
			if s.Min != nil || s.Mean != nil || s.Quantiles["0.5"] != nil {
				r.Fatalf("%+v of a column without values", s)
			}
			return
		}
		slices.Sort(present)
		if *s.Min != present[0] || *s.Max != present[len(present)-1] ||
			math.Abs(*s.Mean-mean) > 1e-9*(1+math.Abs(base)) ||
			math.Abs(*s.Std-math.Sqrt(m2)) > 1e-6 {
			r.Fatalf("min %v, max %v, mean %v, std %v of %v", *s.Min, *s.Max, *s.Mean,
				*s.Std, present)
		}
	})
}

func TestQuantilesOfManyValuesAreAccurate(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	values := make([]float32, 300_000)
	for i := range values {
		values[i] = float32(1e6 + random.NormFloat64()*float64(1+i%3))
	}
	o := newColumnStatistics(Float32, int64(len(values)))
	for at := 0; at < len(values); at += 5000 {
		o.add(bytesOf(values[at : at+5000]))
	}
	s := o.result()
	slices.Sort(values)
	for _, q := range quantiles {
		got := s.Quantiles[strconv.FormatFloat(q, 'g', -1, 64)]
		rank, _ := slices.BinarySearch(values, float32(*got))
		// 4 standard deviations of a sample of 2,048, plus the error of the digest.
		if off := math.Abs(float64(rank)/float64(len(values)) - q); off > 0.055 {
			t.Errorf("quantile %v has rank %v", q, float64(rank)/float64(len(values)))
		}
	}
}

// TestQuantilesOfSparseColumnsAreAccurate has columns with many missing values in some parts and
// few in others, where the values also differ in size.
func TestQuantilesOfSparseColumnsAreAccurate(t *testing.T) {
	const rows = 400_000
	random := rand.New(rand.NewPCG(5, 6))
	for name, present := range map[string]func(row int) bool{
		"a few at the beginning": func(row int) bool { return row < 50 },
		"a few, scattered":       func(int) bool { return random.IntN(2000) == 0 },
		"some at the end":        func(row int) bool { return row >= rows-3000 && row%3 == 0 },
		"dense, then sparse":     func(row int) bool { return row < rows/2 || row%40 == 0 },
		"sparse, then dense":     func(row int) bool { return row > rows/2 || row%64 == 0 },
		"sparse everywhere":      func(int) bool { return random.IntN(10) == 0 },
		"sparse at two levels": func(row int) bool {
			return random.IntN(3+row/(rows/2)*30) == 0
		},
		"a third, evenly scattered": func(row int) bool { return row%3 == 0 },
	} {
		values, sorted := make([]float64, rows), []float64(nil)
		for row := range values {
			if values[row] = math.NaN(); present(row) {
				values[row] = random.NormFloat64() + float64(row)/rows
				sorted = append(sorted, values[row])
			}
		}
		o := newColumnStatistics(Float64, rows)
		for at := 0; at < rows; at += 2500 {
			o.add(bytesOf(values[at : at+2500]))
		}
		s := o.result()
		if s.Count != int64(len(sorted)) {
			t.Errorf("%s: %d values, want %d", name, s.Count, len(sorted))
		}
		slices.Sort(sorted)
		for _, q := range quantiles {
			rank, _ := slices.BinarySearch(sorted,
				*s.Quantiles[strconv.FormatFloat(q, 'g', -1, 64)])
			if off := math.Abs(float64(rank)/float64(len(sorted)) - q); off > 0.055 {
				t.Errorf("%s: quantile %v has rank %v", name, q,
					float64(rank)/float64(len(sorted)))
			}
		}
		if len(o.rare) > 2*rareLimit {
			t.Errorf("%s: %d rare values are stored", name, len(o.rare))
		}
	}
}

// TestWeightsOfRareValuesSumToTheirCount adds blocks with so few present values that less than one
// per block is sampled. The weights of the sample must add up to the number of present values.
func TestWeightsOfRareValuesSumToTheirCount(t *testing.T) {
	const blocks, size, present = 2000, 64, 3
	o := newColumnStatistics(Float64, blocks*size)
	block := slices.Repeat([]float64{math.NaN()}, size)
	block[3], block[30], block[50] = 1, 2, 3
	for range blocks {
		o.add(bytesOf(block))
	}
	sum := 0.0
	for _, w := range o.rare {
		sum += w.weight
	}
	if math.Abs(sum/(blocks*present)-1) > 0.03 { // the standard deviation is 0.01
		t.Errorf("the weights sum to %v, want %d", sum, blocks*present)
	}
}

func TestColumnsWithInfinitiesHaveNoMean(t *testing.T) {
	o := newColumnStatistics(Float32, 3)
	o.add(bytesOf([]float32{1, float32(math.Inf(1)), 2}))
	if s := o.result(); s.Count != 3 || *s.Min != 1 || s.Max != nil || s.Mean != nil ||
		s.Std != nil {
		t.Errorf("%+v", s)
	}
}

func TestIntegersHaveStatistics(t *testing.T) {
	o := newColumnStatistics(Uint8, 5)
	o.add(bytesOf([]uint8{1, 2, 3, 250, 4}))
	if s := o.result(); *s.Min != 1 || *s.Max != 250 || *s.Mean != 52 {
		t.Errorf("min %v, max %v, mean %v", *s.Min, *s.Max, *s.Mean)
	}
}

func BenchmarkChecksum(b *testing.B) {
	values := make([]float64, 1<<22)
	random := rand.New(rand.NewPCG(3, 4))
	for i := range values {
		values[i] = random.NormFloat64()
	}
	data := bytesOf(values)
	b.Run("alone", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			xxhash.Sum64(data)
		}
	})
	b.Run("statistics", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			a := &accumulator{width: 8, stride: 8, data: data,
				statistics: newColumnStatistics(Float64, int64(len(values)))}
			a.finish(int64(len(values)))
		}
	})
}
