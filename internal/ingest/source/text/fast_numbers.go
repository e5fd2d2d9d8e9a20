package text

import (
	"math"

	"github.com/tensorcache/tensorcache/internal/numerals"
)

// fastFloat reads a decimal, with point as its sign, of up to 19 digits at buf[i] whose value one multiplication or division gives (see
// [numerals.Decimal]). ok is false for whatever is not of that kind. buf[end] is what comes after it; the buffer ends with a line feed.
func fastFloat(buf []byte, i int, point byte) (v float64, end int, ok bool) {
	sign := 0 // a number, so that no branch depends on it
	if buf[i] == '-' {
		sign = 1
	}
	i += sign
	var mantissa uint64
	begin := i
	for ; ; i++ {
		d := buf[i] - '0'
		if d > 9 {
			break
		}
		mantissa = mantissa*10 + uint64(d)
	}
	digits, exponent := i-begin, 0
	if buf[i] == point {
		i++
		begin = i
		for ; ; i++ {
			d := buf[i] - '0'
			if d > 9 {
				break
			}
			mantissa = mantissa*10 + uint64(d)
		}
		exponent = begin - i
		digits -= exponent
	}
	if digits == 0 || digits > 19 {
		return 0, i, false
	}
	if buf[i]|0x20 == 'e' {
		e, next, ok := fastExponent(buf, i+1)
		if !ok {
			return 0, i, false
		}
		exponent, i = exponent+e, next
	}
	v, ok = numerals.Decimal(mantissa, exponent)
	return math.Float64frombits(math.Float64bits(v) | uint64(sign)<<63), i, ok
}

func fastExponent(buf []byte, i int) (e, end int, ok bool) {
	negative := buf[i] == '-'
	if negative || buf[i] == '+' {
		i++
	}
	begin := i
	for ; ; i++ {
		d := buf[i] - '0'
		if d > 9 {
			break
		}
		e = e*10 + int(d)
		if e > 999 {
			return 0, i, false
		}
	}
	if negative {
		e = -e
	}
	return e, i, i > begin
}

// fastInt reads an integer of up to 19 digits at buf[i].
func fastInt(buf []byte, i int) (v int64, end int, ok bool) {
	negative := buf[i] == '-'
	if negative {
		i++
	}
	begin := i
	var u uint64 // which 19 digits do not overflow
	for ; ; i++ {
		d := buf[i] - '0'
		if d > 9 {
			break
		}
		u = u*10 + uint64(d)
	}
	ok = i > begin && i-begin <= 19 && u <= math.MaxInt64
	if v = int64(u); negative {
		v = -v
	}
	return v, i, ok
}
