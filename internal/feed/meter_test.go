package feed

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tensorcache/tensorcache/internal/batch"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
)

// meterFrame returns the payload of a METER frame.
func meterFrame(passes, waited time.Duration) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, uint64(passes)),
		uint64(waited))
}

// report sends a METER frame, and returns the feed when the daemon has received it.
func (env *testEnv) report(t *testing.T, tr *trainer, passes, waited time.Duration) wire.Feed {
	t.Helper()
	if err := tr.send(wire.FrameMeter, meterFrame(passes, waited)); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(waitTimeout); ; {
		for _, f := range env.server.Feeds() {
			if f.Feed == tr.Feed && f.PassS == passes.Seconds() {
				return f
			}
		}
		if time.Now().After(deadline) {
			t.Fatal("the report does not show")
		}
	}
}

func TestWaitingTimesAreMeasuredByEachSide(t *testing.T) {
	env := newTestEnv(t, largeBudget)
	env.publishSeries(t, "d", 1000)
	tr := env.attach(t, request("d", with("slots", 3)))
	defer tr.close()
	batches := tr.take(t, 3)
	f := env.report(t, tr, 100*time.Second, 12*time.Second)
	if f.WaitDataS != 12 || f.WaitDataShare != 0.12 || f.Delivery != batch.Slot ||
		f.Path != batch.PathTranspose {
		t.Errorf("%+v", f)
	}
	for was := f.WaitTrainerS; ; { // it waits for credits now, so the time increases
		f = env.server.Feeds()[0]
		if f.WaitTrainerS > was {
			break
		}
	}
	if f.WaitTrainerS > f.Seconds || f.WaitTrainerShare <= 0 || f.WaitTrainerShare > 1 {
		t.Errorf("it waited %v s of %v s, a share of %v", f.WaitTrainerS, f.Seconds,
			f.WaitTrainerShare)
	}
	tr.credit(t, batches[0].Slot)
	if d := tr.batch(t); d.Slot != batches[0].Slot {
		t.Errorf("%+v after a report", d)
	}
}

func TestVerdictsNameTheBottleneck(t *testing.T) {
	env := newTestEnv(t, largeBudget)
	env.publishPatchwork(t)
	const s = time.Second
	cd := []string{"c", "d"}
	shuffle := options("order", "shuffle")
	for name, test := range map[string]struct {
		change         []func(map[string]any)
		passes, waited time.Duration
		in             shares
		says           string
	}{
		"no report": {changes(shuffle), 0, 0, shares{}, "not measured yet"},
		"trainer":   {changes(shuffle), 100 * s, s, shares{}, "trainer-bound: 1.0 % waiting for data"},
		"bursts": {changes(shuffle, with("slots", 4)), 100 * s, 12 * s, shares{idle: 0.5},
			"input-bound 12 %: the 4 slots run out in bursts, try slots=8"},
		"view": {changes(spec("columns", cd)), 100 * s, 30 * s, shares{},
			`input-bound 30 %: the gather copies what could be a view, try delivery="view"`},
		"conversion": {changes(shuffle), 100 * s, 50 * s, shares{},
			`converting column "b" from float64, try loading it as float32`},
		"interleaving": {changes(shuffle, spec("columns", cd)), 100 * s, 50 * s, shares{},
			"the gather is limited by interleaving columns, with "},
		"masks": {changes(parts("name", "x", "part", "observed")), 100 * s, 50 * s, shares{},
			"the daemon only makes masks, with "},
		"a mask and values": {changes(spec("columns", cd), with("parts", []any{
			map[string]any{"name": "m", "part": "observed"}, map[string]any{"name": "x", "part": "context"}})),
			100 * s, 50 * s, shares{}, "the gather is limited by interleaving columns, with "},
		"memory": {changes(shuffle, spec("columns", cd), with("channels_first", true)), 100 * s,
			50 * s, shares{}, "the gather is limited by memory, with "},
		"disk": {changes(shuffle), 100 * s, 50 * s, shares{disk: 0.6},
			"the data is not in memory and is read from the disk; try tensorcache preload patchwork, "},
		"disk, local": {changes(shuffle, with("delivery", batch.Local)), 100 * s, 50 * s,
			shares{disk: 0.9, idle: 0.1}, "the data is not in memory"},
		"some disk": {changes(shuffle, with("slots", 4)), 100 * s, 50 * s,
			shares{disk: 0.1, idle: 0.5}, "the 4 slots run out in bursts"},
		"places": {changes(shuffle, with("delivery", batch.Local)), 100 * s, 50 * s, shares{},
			"the daemon writes only the places of windows, and the trainer is faster; try larger "},
		"places, few": {changes(shuffle, with("delivery", batch.Local), with("slots", 4)),
			100 * s, 50 * s,
			shares{idle: 0.5}, "the 4 slots run out in bursts, try slots=8"},
	} {
		tr := env.attach(t, request("patchwork", test.change...))
		f := wire.Feed{Delivery: tr.Delivery, Path: tr.Path, Slots: tr.Slots, Dataset: "patchwork",
			PassS: test.passes.Seconds(), WaitDataS: test.waited.Seconds()}
		if f.PassS > 0 {
			f.WaitDataShare = f.WaitDataS / f.PassS
		}
		if got := env.onlyFeed(t).verdict(f, test.in); !strings.Contains(got, test.says) {
			t.Errorf("%s: %q, want %q", name, got, test.says)
		}
		tr.close()
		env.waitUntilDetached(t)
	}
}

func TestVerdictsOfStaticValuesNameThem(t *testing.T) {
	env := newTestEnv(t, largeBudget)
	data := &drawnDataset{layout: layout.Columns, rows: []int64{40}, values: map[string][][]float64{}}
	for _, name := range []string{"a", "s"} {
		data.columns = append(data.columns,
			layout.Column{Name: name, Role: layout.RoleValue, DType: layout.Float32})
		data.values[name] = slices.Repeat([][]float64{{1}}, 40)
	}
	data.publish(t, env, "static")
	static, observed := map[string]any{"name": "x", "part": "static"}, map[string]any{"name": "m", "part": "observed"}
	for _, requested := range [][]any{{static}, {static, observed}} {
		tr := env.attach(t, request("static", options("order", "shuffle"), with("parts", requested),
			spec("columns", []string{"a"}, "static_columns", []string{"s"})))
		f := wire.Feed{Delivery: tr.Delivery, Path: tr.Path, PassS: 100, WaitDataShare: 0.5}
		if got := env.onlyFeed(t).verdict(f, shares{}); !strings.Contains(got, "try fewer static columns") {
			t.Errorf("%v: %q", requested, got)
		}
		tr.close()
		env.waitUntilDetached(t)
	}
}

// TestVerdictsSayWhenPackedIsFaster attaches to windows of several columns, some of them of another dtype.
func TestVerdictsSayWhenPackedIsFaster(t *testing.T) {
	env := newTestEnv(t, largeBudget)
	const packed = "interleaving columns; try loading with `layout=\"packed\"`, "
	for name, c := range map[string]struct {
		layout string
		names  string
		more   []any // fields of the spec
		says   string
	}{
		"all":             {layout.Columns, "abcd", nil, packed},
		"fewer":           {layout.Columns, "abc", nil, "interleaving columns, with "},
		"another order":   {layout.Columns, "abdc", nil, "interleaving columns, with "},
		"one target":      {layout.Columns, "abcd", []any{"target_columns", []string{"a"}}, "interleaving columns, with "},
		"dilated":         {layout.Columns, "abcd", []any{"dilation", 2}, "interleaving columns, with "},
		"casts":           {layout.Columns, "abcdX", nil, "from float64, try loading it as float32"},
		"packed":          {layout.Packed, "abcd", nil, "limited by memory"},
		"packed, fewer":   {layout.Packed, "abc", nil, "try loading with `layout=\"columns\"`"},
		"packed, dilated": {layout.Packed, "abcd", []any{"dilation", 2}, "copying row by row"},
	} {
		data := &drawnDataset{layout: c.layout, rows: []int64{40}, values: map[string][][]float64{}}
		for _, name := range []string{"a", "b", "X", "c", "d"} {
			dtype := layout.Float32
			if name == "X" {
				dtype = layout.Float64
			}
			data.columns = append(data.columns, layout.Column{Name: name, Role: layout.RoleValue, DType: dtype})
			data.values[name] = slices.Repeat([][]float64{{1}}, 40)
		}
		data.publish(t, env, "wide")
		names := strings.Split(c.names, "")
		tr := env.attach(t, request("wide", options("order", "shuffle"),
			spec(append([]any{"columns", names}, c.more...)...)))
		f := wire.Feed{Delivery: tr.Delivery, Path: tr.Path, PassS: 100, WaitDataShare: 0.5}
		if got := env.onlyFeed(t).verdict(f, shares{}); !strings.Contains(got, c.says) {
			t.Errorf("%s: %q", name, got)
		}
		tr.close()
		env.waitUntilDetached(t)
	}
}

// TestWaitsBetweenPassesDoNotCount: a trainer that evaluates between passes leaves its ring full,
// whatever the bottleneck is.
func TestWaitsBetweenPassesDoNotCount(t *testing.T) {
	type sums struct{ after, passes, forTrainer, forDisk time.Duration } // in seconds
	for name, test := range map[string]struct {
		reports []sums
		in      shares
	}{
		"none":                      {},
		"one of a new feed":         {[]sums{{100, 80, 40, 8}}, shares{0.25, 0.1}},
		"evaluations alone":         {[]sums{{2, 1, 1, 0}, {100, 20, 80, 0}}, shares{}},
		"half of the passes, too":   {[]sums{{2, 1, 1, 0}, {100, 20, 90, 15}}, shares{0.5, 0.75}},
		"one of an attachment anew": {[]sums{{1, 500, 1, 1}}, shares{}},
		"more of it": {[]sums{{50, 500, 10, 1}, {100, 540, 40, 5}},
			shares{0.5, 0.1}},
	} {
		m := meter{began: time.Now()}
		for _, r := range test.reports {
			m.forTrainer, m.forDisk = r.forTrainer*time.Second, r.forDisk*time.Second
			if err := m.report(meterFrame(r.passes*time.Second, 0),
				m.began.Add(r.after*time.Second)); err != nil {
				t.Fatal(err)
			}
		}
		if in := m.inPasses(); in != test.in {
			t.Errorf("%s: %+v, want %+v", name, in, test.in)
		}
	}
}

// onlyFeed returns the only feed.
func (env *testEnv) onlyFeed(t *testing.T) *feed {
	t.Helper()
	env.server.mu.Lock()
	defer env.server.mu.Unlock()
	for s := range env.server.feeds {
		return s
	}
	t.Fatal("there is no feed")
	return nil
}

// waitUntilDetached waits until no feed is attached.
func (env *testEnv) waitUntilDetached(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(waitTimeout); len(env.server.Feeds()) > 0; {
		if time.Now().After(deadline) {
			t.Fatal("feeds are left")
		}
	}
}

func TestInvalidReportsEndTheFeed(t *testing.T) {
	env := newTestEnv(t, largeBudget)
	env.publishSeries(t, "d", 1000)
	for name, payload := range map[string][]byte{"short": meterFrame(1, 0)[:8],
		"long": append(meterFrame(1, 0), 0), "more wait than time": meterFrame(1, 2),
		"overflow": meterFrame(-1, 0)} {
		tr := env.attach(t, request("d"))
		if err := tr.send(wire.FrameMeter, payload); err != nil {
			t.Fatal(err)
		}
		if p := problemIn(t, tr.ended()); p.Type != wire.ProtocolError ||
			!strings.Contains(p.Detail, "a meter of") {
			t.Errorf("%s: %+v", name, p)
		}
		tr.close()
	}
}
