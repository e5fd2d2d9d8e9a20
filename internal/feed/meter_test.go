package feed

import (
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/tensorcache/tensorcache/internal/batch"
	"github.com/tensorcache/tensorcache/internal/wire"
)

// said is the METER frame of a trainer that waited for a part of its passes.
func said(passes, waited time.Duration) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, uint64(passes)),
		uint64(waited))
}

// measured is a feed once it shows what its trainer reported.
func (w *world) measured(t *testing.T, tr *trainer, passes, waited time.Duration) wire.Feed {
	t.Helper()
	if err := tr.send(wire.FrameMeter, said(passes, waited)); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(patience); ; {
		for _, f := range w.server.Feeds() {
			if f.Feed == tr.Feed && f.PassS == passes.Seconds() {
				return f
			}
		}
		if time.Now().After(deadline) {
			t.Fatal("the report does not show")
		}
	}
}

func TestEachSidesWaitingIsToldByItsOwnClock(t *testing.T) {
	w := newWorld(t, roomy)
	w.series(t, "d", 1000)
	tr := w.attach(t, request("d", with("slots", 3)))
	defer tr.close()
	held := tr.take(t, 3)
	f := w.measured(t, tr, 100*time.Second, 12*time.Second)
	if f.WaitDataS != 12 || f.WaitDataShare != 0.12 || f.Delivery != batch.Slot ||
		f.Path != batch.PathTranspose {
		t.Errorf("%+v", f)
	}
	for was := f.WaitTrainerS; ; { // it waits for credit now, and the meter runs while it does
		f = w.server.Feeds()[0]
		if f.WaitTrainerS > was {
			break
		}
	}
	if f.WaitTrainerS > f.Seconds || f.WaitTrainerShare <= 0 || f.WaitTrainerShare > 1 {
		t.Errorf("it waited %v s of %v s, a share of %v", f.WaitTrainerS, f.Seconds,
			f.WaitTrainerShare)
	}
	tr.credit(t, held[0].Slot)
	if d := tr.batch(t); d.Slot != held[0].Slot {
		t.Errorf("%+v after a report", d)
	}
}

func TestVerdictsNameWhatLimits(t *testing.T) {
	w := newWorld(t, roomy)
	w.patchwork(t)
	const s = time.Second
	cd := []string{"c", "d"}
	shuffle := options("order", "shuffle")
	for name, test := range map[string]struct {
		change         []func(map[string]any)
		passes, waited time.Duration
		in             shares
		says           string
	}{
		"no report": {c(shuffle), 0, 0, shares{}, "not measured yet"},
		"trainer":   {c(shuffle), 100 * s, s, shares{}, "trainer-bound: 1.0 % waiting for data"},
		"bursts": {c(shuffle, with("slots", 4)), 100 * s, 12 * s, shares{idle: 0.5},
			"input-bound 12 %: the 4 slots run out in bursts, try slots=8"},
		"view": {c(spec("columns", cd)), 100 * s, 30 * s, shares{},
			`input-bound 30 %: the gather copies what could be a view, try delivery="view"`},
		"conversion": {c(shuffle), 100 * s, 50 * s, shares{},
			`converting column "b" from float64, try loading with dtype=float32`},
		"interleaving": {c(shuffle, spec("columns", cd)), 100 * s, 50 * s, shares{},
			"the gather is limited by interleaving columns, try layout=packed"},
		"memory": {c(shuffle, spec("columns", cd), with("channels_first", true)), 100 * s,
			50 * s, shares{}, "the gather is limited by memory, with "},
		"disk": {c(shuffle), 100 * s, 50 * s, shares{disk: 0.6},
			"the data is not in memory, and comes from the disk; try tensorcache preload patchwork, "},
		"disk, local": {c(shuffle, with("delivery", batch.Local)), 100 * s, 50 * s,
			shares{disk: 0.9, idle: 0.1}, "the data is not in memory"},
		"some disk": {c(shuffle, with("slots", 4)), 100 * s, 50 * s,
			shares{disk: 0.1, idle: 0.5}, "the 4 slots run out in bursts"},
		"places": {c(shuffle, with("delivery", batch.Local)), 100 * s, 50 * s, shares{},
			"the daemon draws places alone, which the trainer takes sooner; try a larger batch_size"},
		"places, few": {c(shuffle, with("delivery", batch.Local), with("slots", 4)),
			100 * s, 50 * s,
			shares{idle: 0.5}, "the 4 slots run out in bursts, try slots=8"},
	} {
		tr := w.attach(t, request("patchwork", test.change...))
		f := wire.Feed{Delivery: tr.Delivery, Path: tr.Path, Slots: tr.Slots, Dataset: "patchwork",
			PassS: test.passes.Seconds(), WaitDataS: test.waited.Seconds()}
		if f.PassS > 0 {
			f.WaitDataShare = f.WaitDataS / f.PassS
		}
		if got := w.only(t).verdict(f, test.in); !strings.Contains(got, test.says) {
			t.Errorf("%s: %q, want %q", name, got, test.says)
		}
		tr.close()
		w.none(t)
	}
}

// TestWhatTheDaemonWaitsBetweenPassesIsNotHeldAgainstTheRing: a trainer that evaluates between
// passes leaves its ring full, whatever limits its feed.
func TestWhatTheDaemonWaitsBetweenPassesIsNotHeldAgainstTheRing(t *testing.T) {
	type told struct{ after, passes, forTrainer, forDisk time.Duration } // in seconds
	for name, test := range map[string]struct {
		reports []told
		in      shares
	}{
		"none":                      {},
		"one of a new feed":         {[]told{{100, 80, 40, 8}}, shares{0.25, 0.1}},
		"evaluations alone":         {[]told{{2, 1, 1, 0}, {100, 20, 80, 0}}, shares{}},
		"half of the passes, too":   {[]told{{2, 1, 1, 0}, {100, 20, 90, 15}}, shares{0.5, 0.75}},
		"one of an attachment anew": {[]told{{1, 500, 1, 1}}, shares{}},
		"more of it": {[]told{{50, 500, 10, 1}, {100, 540, 40, 5}},
			shares{0.5, 0.1}},
	} {
		m := meter{began: time.Now()}
		for _, r := range test.reports {
			m.forTrainer, m.forDisk = r.forTrainer*time.Second, r.forDisk*time.Second
			if err := m.report(said(r.passes*time.Second, 0),
				m.began.Add(r.after*time.Second)); err != nil {
				t.Fatal(err)
			}
		}
		if in := m.inPasses(); in != test.in {
			t.Errorf("%s: %+v, want %+v", name, in, test.in)
		}
	}
}

// only is the one stream that there is.
func (w *world) only(t *testing.T) *stream {
	t.Helper()
	w.server.mu.Lock()
	defer w.server.mu.Unlock()
	for s := range w.server.streams {
		return s
	}
	t.Fatal("there is no stream")
	return nil
}

// none waits until no feed is left.
func (w *world) none(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(patience); len(w.server.Feeds()) > 0; {
		if time.Now().After(deadline) {
			t.Fatal("feeds are left")
		}
	}
}

func TestReportsThatCannotBeEndTheFeed(t *testing.T) {
	w := newWorld(t, roomy)
	w.series(t, "d", 1000)
	for name, payload := range map[string][]byte{"short": said(1, 0)[:8],
		"long": append(said(1, 0), 0), "more wait than time": said(1, 2), "overflow": said(-1, 0)} {
		tr := w.attach(t, request("d"))
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
