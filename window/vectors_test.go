package window_test

import (
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"testing"

	"github.com/tensorcache/tensorcache/window"
)

// The vectors in testdata/vectors are checked in Go and in Python, and must not change.
// `go test ./window -update` writes them again, for cases in which index and oracle agree.
var update = flag.Bool("update", false, "write testdata/vectors anew")

const windowVectors = "../testdata/vectors/windows.json"

// vector is one index: its table, spec and cuts, and what it contains.
type vector struct {
	Name      string                  `json:"name"`
	Table     vectorTable             `json:"table"`
	Spec      json.RawMessage         `json:"spec"`
	Cuts      json.RawMessage         `json:"cuts"`
	Count     int64                   `json:"count"`
	Positions int64                   `json:"positions"`
	Rejected  map[window.Reason]int64 `json:"rejected"`
	Hash      string                  `json:"hash"`
	Windows   [][3]int64              `json:"windows"` // item, start, padded rows: the first 50
}

type vectorTable struct {
	Offsets []int64        `json:"offsets"`
	Times   []int64        `json:"times"`
	Unit    string         `json:"unit"`
	Hashes  []uint64       `json:"item_hashes"`
	Columns []vectorColumn `json:"columns"`
}

type vectorColumn struct {
	Context bool       `json:"context"`
	Target  bool       `json:"target"`
	Cells   int64      `json:"cells"`
	Missing [][2]int64 `json:"missing"` // row, cells
}

func (v vectorTable) table() window.Table {
	tab := window.Table{Offsets: v.Offsets, Times: v.Times, Unit: v.Unit}
	for _, c := range v.Columns {
		col := window.Column{Context: c.Context, Target: c.Target, Cells: c.Cells}
		for _, m := range c.Missing {
			col.Missing = append(col.Missing, window.MissingRow{Row: m[0], Cells: m[1]})
		}
		tab.Columns = append(tab.Columns, col)
	}
	if v.Hashes != nil {
		tab.ItemHash = func(item int64) uint64 { return v.Hashes[item] }
	}
	return tab
}

// small has three items with hourly times, a jump in each, and two columns with missing cells.
func small() vectorTable {
	v := vectorTable{Offsets: []int64{0, 30, 42, 72}, Unit: "s",
		Hashes: []uint64{0x1fffffffffffffff, 0x9fffffffffffffff, 0xe000000000000000}}
	at := int64(1467331200) // 2016-07-01
	for row := range int64(72) {
		if row%13 == 12 {
			at += 3 * 3600
		}
		v.Times = append(v.Times, at)
		at += 3600
	}
	v.Columns = []vectorColumn{
		{Context: true, Target: true, Cells: 1, Missing: [][2]int64{{5, 1}, {6, 1}, {50, 1}}},
		{Context: true, Cells: 3, Missing: [][2]int64{{20, 2}, {55, 3}}},
	}
	return v
}

func vectorCases() []vector {
	etth1, tab := vectorTable{Offsets: []int64{0, 17420}}, small()
	plain := tab
	plain.Columns = nil
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	return []vector{
		{Name: "etth1", Table: etth1, Spec: raw(`{"context_length":336,"prediction_length":96}`)},
		{Name: "etth1 validation", Table: etth1,
			Spec: raw(`{"context_length":336,"prediction_length":96}`),
			Cuts: raw(`[{"split":{"lengths":[8640,2880,2880]},"part":1}]`)},
		{Name: "etth1 fractions", Table: etth1,
			Spec: raw(`{"context_length":96,"prediction_length":96}`),
			Cuts: raw(`[{"split":{"fractions":[0.7,0.1,0.2]},"part":2}]`)},
		{Name: "gap and overlap", Table: plain,
			Spec: raw(`{"context_length":4,"prediction_length":3,"gap":2,"overlap":2,"stride":2}`)},
		{Name: "dilation", Table: plain,
			Spec: raw(`{"context_length":3,"prediction_length":2,"dilation":4,"stride":3}`)},
		{Name: "anchor end", Table: plain,
			Spec: raw(`{"context_length":5,"prediction_length":3,"stride":4,"anchor":"end"}`)},
		{Name: "padding", Table: plain,
			Spec: raw(`{"context_length":6,"prediction_length":2,"stride":2,"min_context":1}`)},
		{Name: "rows, padded", Table: plain,
			Spec: raw(`{"context_length":6,"prediction_length":2,"stride":2,"min_context":1,"rows":[3,-5]}`)},
		{Name: "time", Table: plain,
			Spec: raw(`{"context_length":4,"prediction_length":2,"time":["2016-07-01T05:30:00Z","2016-07-03T00:00:00Z"]}`)},
		{Name: "max_step", Table: plain,
			Spec: raw(`{"context_length":4,"prediction_length":2,"max_step":"1h"}`)},
		{Name: "no missing", Table: tab, Spec: raw(`{"context_length":4,"prediction_length":2}`)},
		{Name: "some missing", Table: tab,
			Spec: raw(`{"context_length":4,"prediction_length":2,"overlap":2,"max_missing":0.1}`)},
		{Name: "missing, dilation, jumps", Table: tab,
			Spec: raw(`{"context_length":3,"prediction_length":2,"dilation":2,"max_step":"3h","max_missing":0.05,"min_context":2}`)},
		{Name: "context only", Table: plain, Spec: raw(`{"context_length":4,"stride":4}`),
			Cuts: raw(`[{"split":{"lengths":[10,null]},"part":1}]`)},
		{Name: "own context", Table: plain, Spec: raw(`{"context_length":4,"prediction_length":2}`),
			Cuts: raw(`[{"split":{"lengths":[10,null],"purge":2,"context_before_split":false},"part":1}]`)},
		{Name: "purged", Table: plain, Spec: raw(`{"context_length":4,"prediction_length":2}`),
			Cuts: raw(`[{"split":{"lengths":[10,null],"purge":2},"part":0}]`)},
		{Name: "at times", Table: plain, Spec: raw(`{"context_length":4,"prediction_length":2}`),
			Cuts: raw(`[{"split":{"at_times":["2016-07-02T00:00:00Z","2016-07-03T00:00:00Z"]},"part":1}]`)},
		{Name: "where, then split", Table: plain,
			Spec: raw(`{"context_length":4,"prediction_length":2}`),
			Cuts: raw(`[{"where":{"rows":[2,-2],"items":[0,2]}},{"split":{"fractions":[0.5,0.5]},"part":1}]`)},
		{Name: "items by hash", Table: plain,
			Spec: raw(`{"context_length":4,"prediction_length":2}`),
			Cuts: raw(`[{"split":{"items":[0.5,null,0.25]},"part":1}]`)},
		{Name: "latest", Table: tab, Spec: raw(`{"context_length":4,"prediction_length":2}`),
			Cuts: raw(`[{"latest":true}]`)},
	}
}

// fill computes what the vector's index contains.
func (v *vector) fill(t *testing.T) {
	spec, err := window.ParseSpec(v.Spec)
	if err != nil {
		t.Fatal(err)
	}
	var cuts []window.Cut
	if v.Cuts != nil {
		if cuts, err = parseCuts(v.Cuts); err != nil {
			t.Fatal(err)
		}
	} else {
		v.Cuts = json.RawMessage(`[]`)
	}
	x, err := window.Apply(spec, v.Table.table(), cuts)
	if err != nil {
		t.Fatal(err)
	}
	v.Count, v.Positions, v.Rejected, v.Hash = x.Len(), x.Positions(), x.Rejected(), x.Hash()
	v.Windows = [][3]int64{}
	for n := range min(50, x.Len()) {
		p := x.Place(n)
		v.Windows = append(v.Windows, [3]int64{p.Item, p.Start, x.Pad(p)})
	}
}

func TestWindowsAgreeWithStoredVectors(t *testing.T) {
	if *update {
		cases := vectorCases()
		for i := range cases {
			cases[i].fill(t)
		}
		writeVectors(t, windowVectors, cases)
	}
	data, err := os.ReadFile(windowVectors)
	if err != nil {
		t.Fatal(err)
	}
	var stored []vector
	if err := json.Unmarshal(data, &stored); err != nil {
		t.Fatal(err)
	}
	if len(stored) < 20 {
		t.Errorf("%d vectors are stored", len(stored))
	}
	for _, want := range stored {
		got := vector{Name: want.Name, Table: want.Table, Spec: want.Spec, Cuts: want.Cuts}
		got.fill(t)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, stored is %+v", want.Name, got, want)
		}
	}
}

// writeVectors writes a list with one vector per line.
func writeVectors[T any](t *testing.T, path string, list []T) {
	out := []byte("[\n")
	for i, v := range list {
		line, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, line...)
		if i < len(list)-1 {
			out = append(out, ',')
		}
		out = append(out, '\n')
	}
	if err := os.WriteFile(path, append(out, "]\n"...), 0o644); err != nil {
		t.Fatal(err)
	}
}
