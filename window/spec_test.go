package window_test

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/tensorcache/tensorcache/window"
)

func TestSpecIsReadAndWrittenCanonically(t *testing.T) {
	for _, c := range []struct{ in, out string }{
		{`{"context_length":336,"prediction_length":96}`, ``},
		{`{"prediction_length":96,"context_length":336}`,
			`{"context_length":336,"prediction_length":96}`},
		{`{"context_length":4,"gap":0,"stride":1,"dilation":1,"anchor":"start","min_context":4,"rows":null,"time":[null,null],"max_step":null,"max_missing":0,"count_filled":false,"columns":null,"known_columns":[],"dtype":"float32","missing_value":null,"pad_value":0}`, `{"context_length":4}`},
		{`{"pad_value":null,"context_length":4}`, `{"context_length":4,"pad_value":null}`},
		{`{"context_length":4,"prediction_length":2,"gap":1,"overlap":3,"stride":2,"dilation":3,"anchor":"end","min_context":0,"rows":[-20,null],"max_step":"1h","max_missing":null,"count_filled":true,"columns":[],"context_columns":["a"],"target_columns":["b"],"known_columns":["k"],"static_columns":["s"],"dtype":null,"missing_value":-1.5,"pad_value":-2}`, ``},
		{`{"context_length":4,"max_step":"60min"}`, `{"context_length":4,"max_step":"1h"}`},
		{`{"context_length":4,"max_step":"1h30m"}`, `{"context_length":4,"max_step":"90min"}`},
		{`{"context_length":4,"max_step":"h"}`, `{"context_length":4,"max_step":"1h"}`},
		{`{"context_length":4,"max_step":"1 D"}`, `{"context_length":4,"max_step":"1d"}`},
		{`{"context_length":4,"max_step":3600}`, ``},
		{`{"context_length":4,"max_missing":0.25}`, ``},
		{`{"context_length":4,"time":["2016-07-01",null]}`,
			`{"context_length":4,"time":["2016-07-01T00:00:00",null]}`},
		{`{"context_length":4,"time":["2016-07-01 02:00:00+02:00","2016-07-01T00:00:00.5"]}`,
			`{"context_length":4,"time":["2016-07-01T02:00:00+02:00","2016-07-01T00:00:00.5"]}`},
		{`{"context_length":4,"time":["2016-07-01T02:00+02:00","2016-07-01T00:01"]}`,
			`{"context_length":4,"time":["2016-07-01T02:00:00+02:00","2016-07-01T00:01:00"]}`},
		{`{"context_length":4,"time":[-5,7]}`, ``},
	} {
		spec, err := window.ParseSpec([]byte(c.in))
		if err != nil {
			t.Errorf("%s: %v", c.in, err)
			continue
		}
		out, err := json.Marshal(spec)
		if want := cmpOr(c.out, c.in); err != nil || string(out) != want {
			t.Errorf("%s is written as %s, want %s: %v", c.in, out, want, err)
		}
		again, err := window.ParseSpec(out)
		if err != nil {
			t.Errorf("%s: %v", out, err)
		}
		if c.out == "" && !reflect.DeepEqual(spec, again) {
			t.Errorf("%+v is read back as %+v", spec, again)
		}
	}
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func TestInvalidSpecIsRefusedWithTheField(t *testing.T) {
	for _, c := range []struct{ in, field string }{
		{``, "spec"}, {`null`, "spec"}, {`[]`, "spec"}, {`{"context_length":4`, "spec"},
		{`{"context_length":4}{}`, "spec"},
		{`{"context_length":4,"context_length":5}`, "spec"}, {`{"Context_Length":4}`, "spec"},
		{`{"context":4}`, "spec"},
		{`{}`, "context_length"}, {`{"context_length":0}`, "context_length"},
		{`{"context_length":-1}`, "context_length"},
		{`{"context_length":"4"}`, "context_length"}, {`{"context_length":4.0}`, "context_length"},
		{`{"context_length":null}`, "context_length"},
		{`{"context_length":9223372036854775808}`, "context_length"},
		{`{"context_length":9223372036854775807}`, "context_length"},
		{`{"context_length":4,"prediction_length":-1}`, "prediction_length"},
		{`{"context_length":4,"prediction_length":1,"gap":-1}`, "gap"},
		{`{"context_length":4,"gap":1}`, "gap"}, {`{"context_length":4,"overlap":1}`, "overlap"},
		{`{"context_length":4,"prediction_length":1,"overlap":5}`, "overlap"},
		{`{"context_length":4,"prediction_length":1,"overlap":-1}`, "overlap"},
		{`{"context_length":4,"stride":0}`, "stride"},
		{`{"context_length":4,"stride":-2}`, "stride"},
		{`{"context_length":4,"dilation":0}`, "dilation"},
		{`{"context_length":4,"anchor":"middle"}`, "anchor"},
		{`{"context_length":4,"anchor":""}`, "anchor"},
		{`{"context_length":4,"min_context":5}`, "min_context"},
		{`{"context_length":4,"min_context":-1}`, "min_context"},
		{`{"context_length":4,"rows":[5,5]}`, "rows"},
		{`{"context_length":4,"rows":[-1,-3]}`, "rows"},
		{`{"context_length":4,"rows":[1]}`, "rows"}, {`{"context_length":4,"rows":5}`, "rows"},
		{`{"context_length":4,"rows":[1,"a"]}`, "rows[1]"},
		{`{"context_length":4,"rows":[1,2],"time":[1,2]}`, "time"},
		{`{"context_length":4,"time":["yesterday",null]}`, "time[0]"},
		{`{"context_length":4,"time":["2016-07-02","2016-07-01"]}`, "time"},
		{`{"context_length":4,"max_step":"1 month"}`, "max_step"},
		{`{"context_length":4,"max_step":0}`, "max_step"},
		{`{"context_length":4,"max_step":"0h"}`, "max_step"},
		{`{"context_length":4,"max_step":""}`, "max_step"},
		{`{"context_length":4,"max_step":"-1h"}`, "max_step"},
		{`{"context_length":4,"max_step":"999999999w"}`, "max_step"},
		{`{"context_length":4,"max_missing":1.5}`, "max_missing"},
		{`{"context_length":4,"max_missing":-0.1}`, "max_missing"},
		{`{"context_length":4,"max_missing":"all"}`, "max_missing"},
		{`{"context_length":4,"count_filled":1}`, "count_filled"},
		{`{"context_length":4,"columns":["a","a"]}`, "columns"},
		{`{"context_length":4,"columns":[""]}`, "columns"}, {`{"context_length":4,"columns":"a"}`,
			"columns"}, {`{"context_length":4,"columns":[null]}`, "columns[0]"},
		{`{"context_length":4,"target_columns":["a"]}`, "target_columns"},
		{`{"context_length":4,"prediction_length":1,"target_columns":["a"],"known_columns":["b","a"]}`, "known_columns"},
		{`{"context_length":4,"columns":["a","s"],"static_columns":["s"]}`, "static_columns"},
		{`{"context_length":4,"context_columns":["s"],"static_columns":["s"]}`, "static_columns"},
		{`{"context_length":4,"prediction_length":1,"target_columns":["s"],"static_columns":["s"]}`,
			"static_columns"}, {`{"context_length":4,"known_columns":["s"],"static_columns":["s"]}`,
			"static_columns"},
		{`{"context_length":4,"dtype":""}`, "dtype"},
		{`{"context_length":4,"missing_value":"nan"}`, "missing_value"},
		{`{"context_length":4,"pad_value":"nan"}`, "pad_value"},
		// Combinations that overflow.
		{`{"context_length":2305843009213693952,"prediction_length":1}`, "context_length"},
		{`{"context_length":2305843009213693951,"gap":2305843009213693951,"prediction_length":2305843009213693951}`, "context_length"},
		{`{"context_length":4294967296,"dilation":4294967296}`, "dilation"},
		{`{"context_length":4,"stride":9223372036854775807}`, "stride"},
	} {
		_, err := window.ParseSpec([]byte(c.in))
		var e *window.SpecError
		if !errors.As(err, &e) || !errors.Is(err, window.ErrSpec) || e.Field != c.field ||
			e.Allowed == "" {
			t.Errorf("%s: %v, want it to name %s", c.in, err, c.field)
		}
	}
}

func TestSpecErrorNamesFieldValueAndAllowed(t *testing.T) {
	_, err := window.ParseSpec([]byte(`{"context_length":24,"min_context":30}`))
	if want := `min_context: got 30, want a whole number from 0 to context_length 24`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestErrorSaysThatAFieldIsMissing(t *testing.T) {
	for in, want := range map[string]string{
		``:                        "spec: missing, want one JSON object",
		` null`:                   "spec: missing, want one JSON object",
		`{}`:                      "context_length: missing, want a whole number from 1",
		`{"context_length":null}`: "context_length: missing, want a whole number from 1",
		`{"context_length":0}`:    `context_length: got 0, want a whole number from 1`,
	} {
		if _, err := window.ParseSpec([]byte(in)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", in, err, want)
		}
	}
}

func TestSpecsMadeInGoAreValidated(t *testing.T) {
	for _, s := range []window.Spec{
		{ContextLength: 1, Stride: -1},
		{ContextLength: 1, MaxMissing: window.MaxMissing{Share: math.NaN()}},
		{ContextLength: 1, MissingValue: ptr(math.Inf(1))},
		{ContextLength: 1, PadValue: math.Inf(-1)},
		{ContextLength: math.MaxInt64, PredictionLength: math.MaxInt64, Gap: math.MaxInt64},
		{ContextLength: 1, MaxStep: window.Ticks(-1)},
	} {
		if _, err := window.New(s, items(10)); !errors.Is(err, window.ErrSpec) {
			t.Errorf("%+v: %v", s, err)
		}
		if _, err := json.Marshal(s); err == nil {
			t.Errorf("%+v is written", s)
		}
	}
}

func TestDTypeDistinguishesDefaultFromAsStored(t *testing.T) {
	for in, want := range map[string]string{
		`{"context_length":1}`:                      "float32",
		`{"context_length":1,"dtype":"float32"}`:    "float32",
		`{"context_length":1,"dtype":"bfloat16"}`:   "bfloat16",
		`{"context_length":1,"dtype":null}`:         "",
		` {"context_length" : 1, "dtype" : null } `: "",
	} {
		s, err := window.ParseSpec([]byte(in))
		if err != nil || s.DType.Name() != want {
			t.Errorf("%s: %q, %v", in, s.DType.Name(), err)
		}
	}
}

func TestInvalidTableIsRefusedWithItemAndRow(t *testing.T) {
	step := window.Spec{ContextLength: 1, MaxStep: window.Ticks(1)}
	for _, c := range []struct {
		tab  window.Table
		says string
	}{
		{window.Table{Offsets: []int64{0, 3, 6}, Times: []int64{1, 2, 3, 1, 1, 2}},
			"item 1, row 1"},
		{window.Table{Offsets: []int64{0, 3, 6}, Times: []int64{1, 2, 3, 5, 9, 7}},
			"item 1, row 2"},
		{window.Table{Offsets: []int64{0, 5, 3, 6}, Times: make([]int64, 6)}, "item"},
		{window.Table{Offsets: []int64{1, 3}, Times: make([]int64, 3)}, "offsets"},
		{window.Table{Offsets: []int64{0, 3}, Times: make([]int64, 2)}, "2 times for 3 rows"},
		{window.Table{Offsets: []int64{0, 3}, Times: []int64{0, 1, 2},
			Columns: []window.Column{{Context: true, Cells: 1,
				Missing: []window.MissingRow{{Row: 3, Cells: 1}}}}}, "missing row 3"},
		{window.Table{Offsets: []int64{0, 3}, Times: []int64{0, 1, 2},
			Columns: []window.Column{{Context: true}}}, "0 cells"},
	} {
		_, err := window.New(step, c.tab)
		if !errors.Is(err, window.ErrTable) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v, want it to name %q", err, c.says)
		}
	}
	if _, err := window.New(window.Spec{ContextLength: 1},
		window.Table{Offsets: []int64{0, 5, 3}}); !errors.Is(err, window.ErrTable) {
		t.Errorf("descending offsets: %v", err)
	}
}

func TestTimeNeedsATimeColumnOfItsKind(t *testing.T) {
	noTime, integers := items(5), items(5)
	integers.Times = []int64{0, 1, 2, 3, 4}
	weird := integers
	weird.Unit = "fortnight"
	for _, c := range []struct {
		in  string
		tab window.Table
	}{
		{`{"context_length":1,"max_step":1}`, noTime},
		{`{"context_length":1,"time":[1,null]}`, noTime},
		{`{"context_length":1,"max_step":"1h"}`, integers},
		{`{"context_length":1,"time":["2016-01-01",null]}`, integers},
		{`{"context_length":1,"max_step":"1h"}`, weird},
		{`{"context_length":1,"time":["2016-01-01",null]}`, weird},
	} {
		spec, err := window.ParseSpec([]byte(c.in))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := window.New(spec, c.tab); err == nil {
			t.Errorf("%s is accepted", c.in)
		}
	}
}

func FuzzParseSpec(f *testing.F) {
	for _, seed := range []string{
		`{"context_length":336,"prediction_length":96}`,
		`{"context_length":4,"prediction_length":2,"gap":1,"overlap":3,"stride":2,"dilation":3,"anchor":"end","min_context":0,"rows":[-20,null],"max_step":"1h30m","max_missing":null,"count_filled":true,"columns":[],"dtype":null,"missing_value":-1.5}`,
		`{"context_length":4,"time":["2016-07-01 02:00:00+02:00",17],"max_missing":1e-3}`,
		`{"context_length":9223372036854775807,"dilation":9223372036854775807}`,
		`{"context_length":4,"context_length":5}`, `{"columns":["\u0000"],"max_step":"µs"}`,
		`[`, `nul`, ``,
	} {
		f.Add([]byte(seed))
	}
	tab := items(0, 1, 7, 40)
	for i := range tab.Offsets[len(tab.Offsets)-1] {
		tab.Times = append(tab.Times, i*i)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		spec, err := window.ParseSpec(data)
		if err != nil {
			if !errors.Is(err, window.ErrSpec) {
				t.Fatalf("%q: %v is no spec error", data, err)
			}
			return
		}
		out, err := json.Marshal(spec)
		if err != nil {
			t.Fatal(err)
		}
		again, err := window.ParseSpec(out)
		if err != nil {
			t.Fatalf("%q is written as %q: %v", data, out, err)
		}
		if twice, _ := json.Marshal(again); string(twice) != string(out) {
			t.Fatalf("%q is written as %q, then as %q", data, out, twice)
		}
		x, err := window.New(spec, tab)
		if err != nil {
			return
		}
		for n := range x.Len() {
			if got, ok := x.Number(x.Place(n)); !ok || got != n {
				t.Fatalf("%s: window %d is at %v, which is window %d", out, n, x.Place(n), got)
			}
		}
	})
}

// TestErrorsQuoteTextsAlone has numbers, lists and words, and no prose in quotes.
func TestErrorsQuoteTextsAlone(t *testing.T) {
	for in, want := range map[string]string{
		`{"context_length":-1}`:                                   "context_length: got -1, want",
		`{"context_length":2,"anchor":"5"}`:                       `anchor: got "5", want "start" or "end"`,
		`{"context_length":2,"columns":["",""]}`:                  `columns: got "", want names`,
		`{"context_length":2,"rows":[5,3]}`:                       "rows: got [5,3], want",
		`{"context_length":2,"count_filled":1}`:                   "count_filled: got 1, want true or",
		`{"context_length":2,"max_step":"no"}`:                    `max_step: got "no", want`,
		`{"context_length":2,"max_missing":2}`:                    "max_missing: got 2, want a share",
		`{"context_length":2,"time":["2016-07-01","2016-07-01"]}`: `time: got ["2016-07-01`,
	} {
		var s window.Spec
		err := s.UnmarshalJSON([]byte(in))
		if err == nil {
			err = s.Validate()
		}
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", in, err, want)
		}
	}
	share := 0.6
	for want, s := range map[string]window.Split{
		"fractions: got [0.6,0.6], want a sum of at most 1, not 1.2": {
			Fractions: []*float64{&share, &share}},
		"fractions: got [null,null], want null at most once": {Fractions: []*float64{nil, nil}},
		"lengths: got [null,null], want null at most once":   {Lengths: []*int64{nil, nil}},
		`split: got ["lengths","fractions"], want one of`: {Lengths: []*int64{nil},
			Fractions: []*float64{nil}},
		`names: got ["a"], want one for each of the 2 parts`: {
			Fractions: []*float64{nil, &share}, Names: []string{"a"}},
	} {
		if _, err := s.Parts(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
