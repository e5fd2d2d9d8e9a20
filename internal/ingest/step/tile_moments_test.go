package step

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tensorcache/tensorcache/internal/moments"
	"github.com/tensorcache/tensorcache/layout"
)

// TestTileMomentsOfDecodedAndReadTilesAreEqual decodes a column in chunks. The moments of a tile
// are known if one worker decoded all of it, and computed from the stored values otherwise. The
// joined moments must equal those computed from stored values only.
func TestTileMomentsOfDecodedAndReadTilesAreEqual(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1))
		rows := int64(1 + random.IntN(4*TileRows))
		values := make([]float64, rows)
		for i := range values {
			if values[i] = random.NormFloat64(); random.IntN(1000) == 0 {
				values[i] = math.NaN()
			}
		}
		n := (rows + TileRows - 1) / TileRows
		m := NewTileMoments(rows)
		wantKnown := make([]bool, n) // the tiles that one worker decodes completely
		chunks := []int64{0, rows}
		for range random.IntN(3) {
			chunks = append(chunks, random.Int64N(rows+1))
		}
		slices.Sort(chunks)
		for i := range chunks[1:] {
			w := m.Worker()
			for row := chunks[i]; row < chunks[i+1]; {
				end := min(chunks[i+1], row+1+random.Int64N(9000))
				w.Float64s(row, values[row:end])
				row = end
			}
			for tile := range n {
				wantKnown[tile] = wantKnown[tile] || chunks[i] <= tile*TileRows &&
					min(rows, (tile+1)*TileRows) <= chunks[i+1]
			}
		}
		if !slices.Equal(m.known, wantKnown) {
			r.Fatalf("known tiles %v, want %v", m.known, wantKnown)
		}
		var got, want moments.Moments
		from := strided[float64]{layout.Strided[float64]{Data: values, Step: 1,
			Width: 1, Rows: rows}}
		for m, sum := range map[*TileMoments]*moments.Moments{m: &got, nil: &want} {
			err := eachTile(context.Background(), m, from, func(_, _ int64, tile moments.Moments) {
				*sum = sum.Join(tile)
			})
			if err != nil {
				r.Fatal(err)
			}
		}
		if got != want {
			r.Fatalf("%+v, want %+v", got, want)
		}
	})
}
