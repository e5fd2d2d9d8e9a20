package layout

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// exactFloats is up to where every whole number is a float64.
const exactFloats = 1 << 53

// Literal is a number as a recipe says it: a float64, or a whole number of 64 bits, signed or not, that no float64 is. In JSON it is
// a number, whole ones with all their digits up to 2^64; null is NaN. Digits alone are that whole number; with a decimal point or an
// exponent they are the nearest float64. Literals are comparable, and the zero value is 0.
type Literal struct {
	Float float64 // the nearest
	Whole uint64  // the number itself where Float is not, in two's complement; else 0
}

// LiteralOf is a number that a float64 is.
func LiteralOf(v float64) Literal { return Literal{Float: v} }

// ParseLiteral reads a number. The error is strconv's; what is no finite number is refused.
func ParseLiteral(text string) (Literal, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err == nil && v-v != 0 {
		err = strconv.ErrRange
	}
	if err != nil || math.Abs(v) < exactFloats || strings.Trim(text, "+-0123456789") != "" {
		return Literal{Float: v}, err
	}
	n, ok := new(big.Int).SetString(text, 10)
	switch {
	case !ok || LiteralOf(v).whole().Cmp(n) == 0:
	case n.IsUint64():
		return Literal{v, n.Uint64()}, nil
	case n.IsInt64():
		return Literal{v, uint64(n.Int64())}, nil
	}
	return Literal{Float: v}, nil
}

// Int64 is the number as int64, Uint64 as uint64, without its fraction; ok is false where that does not hold it.
func (n Literal) Int64() (v int64, ok bool) {
	if n.Whole != 0 {
		return int64(n.Whole), n.Float < 0 || n.Whole <= math.MaxInt64
	}
	if ok = n.Float >= -0x1p63 && n.Float < 0x1p63; ok {
		v = int64(n.Float)
	}
	return v, ok
}

// Uint64 is the number as uint64.
func (n Literal) Uint64() (v uint64, ok bool) {
	if n.Whole != 0 {
		return n.Whole, n.Float > 0
	}
	if ok = n.Float >= 0 && n.Float < 0x1p64; ok {
		v = uint64(n.Float)
	}
	return v, ok
}

// IsFloat tells whether the number is a float64, or written with the digits by which other programs mean one: 2^60 is
// 1152921504606847000 in JavaScript.
func (n Literal) IsFloat() bool {
	return n.Whole == 0 || n.String() == strconv.FormatFloat(n.Float, 'f', -1, 64)
}

// Cmp is -1, 0 or 1 where the number is below, at or above another.
func (n Literal) Cmp(other Literal) int {
	switch {
	case n.Float < other.Float:
		return -1
	case n.Float > other.Float:
		return 1
	case n.Whole == other.Whole:
		return 0
	}
	return n.whole().Cmp(other.whole())
}

// whole is the number without its fraction.
func (n Literal) whole() *big.Int {
	switch {
	case n.Whole == 0:
		v, _ := big.NewFloat(n.Float).Int(nil)
		return v
	case n.Float < 0:
		return big.NewInt(int64(n.Whole))
	}
	return new(big.Int).SetUint64(n.Whole)
}

// String is the number with all digits of a whole one up to 2^64.
func (n Literal) String() string {
	switch v := n.Float; {
	case n.Whole != 0:
		return n.whole().String()
	case math.Abs(v) < 0x1p64 && v == math.Trunc(v):
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return fmt.Sprint(n.Float)
}

// MarshalJSON writes the number, null for NaN and infinities.
func (n Literal) MarshalJSON() ([]byte, error) {
	switch v := n.Float; {
	case v-v != 0:
		return []byte("null"), nil
	case n.Whole != 0 || math.Abs(v) >= exactFloats && math.Abs(v) < 0x1p64:
		return []byte(n.String()), nil
	}
	return json.Marshal(n.Float)
}

// UnmarshalJSON reads a number, and null as NaN.
func (n *Literal) UnmarshalJSON(b []byte) error {
	if b = bytes.TrimSpace(b); string(b) == "null" {
		*n = Literal{Float: math.NaN()}
		return nil
	}
	var v float64
	if err := json.Unmarshal(b, &v); err != nil { // which says what it is instead
		return err
	}
	var err error
	*n, err = ParseLiteral(string(b))
	return err
}

// Literals are numbers of which some may be NaN.
type Literals []Literal

// LiteralsOf are numbers that float64s are.
func LiteralsOf(values []float64) Literals {
	out := make(Literals, len(values))
	for i, v := range values {
		out[i].Float = v
	}
	return out
}

// Floats are the nearest float64s.
func (n Literals) Floats() []float64 {
	out := make([]float64, len(n))
	for i, v := range n {
		out[i] = v.Float
	}
	return out
}
