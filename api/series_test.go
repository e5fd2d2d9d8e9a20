package api

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/tensorcache/tensorcache/internal/wire"
)

func (w *world) series(name, query string) (s wire.Series) {
	w.Helper()
	w.decode(w.do("GET", "/v1/datasets/"+name+"/series"+query, nil), 200, &s)
	return s
}

// featureValues returns the values of one feature.
func (s *shownDataset) featureValues(column string, lane int) []any {
	out := slices.Clone(s.values[column])
	for i, v := range out {
		switch v := v.(type) {
		case []any:
			out[i] = v[lane]
		case bool:
			out[i] = map[bool]float64{true: 1}[v]
		case string:
			if code := slices.Index(textWords, v); code >= 0 {
				out[i] = float64(code)
			}
		}
	}
	return out
}

// minMax compares all values one by one.
func minMax(values []any) (least, greatest any, missing int64) {
	number := func(v any) float64 {
		switch v {
		case "Infinity":
			return math.Inf(1)
		case "-Infinity":
			return math.Inf(-1)
		}
		return v.(float64)
	}
	for _, v := range values {
		if v == nil {
			missing++
			continue
		}
		if least == nil || number(v) < number(least) {
			least = v
		}
		if greatest == nil || number(v) > number(greatest) {
			greatest = v
		}
	}
	return least, greatest, missing
}

func TestASeriesKeepsLeastGreatestAndMissingOfEveryBucket(t *testing.T) {
	w := newWorld(t)
	r := rand.New(rand.NewPCG(5, 6))
	const columns = "f,w,b,s,i,w%5B2%5D"
	names := []string{"f", "w[0]", "w[1]", "w[2]", "b", "s", "i", "w[2]"}
	for _, layout := range []string{"columns", "packed"} {
		s := w.publishShown(layout, layout, 900, 1, 2500)
		values := [][]any{
			s.featureValues("f", 0),
			s.featureValues("w", 0),
			s.featureValues("w", 1),
			s.featureValues("w", 2),
			s.featureValues("b", 0),
			s.featureValues("s", 0),
			s.featureValues("i", 0),
			s.featureValues("w", 2),
		}
		for range 40 {
			item := r.IntN(3)
			n, offset := s.rows[item], s.itemOffset(item)
			from := r.Int64N(n + 1)
			to := from + r.Int64N(n-from+1)
			points := 1 + r.Int64N(400)
			got := w.series(layout, fmt.Sprintf("?item_code=%d&from=%d&to=%d&points=%d&columns=%s", item,
				from, to, points, columns))
			if got.Rows != n || got.From != from || got.To != to ||
				int64(len(got.Row)) != min(points, to-from) || got.Unit != "s" ||
				got.Item != s.items[item] {
				t.Fatalf("%d rows from %d to %d of %d in %d buckets; "+
					"want %d rows from %d to %d in %d", got.Rows, got.From, got.To, len(got.Row),
					len(got.Row), n, from, to, min(points, to-from))
			}
			for k, row := range got.Row {
				end := to
				if k+1 < len(got.Row) {
					end = got.Row[k+1]
				}
				if width := end - row; width < 1 || width > (to-from+points-1)/points || k == 0 &&
					row != from {
					t.Fatalf("bucket %d has rows %d to %d", k, row, end)
				}
				if got.Time[k] != s.times[offset+row] {
					t.Fatalf("bucket %d is at %d, want %d", k, got.Time[k], s.times[offset+row])
				}
				for j, f := range got.Series {
					least, greatest, missing := minMax(values[j][offset+row : offset+end])
					if f.Column != names[j] || !reflect.DeepEqual(f.Min[k], least) ||
						!reflect.DeepEqual(f.Max[k], greatest) || f.Missing[k] != missing {
						t.Fatalf("%s, rows %d to %d of item %d: %v to %v, %d missing; "+
							"want %v to %v, %d missing", f.Column, row, end, item, f.Min[k],
							f.Max[k], f.Missing[k], least, greatest, missing)
					}
				}
			}
		}
	}
}

// TestASeriesOfALongItemKeepsItsSpikes has an item that is long enough to be summarised.
func TestASeriesOfALongItemKeepsItsSpikes(t *testing.T) {
	w := newWorld(t)
	s := w.publishShown("d", "", summaryMinRows+777)
	values := s.featureValues("i", 0)
	for _, points := range []int{1, 3, 1000} {
		got := w.series("d", fmt.Sprintf("?points=%d&columns=i&from=5", points))
		for k, row := range got.Row {
			end := got.To
			if k+1 < len(got.Row) {
				end = got.Row[k+1]
			}
			if least, greatest, _ := minMax(values[row:end]); got.Series[0].Min[k] != least ||
				got.Series[0].Max[k] != greatest {
				t.Fatalf("rows %d to %d: %v to %v, want %v to %v", row, end, got.Series[0].Min[k],
					got.Series[0].Max[k], least, greatest)
			}
		}
	}
}

// TestASeriesOfATruncatedFileDoesNotEndTheDaemon has an item that all cores read to
// summarise it.
func TestASeriesOfATruncatedFileDoesNotEndTheDaemon(t *testing.T) {
	w := newWorld(t)
	w.publishShown("d", "", summaryMinRows)
	h, err := w.store.Acquire("d", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Release()
	c, err := h.Data.Manifest.Column("i")
	if err != nil {
		t.Fatal(err)
	}
	w.truncate("d", c.Offset+summaryMinRows/2*c.DType.Size())
	for range 2 {
		w.wantProblem(w.do("GET", "/v1/datasets/d/series?columns=i", nil), wire.Corrupt,
			"data.arrow: no byte ")
	}
}

func TestASeriesShowsNumbersUnlessToldOtherwise(t *testing.T) {
	w := newWorld(t)
	w.publishShown("d", "", 10)
	var names []string
	for _, f := range w.series("d", "").Series {
		names = append(names, f.Column)
	}
	if want := []string{"f", "g,1", "i", "b", "w[0]", "w[1]", "w[2]"}; !slices.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
	if job := w.load("plain",
		map[string]any{"sources": []string{w.source("a.csv",
			"v\n1\n2\n")}}); job.State != wire.JobDone {
		t.Fatalf("%+v", job.Error)
	}
	if s := w.series("plain", ""); s.Time != nil || s.Unit != "" || s.Item != nil ||
		fmt.Sprint(s.Series[0].Min) != "[1 2]" {
		t.Errorf("%+v", s)
	}
}
