package sampler_test

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"reflect"
	"testing"

	"github.com/tensorcache/tensorcache/sampler"
)

// update rewrites the vectors in testdata/vectors: `go test ./sampler -update`. New vectors must be
// compared with the oracle. Existing vectors never change: Go and Python have the same orders, and
// stored cursors depend on them.
var update = flag.Bool("update", false, "rewrite testdata/vectors")

const (
	shuffleVectors = "../testdata/vectors/shuffle.json"
	orderVectors   = "../testdata/vectors/orders.json"
	groupVectors   = "../testdata/vectors/cross_section.json"
)

// shuffled are the windows of some entries of a shuffled epoch.
type shuffled struct {
	N       int64   `json:"n"`
	Seed    uint64  `json:"seed"`
	Epoch   uint64  `json:"epoch"`
	Entries []int64 `json:"positions"`
	Windows []int64 `json:"windows"`
}

// compute sets the windows of v.
func (v *shuffled) compute(t *testing.T) {
	s, err := sampler.New(list{runs: []run{{0, v.N}}},
		sampler.Options{Order: "shuffle", Seed: v.Seed, BatchSize: 1})
	if err != nil {
		t.Fatal(err)
	}
	v.Windows = nil
	var b sampler.Batch
	for _, p := range v.Entries {
		if err := s.Batch(&b, v.Epoch, p); err != nil {
			t.Fatal(err)
		}
		v.Windows = append(v.Windows, b.Windows...)
	}
}

// shuffledCases returns the cases to store, without their windows.
func shuffledCases() (cases []shuffled) {
	for _, n := range []int64{1, 2, 3, 7, 16, 100, 4095, 4096, 16989, 1e9, 1 << 40} {
		for _, s := range []struct{ seed, epoch uint64 }{{0, 0}, {0, 1}, {42, 0},
			{1<<64 - 1, 1<<64 - 1}} {
			v := shuffled{N: n, Seed: s.seed, Epoch: s.epoch}
			for p := range min(n, 16) {
				v.Entries = append(v.Entries, p)
			}
			if n > 16 {
				v.Entries = append(v.Entries, n/2, n-1)
			}
			cases = append(cases, v)
		}
	}
	return cases
}

func TestStoredVectorsOfShuffle(t *testing.T) {
	checkVectors(t, shuffleVectors, shuffledCases(), 44, (*shuffled).compute)
}

// ordered has all batches of all ranks from a cursor to the end of an epoch.
type ordered struct {
	Runs     [][2]int64      `json:"runs"`            // item, windows
	Times    [][2]int64      `json:"times,omitempty"` // of a run: the first time, the step
	Options  sampler.Options `json:"options"`
	Epoch    uint64          `json:"epoch"`
	Consumed int64           `json:"consumed"`
	Total    int64           `json:"total"`
	Steps    []orderedStep   `json:"steps"`
}

// orderedStep is one step: a list of windows for each rank, and their resets in lanes.
type orderedStep struct {
	Next    int64     `json:"next"`
	Windows [][]int64 `json:"windows"`
	Reset   [][]bool  `json:"reset,omitempty"`
}

// compute sets the total and the steps of v.
func (v *ordered) compute(t *testing.T) {
	x := list{contiguous: true, times: v.Times}
	for _, r := range v.Runs {
		x.runs = append(x.runs, run{r[0], r[1]})
	}
	var ranks []*sampler.Sampler
	o := v.Options
	for o.Rank = range o.NumReplicas {
		s, err := sampler.New(x, o)
		if err != nil {
			t.Fatal(err)
		}
		ranks = append(ranks, s)
	}
	v.Total, v.Steps = ranks[0].Total(v.Epoch), nil
	for consumed := v.Consumed; ; {
		var st orderedStep
		for _, s := range ranks {
			var b sampler.Batch
			if err := s.Batch(&b, v.Epoch, consumed); errors.Is(err, sampler.ErrEpochEnd) {
				return
			} else if err != nil {
				t.Fatal(err)
			}
			st.Next = b.Next
			st.Windows = append(st.Windows, append([]int64{}, b.Windows...))
			if o.Order == "lanes" {
				st.Reset = append(st.Reset, append([]bool{}, b.Reset...))
			}
		}
		v.Steps = append(v.Steps, st)
		consumed = st.Next
	}
}

// orderedCases returns the cases to store, without their totals and steps.
func orderedCases() (cases []ordered) {
	runs := [][2]int64{{0, 11}, {0, 3}, {2, 1}, {3, 20}}
	for _, order := range orders {
		if isOfGroups(order) {
			continue
		}
		for _, tail := range tails {
			o := sampler.Options{Order: order, Seed: 7, BatchSize: 4, NumReplicas: 3, Tail: tail}
			cases = append(cases, ordered{Runs: runs, Options: o, Epoch: 1})
			o.NumReplicas, o.Seed = 1, 1<<63
			cases = append(cases, ordered{Runs: runs, Options: o, Epoch: 5, Consumed: 8})
		}
	}
	return append(cases, ordered{Runs: runs, Epoch: 2, Options: sampler.Options{
		Order: "bootstrap", Seed: 3, BatchSize: 5, NumReplicas: 2, Tail: "wrap",
		Weights: sampler.Weights{Items: []float64{1, 100, 0, 0.5}}}},
		ordered{Runs: runs, Epoch: 3, Options: sampler.Options{Order: "bootstrap", Seed: 4, BatchSize: 5,
			NumReplicas: 2, Tail: "wrap", Weights: sampler.Weights{Name: sampler.EvenWeights}}})
}

// groupedCases are of four items, of which one has a gap, one begins late, and one has only every
// other time.
func groupedCases() (cases []ordered) {
	runs := [][2]int64{{0, 5}, {0, 6}, {1, 12}, {2, 7}, {3, 7}}
	times := [][2]int64{{100, 1}, {106, 1}, {100, 1}, {105, 1}, {100, 2}}
	for _, order := range []string{"cross_section", "cross_section_sequential"} {
		for _, tail := range tails {
			for _, size := range []sampler.BatchSize{1, 3, sampler.WholeGroups} {
				o := sampler.Options{Order: order, Seed: 7, BatchSize: size, NumReplicas: 3,
					Tail: tail}
				cases = append(cases, ordered{Runs: runs, Times: times, Options: o, Epoch: 1})
			}
			o := sampler.Options{Order: order, Seed: 1 << 63, BatchSize: 2, NumReplicas: 1,
				Tail: tail, MinItems: 3}
			cases = append(cases, ordered{Runs: runs, Times: times, Options: o, Epoch: 5,
				Consumed: 4})
		}
	}
	return cases
}

func TestStoredVectorsOfOrders(t *testing.T) {
	checkVectors(t, orderVectors, orderedCases(), 31, (*ordered).compute)
}

func TestStoredVectorsOfGroups(t *testing.T) {
	checkVectors(t, groupVectors, groupedCases(), 24, (*ordered).compute)
}

// checkVectors computes the vectors of a file again and compares them. The file must have at least
// least vectors. With -update, it first writes the cases to the file.
func checkVectors[T any](t *testing.T, path string, cases []T, least int,
	compute func(*T, *testing.T)) {
	if *update {
		out := []byte("[\n")
		for i := range cases {
			compute(&cases[i], t)
			line, err := json.Marshal(cases[i])
			if err != nil {
				t.Fatal(err)
			}
			if i > 0 {
				out = append(out, ",\n"...)
			}
			out = append(out, line...)
		}
		if err := os.WriteFile(path, append(out, "\n]\n"...), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var stored []T
	if err := json.Unmarshal(data, &stored); err != nil {
		t.Fatal(err)
	}
	if len(stored) < least {
		t.Errorf("%s has %d vectors, want at least %d", path, len(stored), least)
	}
	for _, want := range stored {
		var got T
		line, _ := json.Marshal(want)
		if err := json.Unmarshal(line, &got); err != nil {
			t.Fatal(err)
		}
		compute(&got, t)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, want the stored %+v", got, want)
		}
	}
}
