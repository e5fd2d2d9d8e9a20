package ingest

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/moments"
	"github.com/tensorcache/tensorcache/layout"
)

// Tiles that come whole are known, and the others are read: together they are what the column comes to.
func TestTilesAreMeasuredAsTheyAreDecodedOrWhereTheyLie(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1))
		rows := int64(1 + random.IntN(4*stepTile))
		values := make([]float64, rows)
		for i := range values {
			if values[i] = random.NormFloat64(); random.IntN(1000) == 0 {
				values[i] = math.NaN()
			}
		}
		n := (rows + stepTile - 1) / stepTile
		m := newTileMoments(rows)
		whole := make([]bool, n) // tiles that one worker decodes from beginning to end
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
				whole[tile] = whole[tile] || chunks[i] <= tile*stepTile && min(rows, (tile+1)*stepTile) <= chunks[i+1]
			}
		}
		if !slices.Equal(m.known, whole) {
			r.Fatalf("known are %v, whole %v", m.known, whole)
		}
		var got, want moments.Moments
		from := layout.Strided[float64]{Data: values, Step: 1, Width: 1, Rows: rows}
		for m, sum := range map[*tileMoments]*moments.Moments{m: &got, nil: &want} {
			if err := eachTile(context.Background(), m, from, func(_, _ int64, tile moments.Moments) { *sum = sum.Join(tile) }); err != nil {
				r.Fatal(err)
			}
		}
		if got != want {
			r.Fatalf("%+v, want %+v", got, want)
		}
	})
}

// Scaled values and what they were fitted to are the same to the last bit, however a file cuts its rows and where they come from.
func TestScaledValuesDoNotDependOnRowGroups(t *testing.T) {
	type record struct {
		A float64 `parquet:"a,plain"`
		B float64 `parquet:"b,plain"`
	}
	random := rand.New(rand.NewPCG(3, 4))
	records := make([]record, 3*stepTile+777)
	var text strings.Builder
	text.WriteString("a,b\n")
	for i := range records {
		records[i] = record{random.NormFloat64()*3 + 1e6, random.ExpFloat64()}
		if i%7000 == 6999 {
			records[i].B = column.NaN
		}
		fmt.Fprintf(&text, "%v,%v\n", records[i].A, records[i].B)
	}
	sources := []string{loadtest.File(t, "x.csv", text.String())}
	for _, rows := range []int64{int64(len(records)), stepTile, 20_000, 5_000} {
		var b bytes.Buffer
		w := parquet.NewGenericWriter[record](&b, parquet.MaxRowsPerRowGroup(rows), parquet.DataPageVersion(1))
		if _, err := w.Write(records); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		sources = append(sources, loadtest.File(t, fmt.Sprintf("%d.parquet", rows), b.String()))
	}
	for _, o := range []option.Options{{Fill: option.All(option.Fill{How: option.FillMean})}, {}} {
		o.Scale, o.DType = option.All(option.ScaleStandard), option.Floats("float64")
		var want loaded
		for i, s := range sources {
			o.Sources = []string{s}
			got := mustLoad(t, o)
			defer got.Close()
			if i == 0 {
				want = got
				continue
			}
			for _, name := range []string{"a", "b"} {
				g, _ := got.Manifest.Column(name)
				w, _ := want.Manifest.Column(name)
				if g.XXH64 != w.XXH64 || !reflect.DeepEqual(g.Scale, w.Scale) || !reflect.DeepEqual(g.Statistics, w.Statistics) {
					t.Errorf("%s, column %s: %s, %+v and %+v; want %s, %+v and %+v", s, name, g.XXH64, g.Scale, g.Statistics, w.XXH64, w.Scale, w.Statistics)
				}
			}
		}
	}
}
