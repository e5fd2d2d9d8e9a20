package moments

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// floats draws at most `most` values of a column, some of them missing or infinite.
func floats(r *rapid.T, most int) []float64 {
	base := rapid.SampledFrom([]float64{0, -7, 1e6}).Draw(r, "base")
	values := rapid.SliceOfN(rapid.OneOf(rapid.Float64Range(-50, 50), rapid.Just(math.NaN()),
		rapid.Just(3.0), rapid.Just(math.Copysign(0, -1))), 0, most).Draw(r, "values")
	for i := range values {
		values[i] += base
	}
	if len(values) > 0 && rapid.IntRange(0, 9).Draw(r, "infinite") == 0 {
		values[rapid.IntRange(0, len(values)-1).Draw(r, "at")] = math.Inf(1)
	}
	return values
}

func TestMomentsEqualANaiveComputation(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		values := floats(r, 60)
		var n, sum, squares float64
		least, greatest := math.Inf(1), math.Inf(-1)
		for _, v := range values {
			if v == v {
				n, sum, least, greatest = n+1, sum+v, min(least, v), max(greatest, v)
			}
		}
		for _, v := range values {
			if v == v {
				squares += (v - sum/n) * (v - sum/n)
			}
		}
		cut := rapid.IntRange(0, len(values)).Draw(r, "cut")
		var m Moments
		missing := Add(&m, values[:cut]) + Add(&m, values[cut:])
		if m.N != int64(n) || missing != int64(len(values))-m.N {
			r.Fatalf("%d values and %d missing of %d, want %v", m.N, missing, len(values), n)
		}
		if n == 0 {
			return
		}
		if m.Least != least || m.Greatest != greatest ||
			math.IsInf(greatest, 1) != !finite(m.Mean) {
			r.Fatalf("%+v, want %v to %v", m, least, greatest)
		}
		if finite(greatest) && (math.Abs(m.Mean-sum/n) > 1e-14*(1+math.Abs(sum/n))*n ||
			math.Abs(m.Std()-math.Sqrt(squares/n)) > 1e-8) {
			r.Fatalf("mean %v, std %v, want %v and %v", m.Mean, m.Std(), sum/n,
				math.Sqrt(squares/n))
		}
	})
}

func finite(v float64) bool { return v-v == 0 }

// same reports whether two slices have equal bits. Any NaN equals any other.
func same(a, b []float64) bool {
	for i := range a {
		if a[i] != b[i] && (a[i] == a[i] || b[i] == b[i]) ||
			math.Signbit(a[i]) != math.Signbit(b[i]) && a[i] == a[i] {
			return false
		}
	}
	return len(a) == len(b)
}

// TestEveryProcessorGivesTheSameMoments compares the results of vector instructions and of Go.
func TestEveryProcessorGivesTheSameMoments(t *testing.T) {
	if !vectors {
		t.Skip("this processor has no AVX2, so that only the Go code runs")
	}
	both := func(f func() Moments) (vector, scalar Moments) {
		vector = f()
		vectors = false
		defer func() { vectors = true }()
		return vector, f()
	}
	check := func(r *rapid.T, a, b Moments) {
		if a.N != b.N || !same([]float64{a.Mean, a.M2, a.Least, a.Greatest},
			[]float64{b.Mean, b.M2, b.Least, b.Greatest}) {
			r.Fatalf("vector instructions compute %+v, Go %+v", a, b)
		}
	}
	rapid.Check(t, func(r *rapid.T) {
		values := floats(r, 100)
		narrow, whole := make([]float32, len(values)), make([]int16, len(values))
		for i, v := range values {
			narrow[i], whole[i] = float32(v), int16(i*i-50)
		}
		a, b := both(func() (m Moments) { Add(&m, values); return m })
		check(r, a, b)
		a, b = both(func() (m Moments) { Add(&m, narrow); return m })
		check(r, a, b)
		a, b = both(func() (m Moments) { Add(&m, whole); return m })
		check(r, a, b)
	})
}

// TestScaledValuesEqualADivision compares Scale, which multiplies by the inverse and corrects the
// product, with a division.
func TestScaledValuesEqualADivision(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		values := floats(r, 60)
		shift := rapid.OneOf(rapid.Float64Range(-10, 10), rapid.SampledFrom([]float64{0, 3, 1e6})).
			Draw(r, "shift")
		scale := rapid.OneOf(rapid.Float64Range(1e-3, 1e3),
			rapid.SampledFrom([]float64{1, 3, math.Nextafter(2, 0), math.Nextafter(1, 2), 1e-310,
				1e300, 0x1p-400, 0x1p400})).Draw(r, "scale")
		for range rapid.IntRange(0, 3).Draw(r, "extremes") {
			values = append(values, rapid.Float64().Draw(r, "any"),
				rapid.SampledFrom([]float64{0, math.Copysign(0, -1), math.Nextafter(2, 0), 0x1p-401,
					0x1p401, 5e-324, math.MaxFloat64, math.Inf(-1)}).Draw(r, "extreme"))
		}
		want := make([]float64, len(values))
		for i, v := range values {
			want[i] = (v - shift) / scale
		}
		var all Moments
		if rapid.Bool().Draw(r, "known") {
			Add(&all, values)
		}
		scaling := NewScaling(shift, scale, all)
		to := make([]float64, len(values))
		if Scale(to, values, scaling); !same(to, want) {
			r.Fatalf("%v, want %v", to, want)
		}
		if Scale(values, values, scaling); !same(values, want) {
			r.Fatalf("in place: %v, want %v", values, want)
		}
	})
}

func BenchmarkAdd(b *testing.B) {
	values, narrow, whole := make([]float64, 4096), make([]float32, 4096), make([]int32, 4096)
	for i := range values {
		values[i], narrow[i], whole[i] = math.Sin(float64(i)),
			float32(math.Sin(float64(i))), int32(i)
	}
	report := func(b *testing.B) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/4096, "ns/value")
	}
	run := func(name string) {
		b.Run(name+"/float64", func(b *testing.B) {
			for b.Loop() {
				var m Moments
				Add(&m, values)
			}
			report(b)
		})
		b.Run(name+"/float32", func(b *testing.B) {
			for b.Loop() {
				var m Moments
				Add(&m, narrow)
			}
			report(b)
		})
		b.Run(name+"/int32", func(b *testing.B) {
			for b.Loop() {
				var m Moments
				Add(&m, whole)
			}
			report(b)
		})
		to := make([]float64, 4096)
		b.Run(name+"/scale", func(b *testing.B) {
			for b.Loop() {
				Scale(to, values, NewScaling(1, 3, Moments{}))
			}
			report(b)
		})
	}
	run("vectors")
	saved := vectors
	vectors = false
	run("plain")
	vectors = saved
}

// TestQuotientsByTheInverseEqualADivision compares quotients that are computed with the inverse
// with those of a division, to the last bit, also for significands that are hardest to round.
func TestQuotientsByTheInverseEqualADivision(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	significand := func() float64 { // in [1, 2)
		bits := random.Uint64() >> 12
		switch random.IntN(3) {
		case 0:
			bits = random.Uint64N(50)
		case 1:
			bits = 1<<52 - 1 - random.Uint64N(50)
		}
		return math.Float64frombits(1023<<52 | bits)
	}
	values, to := make([]float64, 4096), make([]float64, 4096)
	for range 200 {
		scale := math.Ldexp(significand(), random.IntN(80)-40)
		for i := range values {
			values[i] = math.Ldexp(significand()*float64(random.IntN(2)*2-1), random.IntN(80)-40)
		}
		var all Moments
		Add(&all, values)
		for _, s := range []Scaling{NewScaling(0, scale, all),
			NewScaling(math.Ldexp(significand(), random.IntN(80)-40), scale, all)} {
			Scale(to, values, s)
			for i, v := range values {
				if want := (v - s.shift) / scale; to[i] != want {
					t.Fatalf("(%x - %x) / %x is %x, want %x", v, s.shift, scale, to[i], want)
				}
			}
		}
	}
}
