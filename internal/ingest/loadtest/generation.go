package loadtest

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"testing"

	"github.com/tensorcache/tensorcache/layout"
)

// Loaded is a generation that a test has loaded, and the test.
type Loaded struct {
	*testing.T
	*layout.Data
}

// OpenDir opens the generation in dir and closes it when the test ends. It fails the test if the
// directory contains a subdirectory, which a load has not removed, or if the checksums do not
// match.
func OpenDir(t *testing.T, dir string) Loaded {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() {
			t.Errorf("%s was left behind", e.Name())
		}
	}
	d, err := layout.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	if err := d.Verify(); err != nil { // the load computes checksums while it writes the values
		t.Error(err)
	}
	return Loaded{t, d}
}

// Values returns all values of a column, row after row.
func Values[T layout.Native](l Loaded, name string) []T {
	l.Helper()
	c, err := l.Manifest.Column(name)
	if err != nil {
		l.Fatal(err)
	}
	v, err := layout.View[T](l.Data, c)
	if err != nil {
		l.Fatal(err)
	}
	var out []T
	for row := range v.Rows {
		out = append(out, v.Row(row)...)
	}
	return out
}

// Texts returns the Values of a column as texts, in the format of testdata/make.py: the texts of a
// text column, [FloatText] of floats and decimal integers otherwise.
func Texts(l Loaded, name string) []string {
	l.Helper()
	c, err := l.Manifest.Column(name)
	if err != nil {
		l.Fatal(err)
	}
	var out []string
	switch c.DType.Plain() {
	case layout.Float16:
		for _, v := range Values[layout.Half](l, name) {
			out = append(out, FloatText(float64(v.Float32())))
		}
	case layout.Float32:
		for _, v := range Values[float32](l, name) {
			out = append(out, FloatText(float64(v)))
		}
	case layout.Float64:
		for _, v := range Values[float64](l, name) {
			out = append(out, FloatText(v))
		}
	case layout.Int8:
		return IntegerTexts[int8](l, name)
	case layout.Int16:
		return IntegerTexts[int16](l, name)
	case layout.Int32:
		if c.DType == layout.Int32 {
			return IntegerTexts[int32](l, name)
		}
		for _, v := range Values[int32](l, name) {
			w, err := l.Word(name, int64(v))
			if err != nil {
				l.Fatal(err)
			}
			out = append(out, w)
		}
	case layout.Int64:
		return IntegerTexts[int64](l, name)
	case layout.Uint8, layout.Bool:
		return IntegerTexts[uint8](l, name)
	case layout.Uint16:
		return IntegerTexts[uint16](l, name)
	case layout.Uint32:
		return IntegerTexts[uint32](l, name)
	case layout.Uint64:
		return IntegerTexts[uint64](l, name)
	}
	return out
}

// IntegerTexts returns the Values of a column as fmt.Sprint formats them.
func IntegerTexts[
	T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64,
](l Loaded, name string) (out []string) {
	l.Helper()
	for _, v := range Values[T](l, name) {
		out = append(out, fmt.Sprint(v))
	}
	return out
}

// FloatText returns "nan" for NaN, and otherwise the bits of v in hexadecimal, so that equal texts
// mean equal bits.
func FloatText(v float64) string {
	if v != v {
		return "nan"
	}
	return strconv.FormatUint(math.Float64bits(v), 16)
}
