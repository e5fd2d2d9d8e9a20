package moments

import (
	"testing"

	"pgregory.net/rapid"

	_ "github.com/tensorcache/tensorcache/internal/testseed" // for rapid
)

func TestABlockInPiecesHasTheMomentsOfTheWhole(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		values := floats(r, 100)
		narrow := make([]float32, len(values))
		for i, v := range values {
			narrow[i] = float32(v)
		}
		var wideBlock Block[float64]
		var narrowBlock Block[float32]
		for at := 0; at < len(values); {
			n := rapid.IntRange(0, len(values)-at).Draw(r, "piece")
			wideBlock.Add(values[at : at+n])
			narrowBlock.Add(narrow[at : at+n])
			at += n
		}
		check := func(got, want Moments) {
			if got.N != want.N || !same([]float64{got.Mean, got.M2, got.Least, got.Greatest},
				[]float64{want.Mean, want.M2, want.Least, want.Greatest}) {
				r.Fatalf("in pieces %+v, at once %+v", got, want)
			}
		}
		var want, want32 Moments
		Add(&want, values)
		Add(&want32, narrow)
		check(wideBlock.Moments(), want)
		check(narrowBlock.Moments(), want32)
	})
}
