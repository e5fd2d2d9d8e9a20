package column

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"strconv"
	"sync"

	"github.com/tensorcache/tensorcache/internal/numerals"
)

// Decimal returns the float64 that is nearest to unscaled · 10^-scale.
func Decimal(unscaled int64, scale int32) float64 {
	if v, ok := numerals.Decimal(uint64(max(unscaled, -unscaled)), -int(scale)); ok &&
		unscaled < 0 {
		return -v
	} else if ok {
		return v
	}
	return parseDecimal(strconv.FormatInt(unscaled, 10), scale)
}

// BigDecimal is [Decimal] for integers of any size.
func BigDecimal(unscaled *big.Int, scale int32) float64 {
	if unscaled.IsInt64() {
		return Decimal(unscaled.Int64(), scale)
	}
	return parseDecimal(unscaled.String(), scale)
}

// parseDecimal returns the nearest float64, an infinity outside the range.
func parseDecimal(digits string, scale int32) float64 {
	v, _ := strconv.ParseFloat(digits+"e"+strconv.FormatInt(-int64(scale), 10), 64)
	return v
}

// DecimalOf is [Decimal] for an unscaled integer in big-endian two's complement, as in Parquet.
func DecimalOf(b []byte, scale int32) float64 {
	negative := len(b) > 0 && b[0] >= 0x80
	if len(b) <= 8 {
		var word [8]byte
		for i := range word {
			if negative {
				word[i] = 0xff
			}
		}
		copy(word[8-len(b):], b)
		return Decimal(int64(binary.BigEndian.Uint64(word[:])), scale)
	}
	v := new(big.Int)
	SetUnscaled(v, b)
	return BigDecimal(v, scale)
}

// SetUnscaled sets v to an integer in big-endian two's complement.
func SetUnscaled(v *big.Int, b []byte) {
	if v.SetBytes(b); len(b) > 0 && b[0] >= 0x80 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
}

// mostDigits is the largest number of digits of a decimal, those of Arrow's decimal256.
const mostDigits = 76

// powers returns the powers of ten up to the largest decimal.
var powers = sync.OnceValue(func() []*big.Int {
	p := make([]*big.Int, mostDigits+1)
	for i := range p {
		p[i] = new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(i)), nil)
	}
	return p
})

// DecimalInteger returns unscaled · 10^-scale. If that is not an integer of int64, ok is false and v
// undefined.
func DecimalInteger(unscaled *big.Int, scale int32) (v int64, ok bool) {
	switch {
	case scale == 0 || unscaled.Sign() == 0:
		return unscaled.Int64(), unscaled.IsInt64()
	case scale > mostDigits || scale < -mostDigits:
		return 0, false
	case scale < 0:
		product := new(big.Int).Mul(unscaled, powers()[-scale])
		return product.Int64(), product.IsInt64()
	}
	if power := powers()[scale]; unscaled.IsInt64() && power.IsInt64() {
		return unscaled.Int64() / power.Int64(), unscaled.Int64()%power.Int64() == 0
	}
	whole, rest := new(big.Int).QuoRem(unscaled, powers()[scale], new(big.Int))
	return whole.Int64(), rest.Sign() == 0 && whole.IsInt64()
}

// DecimalText returns unscaled · 10^-scale as text, with all its digits.
func DecimalText(unscaled *big.Int, scale int32) string {
	switch {
	case scale > mostDigits || scale < -mostDigits:
		return fmt.Sprintf("%de%d", unscaled, -int64(scale))
	case scale < 0:
		return new(big.Int).Mul(unscaled, powers()[-scale]).String()
	}
	return new(big.Rat).SetFrac(unscaled, powers()[scale]).FloatString(int(scale))
}
