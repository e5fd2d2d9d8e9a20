package numerals

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/textvalue"
	_ "github.com/tensorcache/tensorcache/internal/testseed" // for rapid
)

// TestFloatsEqualParseFloat compares Float and textvalue.ParseFloat with strconv.ParseFloat. Float
// may leave a number to the other parser.
func TestFloatsEqualParseFloat(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		text := loadtest.Number.Draw(r, "text")
		want, err := strconv.ParseFloat(text, 64)
		buf := []byte(text + "\n")
		if v, end, ok := Float(buf, 0, '.'); ok && end == len(text) &&
			(err != nil || math.Float64bits(v) != math.Float64bits(want)) {
			r.Fatalf("%q fast is %v, want %v, %v", text, v, want, err)
		}
		if v, ok := textvalue.ParseFloat([]byte(text)); ok != (err == nil) || ok &&
			math.Float64bits(v) != math.Float64bits(want) {
			r.Fatalf("%q is %v %v, want %v, %v", text, v, ok, want, err)
		}
	})
	for _, text := range []string{"0x1p-2", "1_000", "nan", "", "+", ".", "e5", "1e",
		"--1", "1 2"} {
		if v, ok := textvalue.ParseFloat([]byte(text)); ok {
			t.Errorf("%q is %v", text, v)
		}
	}
}

func TestFloatsWithADecimalCommaEqualParseFloat(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		text := loadtest.Number.Draw(r, "text")
		want, err := strconv.ParseFloat(text, 64)
		comma := strings.Replace(text, ".", ",", 1)
		if v, end, ok := Float([]byte(comma+"\n"), 0, ','); ok && end == len(text) &&
			(err != nil || v != want) {
			r.Fatalf("%q fast is %v, want %v, %v", comma, v, want, err)
		}
	})
}
