package column

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestDecimalsAsIntegersAndTexts compares decimals with rational numbers.
func TestDecimalsAsIntegersAndTexts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		digits := rapid.StringMatching(`-?[1-9][0-9]{0,37}0{0,20}|0`).Draw(t, "unscaled")
		scale := rapid.Int32Range(-80, 80).Draw(t, "scale")
		unscaled, _ := new(big.Int).SetString(digits, 10)
		want, _ := new(big.Rat).SetString(fmt.Sprintf("%se%d", digits, -scale))
		if got, ok := DecimalInteger(unscaled, scale); ok != (want.IsInt() && want.Num().IsInt64()) ||
			ok && want.Num().Int64() != got {
			t.Errorf("%d, %v, want %v", got, ok, want)
		}
		text := DecimalText(unscaled, scale)
		_, decimals, _ := strings.Cut(text, ".")
		if got, _ := new(big.Rat).SetString(text); got.Cmp(want) != 0 ||
			max(scale, -scale) <= mostDigits && len(decimals) != int(max(0, scale)) {
			t.Errorf("%s, want %v", text, want)
		}
		complement := new(big.Int).Set(unscaled)
		if unscaled.Sign() < 0 {
			complement.Add(complement, new(big.Int).Lsh(big.NewInt(1), 192))
		}
		var back big.Int
		if SetUnscaled(&back, complement.FillBytes(make([]byte, 24))); back.Cmp(unscaled) != 0 {
			t.Errorf("%v, want %v", &back, unscaled)
		}
	})
}
