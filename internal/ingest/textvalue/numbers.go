package textvalue

import (
	"math"
	"strconv"
	"unsafe"
)

// IsMissing reports whether a cell is a missing value.
func IsMissing(b []byte) bool {
	switch string(b) {
	case "", "NA", "NaN", "nan", "null", "None":
		return true
	}
	return false
}

// ParseBool parses a boolean. ok is false for other text.
func ParseBool(b []byte) (v, ok bool) {
	switch string(b) {
	case "true", "True", "TRUE":
		return true, true
	case "false", "False", "FALSE":
		return false, true
	}
	return false, false
}

// ParseFloat parses a cell as strconv.ParseFloat does, but only decimal numbers and infinities: no
// hexadecimals, no underscores, no nan. A number outside the range of float64 is an infinity with
// ok false.
func ParseFloat(b []byte) (v float64, ok bool) {
	if len(b) == 0 || len(b) > 1<<10 {
		return 0, false
	}
	for _, c := range b {
		if c == '_' || c == 'x' || c == 'X' || c == 'p' || c == 'P' {
			return 0, false
		}
	}
	v, err := strconv.ParseFloat(unsafe.String(&b[0], len(b)), 64)
	return v, err == nil && !math.IsNaN(v)
}

// ParseInt parses a cell as strconv.ParseInt does in base 10.
func ParseInt(b []byte) (v int64, ok bool) {
	if len(b) == 0 || len(b) > 64 {
		return 0, false
	}
	v, err := strconv.ParseInt(unsafe.String(&b[0], len(b)), 10, 64)
	return v, err == nil
}

// ParseCanonical parses an integer in the form that strconv.FormatInt writes, so that different
// texts are different integers.
func ParseCanonical(b []byte) (v int64, ok bool) {
	switch {
	case len(b) == 0 || len(b) > 20 || b[0] == '+' || b[0] == '0' && len(b) > 1,
		b[0] == '-' && (len(b) == 1 || b[1] == '0'):
		return 0, false
	}
	return ParseInt(b)
}
