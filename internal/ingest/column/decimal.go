package column

import (
	"encoding/binary"
	"math/big"
	"strconv"

	"github.com/tensorcache/tensorcache/internal/numerals"
)

// Decimal is unscaled · 10^-scale as the nearest float64.
func Decimal(unscaled int64, scale int32) float64 {
	if v, ok := numerals.Decimal(uint64(max(unscaled, -unscaled)), -int(scale)); ok && unscaled < 0 {
		return -v
	} else if ok {
		return v
	}
	return parseDecimal(strconv.FormatInt(unscaled, 10), scale)
}

// BigDecimal is decimal for integers of any size.
func BigDecimal(unscaled *big.Int, scale int32) float64 {
	if unscaled.IsInt64() {
		return Decimal(unscaled.Int64(), scale)
	}
	return parseDecimal(unscaled.String(), scale)
}

func parseDecimal(digits string, scale int32) float64 {
	v, _ := strconv.ParseFloat(digits+"e"+strconv.FormatInt(-int64(scale), 10), 64) // beyond float64 it is an infinity
	return v
}

// DecimalOf is the decimal whose unscaled integer stands in big-endian two's complement, as Parquet has it.
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
	v := new(big.Int).SetBytes(b)
	if negative {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return BigDecimal(v, scale)
}
