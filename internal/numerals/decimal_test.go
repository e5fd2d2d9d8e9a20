package numerals

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/tensorcache/tensorcache/internal/testseed"
)

// mantissa draws an integer of any length. In half of the cases it is halfway between two float64
// values, or next to that.
func mantissa(r *rand.Rand) uint64 {
	m := r.Uint64() >> r.IntN(64)
	if r.IntN(2) == 0 {
		v := float64(m)
		m = uint64(v)/2 + uint64(math.Nextafter(v, math.Inf(1)))/2 + uint64(r.IntN(3)) - 1
	}
	return m
}

func TestDecimalsEqualParseFloat(t *testing.T) {
	r := rand.New(rand.NewPCG(testseed.Seed(), 0))
	for range 300_000 {
		m, exponent := mantissa(r), r.IntN(60)-30
		got, ok := Decimal(m, exponent)
		want, err := strconv.ParseFloat(strconv.FormatUint(m, 10)+"e"+strconv.Itoa(exponent), 64)
		if err != nil {
			t.Fatal(err)
		}
		if ok && math.Float64bits(got) != math.Float64bits(want) {
			t.Fatalf("%de%d is %v, want %v", m, exponent, got, want)
		}
		if !ok && -28 < exponent && exponent <= 0 {
			t.Fatalf("%de%d is not tried", m, exponent)
		}
	}
}
