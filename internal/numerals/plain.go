package numerals

import "math"

// Float parses a decimal number of up to 19 digits at buf[i], if one multiplication or division
// gives its exact value (see [Decimal]). point is the decimal mark, which digits follow. ok is
// false for any other text. buf[end] follows the number; the buffer ends with a line feed.
func Float(buf []byte, i int, point byte) (v float64, end int, ok bool) {
	sign := 0 // an integer, to avoid a branch
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
		if exponent = begin - i; exponent == 0 {
			return 0, i, false
		}
		digits -= exponent
	}
	if digits == 0 || digits > 19 {
		return 0, i, false
	}
	if buf[i]|0x20 == 'e' {
		e, next, ok := exponentAt(buf, i+1)
		if !ok {
			return 0, i, false
		}
		exponent, i = exponent+e, next
	}
	v, ok = Decimal(mantissa, exponent)
	return math.Float64frombits(math.Float64bits(v) | uint64(sign)<<63), i, ok
}

// exponentAt parses the exponent at buf[i], of up to three digits and leading zeros.
func exponentAt(buf []byte, i int) (e, end int, ok bool) {
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

// Int parses an integer of up to 19 digits at buf[i].
func Int(buf []byte, i int) (v int64, end int, ok bool) {
	negative := buf[i] == '-'
	if negative {
		i++
	}
	begin := i
	var u uint64 // 19 digits do not overflow it
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
