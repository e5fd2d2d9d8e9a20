package feed

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/testwait"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
)

// publishTwoItems publishes "named", with the items MSFT and Zürich, and "plain", with one item
// without a name.
func (env *testEnv) publishTwoItems(t tb) {
	env.publishSeries(t, "plain", 50)
	data := &drawnDataset{
		layout: layout.Columns,
		columns: []layout.Column{{Name: "close", Role: layout.RoleValue, DType: layout.Float32},
			{Name: "flag", Role: layout.RoleValue, DType: layout.Int32}},
		rows: []int64{20, 20}, names: []string{"MSFT", "Zürich"},
		values: map[string][][]float64{},
	}
	for i := range 40 {
		data.values["close"] = append(data.values["close"], []float64{float64(i)})
		data.values["flag"] = append(data.values["flag"], []float64{float64(i % 2)})
	}
	data.publish(t, env, "named")
}

func spec(pairs ...any) func(map[string]any) {
	return func(r map[string]any) {
		s := map[string]any{"context_length": 4, "prediction_length": 2}
		for i := 0; i < len(pairs); i += 2 {
			s[pairs[i].(string)] = pairs[i+1]
		}
		r["spec"] = s
	}
}

// parts asks for one part.
func parts(pairs ...any) func(map[string]any) {
	part := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		part[pairs[i].(string)] = pairs[i+1]
	}
	return with("parts", []any{part})
}

func options(pairs ...any) func(map[string]any) {
	return func(r map[string]any) {
		o := map[string]any{"batch_size": 8}
		for i := 0; i < len(pairs); i += 2 {
			o[pairs[i].(string)] = pairs[i+1]
		}
		r["options"] = o
	}
}

func items(names ...string) func(map[string]any) {
	return with("cuts", []any{map[string]any{"where": map[string]any{"items": names}}})
}

func TestInvalidRequestsAreRefusedWithAReason(t *testing.T) {
	env := newTestEnv(t, largeBudget)
	env.publishTwoItems(t)
	cursor := map[string]any{"epoch": 0, "consumed": 8, "dataset": "other", "windows": "other",
		"order": "sequential"}
	for name, test := range map[string]struct {
		change    []func(map[string]any)
		typ, says string
	}{
		"another protocol": {changes(with("protocol", 2)), wire.ProtocolMismatch,
			"the client (test/1) speaks protocol 2, this daemon (tensorcache test, pid "},
		"newer protocols": {changes(with("protocol", 5), with("protocol_least", 2)),
			wire.ProtocolMismatch, "the client (test/1) speaks protocols 2 to 5, this daemon"},
		"no protocol": {changes(with("protocol", 0)), wire.ProtocolMismatch,
			"speaks protocol 0"},
		"unknown request": {changes(with("request", "fetch")), wire.ProtocolError,
			`request: got "fetch", want open, feed or put`},
		"unknown field": {changes(with("speck", 1)), wire.InvalidRequest,
			`unknown field "speck"`},
		"unknown option": {changes(options("shuffle", true)), wire.InvalidRequest,
			`unknown field "shuffle"`},
		"unknown spec field": {changes(spec("horizon", 1)), wire.InvalidSpec, "horizon"},
		"wrong type":         {changes(with("slots", "many")), wire.InvalidRequest, "slots"},
		"no spec":            {changes(with("spec", nil)), wire.InvalidSpec, "spec"},
		"unknown dataset": {changes(with("dataset", "name")), wire.DatasetNotFound,
			`no dataset is named "name"; near: named`},
		"unknown generation": {changes(with("generation", 7)), wire.GenerationGone,
			`generation 7 of "named"; the newest is 1`},
		"another digest": {changes(with("digest", strings.Repeat("0", 32))), wire.GenerationGone,
			`no generation of "named" has digest 0000`},
		"unknown column": {changes(spec("columns", []string{"clsoe"})), wire.ColumnNotFound,
			`columns: no column is named "clsoe"; near: close`},
		"far column": {changes(spec("context_columns", []string{"volumeofall"})),
			wire.ColumnNotFound, `there are: id, close, flag`},
		"column of text": {changes(spec("target_columns", []string{"id"})), wire.InvalidSpec,
			`column "id" is item_id of dtype text, want a value column of numbers, durations or text`},
		"no column": {changes(spec("columns", []string{})), wire.InvalidSpec,
			"context_columns: no column is left for the context"},
		"no target": {changes(spec("known_columns", []string{"close", "flag"})),
			wire.InvalidSpec, "target_columns: no column is left for the target"},
		"unknown dtype": {changes(spec("dtype", "float16")), wire.InvalidSpec,
			`dtype: got "float16"`},
		"dtype bool": {changes(spec("dtype", "bool")), wire.InvalidSpec, `dtype: got "bool"`},
		"dtype loses fractions": {changes(spec("dtype", "int64")), wire.InvalidSpec,
			`column "close" is float32, which does not fit int64`},
		"infinite as float32": {changes(spec("missing_value", 1e39)), wire.InvalidSpec,
			`missing_value: got 1e+39, want a number that float32, the dtype of the context, can represent`},
		"an unknown part": {changes(parts("name", "x", "part", "contxt")), wire.InvalidSpec,
			`parts: got "contxt"; near: context`},
		"a part that windows lack": {changes(parts("name", "x", "part", "known_target")), wire.InvalidSpec,
			"parts: these windows have no known_target"},
		"a part without a name": {changes(parts("part", "context")), wire.InvalidSpec,
			"parts: context has no name"},
		"a part called item": {changes(parts("name", "item", "part", "context")), wire.InvalidSpec,
			`parts: got the name "item", want another one than item, start, row, reset`},
		"a name of a part twice": {changes(with("parts", []any{
			map[string]any{"name": "x", "part": "context"}, map[string]any{"name": "x", "part": "target"}})),
			wire.InvalidSpec, `parts: two parts have the name "x"`},
		"a mask with another name": {changes(parts("name", "x", "part", "mask")), wire.InvalidSpec,
			`parts: got the name "x" for mask; the mask and no other part has the name "mask"`},
		"another part called mask": {changes(parts("name", "mask", "part", "known")), wire.InvalidSpec,
			`parts: got the name "mask" for known`},
		"an unknown column of a part": {
			changes(parts("name", "x", "part", "context", "columns", []string{"flga"})), wire.InvalidSpec,
			`parts: context has no column "flga"; near: flag`},
		"a column of a part twice": {
			changes(parts("name", "x", "part", "context", "columns", []string{"flag", "flag"})),
			wire.InvalidSpec, `parts: context: column "flag" is there twice`},
		"no column of a part": {changes(parts("name", "x", "part", "context", "columns", []string{})),
			wire.InvalidSpec, "parts: context: `columns` is empty"},
		"a dtype of a part that loses fractions": {
			changes(parts("name", "x", "part", "target", "dtype", "int32")), wire.InvalidSpec,
			`parts: target: dtype: column "close" is float32, which does not fit int32`},
		"a dtype of a mask": {changes(parts("name", "x", "part", "observed", "dtype", "float32")),
			wire.InvalidSpec, `parts: observed: dtype: got "float32"; masks have a dtype of their own`},
		"a mask of a target of no rows": {changes(spec("prediction_length", 0),
			parts("name", "x", "part", "target_observed")), wire.InvalidSpec,
			"parts: these windows have no target_observed"},
		"an unknown column of a mask": {
			changes(parts("name", "x", "part", "target_missing", "columns", []string{"flga"})),
			wire.InvalidSpec, `parts: target_missing has no column "flga"; near: flag`},
		"an unknown dtype of a part": {
			changes(parts("name", "x", "part", "target", "dtype", "as stored")), wire.InvalidSpec,
			`parts: target: dtype: got "as stored"`},
		"a value of padding that a part cannot represent": {
			changes(spec("pad_value", 0.5, "min_context", 1),
				parts("name", "x", "part", "context", "columns", []string{"flag"}, "dtype", "int64")),
			wire.InvalidSpec, "parts: context: pad_value: got 0.5, want a number that int64"},
		"parts and a mask": {changes(parts("name", "x", "part", "context"), with("mask", true)),
			wire.InvalidSpec, "mask: got true with parts"},
		"mixed as stored": {changes(spec("dtype", nil)), wire.InvalidSpec,
			`column "close" is float32 and column "flag" is int32`},
		"not constant": {changes(spec("static_columns", []string{"flag"})), wire.InvalidSpec,
			`column "flag" is not constant: item MSFT has 0 in row 0 and 1 in row 1`},
		"context too long": {changes(spec("context_length", 30)), wire.NoWindows,
			"context_length 30 + prediction_length 2 needs 32 rows; the longest item has 20"},
		"context of zero": {changes(spec("context_length", 0)), wire.InvalidSpec,
			`context_length: got 0, want a whole number from 1`},
		"negative prediction": {changes(spec("prediction_length", -1)), wire.InvalidSpec,
			`prediction_length: got -1, want a whole number from 0`},
		"negative stride": {changes(spec("stride", -1)), wire.InvalidSpec, `stride: got -1`},
		"batch of zero": {changes(options("batch_size", 0)), wire.InvalidSpec,
			`batch_size: got 0, want a whole number from 1`},
		"endless batch": {changes(options("batch_size", 1<<40)), wire.InvalidSpec,
			"batch_size: a batch of 1099511627776 windows takes over"},
		"rank too high": {changes(options("rank", 2, "num_replicas", 2)), wire.InvalidSpec,
			`rank: got 2`},
		"unknown order": {changes(options("order", "random")), wire.InvalidSpec,
			`order: got "random"`},
		"unknown tail": {changes(options("tail", "keep")), wire.InvalidSpec, `tail: got "keep"`},
		"all left out": {changes(options("batch_size", 100, "tail", "drop")), wire.NoWindows,
			`tail "drop"`},
		"unknown delivery": {changes(with("delivery", "pigeon")), wire.InvalidSpec,
			`delivery: got "pigeon", want auto, slot, view, local or starts`},
		"too few slots": {changes(with("slots", 2)), wire.InvalidSpec,
			"slots: got 2, want 3 to 16384, or 0"},
		"too many slots": {changes(with("slots", 65536)), wire.InvalidSpec, "slots: got 65536"},
		"another's cursor": {changes(with("cursor", cursor)), wire.CursorMismatch,
			`dataset is "other"`},
		"no cursor at all": {changes(with("cursor", []int{1})), wire.CursorMismatch,
			"want one JSON object"},
		"unknown item": {changes(items("Zurich")), wire.ItemNotFound,
			`where.items: no item is named "Zurich"; near: Zürich`},
		"items of one series": {changes(with("dataset", "plain"), items("MSFT")), wire.InvalidSpec,
			"the dataset was loaded without item_id"},
		"items that are none": {changes(
			with("cuts", []any{map[string]any{"where": map[string]any{"items": "MSFT"}}})),
			wire.InvalidSpec, `where.items: got "MSFT", want a list of item values`},
		"a cut that is none": {changes(with("cuts", []any{1})), wire.InvalidSpec, "cut"},
	} {
		t.Run(name, func(t *testing.T) {
			p := env.refuse(t, request("named", test.change...))
			if p.Type != test.typ || !strings.Contains(p.Detail, test.says) || p.Title == "" ||
				p.Status < 400 {
				t.Errorf("got %+v\nwant %s with %q", p, test.typ, test.says)
			}
		})
	}
	if n := strings.Count(env.log.String(), "panic"); n > 0 {
		t.Errorf("%d panics:\n%s", n, env.log)
	}
}

func changes(list ...func(map[string]any)) []func(map[string]any) { return list }

func TestItemsAreFoundWithAnyJSONEscapes(t *testing.T) {
	env := newTestEnv(t, largeBudget)
	env.publishTwoItems(t)
	for _, name := range []string{`"Zürich"`, `"Z\u00fcrich"`, ` "\u005aürich" `} {
		cut := asJSON(map[string]any{"where": 0})
		cut = bytes.Replace(cut, []byte("0"), []byte(`{"items":[`+name+`]}`), 1)
		r := request("named", with("cuts", []any{cut}))
		tr := env.attach(t, r)
		if d := tr.batch(t); int64s(tr.slot(d.Slot), tr.part("item").Offset, 1)[0] != 1 {
			t.Errorf("%s is not item 1", name)
		}
		tr.close()
	}
}

func TestMalformedRequestsAreRefused(t *testing.T) {
	env := newTestEnv(t, largeBudget)
	for name, test := range map[string]struct {
		bytes []byte
		says  string
	}{
		"another frame first": {uint32Bytes(0, wire.FrameCredit),
			"the first frame is of kind 2, want a request (1)"},
		"a huge request": {uint32Bytes(wire.MaxRequest+1, wire.FrameRequest), "at most 16777216"},
		"no JSON": {append(uint32Bytes(3, wire.FrameRequest), "{]}"...),
			"the request is no JSON"},
		"a list": {append(uint32Bytes(2, wire.FrameRequest), "[]"...),
			"the request is no JSON"},
		"more than one value": {append(uint32Bytes(36, wire.FrameRequest),
			`{"protocol":1,"request":"open"}}    `...), "the request is no JSON"},
		"nothing": {uint32Bytes(0, wire.FrameRequest), "the request is no JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			c := must(dial(env.path))(t)
			defer c.conn.Close()
			if _, err := c.conn.Write(test.bytes); err != nil {
				t.Fatal(err)
			}
			_, _, _, err := c.receive()
			if p := problemIn(t, err); p.Type != wire.ProtocolError ||
				!strings.Contains(p.Detail, test.says) {
				t.Errorf("got %s: %s\nwant protocol_error with %q", p.Type, p.Detail, test.says)
			}
		})
	}
}

func TestTheNewestCommonProtocolIsAnswered(t *testing.T) {
	env := newTestEnv(t, largeBudget)
	env.publishTwoItems(t)
	c := must(dial(env.path))(t)
	defer c.conn.Close()
	var reply wire.OpenReply
	fds := must(c.ask(map[string]any{"protocol": 7, "protocol_least": 1, "request": "open",
		"dataset": "named"}, &reply))(t)
	for _, fd := range fds {
		unix.Close(fd)
	}
	if reply.Protocol != wire.OwnProtocols.Newest {
		t.Errorf("got protocol %d, want %d", reply.Protocol, wire.OwnProtocols.Newest)
	}
}

func TestOpenSendsTheFilesAndKeepsTheGeneration(t *testing.T) {
	env := newTestEnv(t, largeBudget)
	env.publishTwoItems(t)
	c := must(dial(env.path))(t)
	defer c.conn.Close()
	var reply wire.OpenReply
	fds := must(
		c.ask(map[string]any{"protocol": 1, "request": "open", "dataset": "named"}, &reply))(t)
	if want := []string{"data.arrow", "items.arrow", "vocab-id.arrow"}; fmt.Sprint(
		reply.Files) != fmt.Sprint(want) || len(fds) != 3 {
		t.Fatalf("%d descriptors of %v, want %v", len(fds), reply.Files, want)
	}
	for i, fd := range fds {
		f := os.NewFile(uintptr(fd), reply.Files[i])
		defer f.Close()
		st := must(f.Stat())(t)
		if st.Size() != reply.Manifest.Files[reply.Files[i]].Bytes {
			t.Errorf("%s has %d bytes", f.Name(), st.Size())
		}
		if _, err := f.WriteAt([]byte("x"), 0); err == nil {
			t.Errorf("%s can be written", f.Name())
		}
	}
	column := must(reply.Manifest.Column("close"))(t)
	b := make([]byte, 8)
	if _, err := unix.Pread(fds[0], b, column.Offset); err != nil || floats[float32](b)[1] != 1 {
		t.Errorf("close begins with %v, %v", b, err)
	}
	readers := func() int { return must(env.store.Dataset("named"))(t).Readers }
	if readers() != 1 {
		t.Errorf("%d readers, want 1", readers())
	}
	c.conn.Close()
	testwait.Until(t, "released", func() bool { return readers() == 0 })
}

func TestAFrameOnALeaseEndsIt(t *testing.T) {
	env := newTestEnv(t, largeBudget)
	env.publishSeries(t, "d", 10)
	c := must(dial(env.path))(t)
	defer c.conn.Close()
	var reply wire.OpenReply
	for _, fd := range must(c.ask(map[string]any{"protocol": 1, "request": "open", "dataset": "d"},
		&reply))(t) {
		unix.Close(fd)
	}
	if err := c.send(wire.FrameCredit, nil); err != nil {
		t.Fatal(err)
	}
	_, _, _, err := c.receive()
	if p := problemIn(t, err); p.Type != wire.ProtocolError {
		t.Errorf("got %v", p)
	}
	if _, _, _, err = c.receive(); !errors.Is(err, io.EOF) && !errors.Is(err, unix.ECONNRESET) {
		t.Errorf("got %v, want the end", err)
	}
}
