package option

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/layout"
)

// StaysWhole reports whether a column of integers or booleans has steps whose results are such
// values too.
func (o Options) StaysWhole(c column.Column, role layout.Role) bool {
	steps := o.StepsOf(c, role)
	return len(steps) > 0 && steps.KeepsIntegers() &&
		(c.Kind.IsInteger() || c.Kind == column.KindBool)
}

// CheckNumbers refuses numbers of steps that are too large for a column of integers. The error is a
// [loaderr.OptionError].
func (s Steps) CheckNumbers(columnName string) error {
	for _, s := range s {
		numbers := s.Traits().Numbers
		if i := column.FirstInexact(numbers); i >= 0 {
			return &loaderr.OptionError{
				Field: s.Name(), Value: strconv.FormatFloat(numbers[i], 'f', 0, 64),
				Bare: true,
				Allowed: fmt.Sprintf("an integer between -2^53 and 2^53 for column %q of integers",
					columnName),
				Hint: fmt.Sprintf("choose a smaller number, or leave column %q out of %s",
					columnName, s.Name()),
			}
		}
	}
	return nil
}

// ErrRounded is returned by [ParseNumber] for an integer that float64 rounds. The message names the
// nearest float64.
var ErrRounded = errors.New("want a number that float64 represents exactly")

// ParseNumber parses a finite number of an option. The error wraps [ErrRounded], or is that of
// strconv.
func ParseNumber(text string) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err == nil && v-v != 0 {
		err = strconv.ErrRange
	}
	if err != nil || math.Abs(v) < column.ExactIntegers ||
		strings.Trim(text, "+-0123456789") != "" {
		return v, err
	}
	exact, _ := new(big.Int).SetString(text, 10)
	near, _ := big.NewFloat(v).Int(nil)
	// the latter as JavaScript writes a float
	if exact.Cmp(near) != 0 && text != strconv.FormatFloat(v, 'f', -1, 64) {
		return v, fmt.Errorf("got %s, %w: the nearest is %s", text, ErrRounded, near)
	}
	return v, nil
}

// jsonNumber is a float64 whose JSON is read by [ParseNumber].
type jsonNumber float64

// UnmarshalJSON reads a number. The caller must refuse null.
func (n *jsonNumber) UnmarshalJSON(b []byte) error {
	if err := json.Unmarshal(b, (*float64)(n)); err != nil || string(b) == "null" {
		return err
	}
	_, err := ParseNumber(string(b))
	return err
}
