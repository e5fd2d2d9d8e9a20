package tensorcache

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tensorcache/tensorcache/window"
)

func TestConformance(t *testing.T) {
	files := must(filepath.Glob("../../testdata/conformance/*.json"))(t)
	if len(files) < 10 {
		t.Fatalf("only %d files", len(files))
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			var s conformanceCase
			if err := json.Unmarshal(must(os.ReadFile(file))(t), &s); err != nil {
				t.Fatal(err)
			}
			c := sharedDaemon(t)
			d := must(c.Put(t.Context(), "conformance", s.columns(t), s.Dataset.Options))(t)
			defer d.Close()
			for _, asked := range s.Windows {
				spec := must(window.ParseSpec(asked.Spec))(t)
				w := must(d.Windows(t.Context(), spec))(t)
				for _, cut := range asked.Cuts {
					w = must(cut.apply(t.Context(), w))(t)
				}
				if w.Len() != asked.Plan.Windows || w.Positions() != asked.Plan.Positions ||
					!maps.Equal(w.Rejected(), asked.Plan.Rejected) {
					t.Errorf("%s: %d of %d, %v, want %+v", asked.Spec, w.Len(), w.Positions(),
						w.Rejected(), asked.Plan)
				}
				for _, at := range asked.At {
					checkAt(t, w, at.Numbers, at.Parts)
				}
				for _, feed := range asked.Feeds {
					checkFeed(t, w, feed)
				}
			}
			for _, bad := range s.Errors {
				checkError(t, c, d, bad)
			}
			for _, one := range s.Inverse {
				checkInverse(t, d, one.Column, one.Values)
			}
		})
	}
}

func checkAt(t *testing.T, w *Windows, numbers []int64, want map[string]casePart) {
	t.Helper()
	switch want["context"].DType {
	case "float64":
		checkParts(t, must(At[float64](t.Context(), w, numbers...))(t), want)
	case "int32":
		checkParts(t, must(At[int32](t.Context(), w, numbers...))(t), want)
	case "int64":
		checkParts(t, must(At[int64](t.Context(), w, numbers...))(t), want)
	default:
		checkParts(t, must(At[float32](t.Context(), w, numbers...))(t), want)
	}
}

func checkFeed(t *testing.T, w *Windows, s caseFeed) {
	t.Helper()
	switch s.Ranks[0][0].Parts["context"].DType {
	case "float64":
		checkRanks[float64](t, w, s)
	case "int32":
		checkRanks[int32](t, w, s)
	case "int64":
		checkRanks[int64](t, w, s)
	default:
		checkRanks[float32](t, w, s)
	}
}

func checkRanks[T Value](t *testing.T, w *Windows, s caseFeed) {
	t.Helper()
	deliveries := []string{DeliverSlot, DeliverLocal, DeliverStarts, DeliverAuto}
	if s.Parts != nil {
		deliveries = []string{DeliverSlot, DeliverAuto}
	}
	if s.View {
		deliveries = append(deliveries, DeliverView)
	}
	for _, delivery := range deliveries {
		checkDelivery[T](t, w, s, delivery)
	}
}

func checkDelivery[T Value](t *testing.T, w *Windows, s caseFeed, delivery string) {
	t.Helper()
	for rank, batches := range s.Ranks {
		o := s.Options.feed()
		o.ChannelsFirst, o.Mask, o.Rank, o.Delivery = s.ChannelsFirst, s.Mask, int64(rank), delivery
		o.Parts = s.Parts
		f := must(NewFeed[T](t.Context(), w, o))(t)
		state := f.State()
		state.Epoch, state.Consumed = s.Epoch, s.Consumed
		if err := f.LoadState(state); err != nil {
			t.Fatal(err)
		}
		length := cmp.Or(s.Options.PassBatches, int64(len(batches)))
		if (s.Consumed == 0 || s.Options.PassBatches > 0) && f.Len() != length {
			t.Errorf("%+v: %d batches, want %d", o, f.Len(), length)
		}
		n := 0
		for b, err := range f.Epoch(t.Context()) {
			if err != nil || n == len(batches) {
				t.Fatalf("%+v: batch %d of %d: %v", o, n, len(batches), err)
			}
			if at := f.State(); [2]uint64{at.Epoch, uint64(at.Consumed)} != batches[n].State {
				t.Errorf("%+v: batch %d: state %+v, want %v", o, n, at, batches[n].State)
			}
			want := batches[n].Parts
			if delivery == DeliverStarts {
				want = maps.Clone(want)
				maps.DeleteFunc(want,
					func(name string,
						_ casePart) bool {
						return !slices.Contains(partsOfStarts, name)
					})
			}
			if s.Parts != nil {
				checkNamed(t, b, want)
			} else {
				checkParts(t, b, want)
			}
			n++
		}
		if n != len(batches) {
			t.Errorf("%+v: %d batches, want %d", o, n, len(batches))
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

// partsOfStarts are the parts of a batch by DeliverStarts.
var partsOfStarts = []string{"item", "start", "times", "mask", "reset"}

// checkParts checks that a batch has the wanted parts, and no others.
func checkParts[T Value](t *testing.T, b *Batch[T], want map[string]casePart) {
	t.Helper()
	got := map[string]casePart{}
	addPart(got, "context", b.Context)
	addPart(got, "target", b.Target)
	addPart(got, "known", b.Known)
	addPart(got, "static", b.Static)
	addPart(got, "mask", b.Mask)
	addPart(got, "context_missing", b.ContextMissing)
	addPart(got, "target_missing", b.TargetMissing)
	addPart(got, "item", Part[int64]{Data: b.ItemCode, Shape: []int{len(b.ItemCode)}})
	addPart(got, "start", Part[int64]{Data: b.Start, Shape: []int{len(b.Start)}})
	addPart(got, "reset", Part[bool]{Data: b.Reset, Shape: []int{len(b.Reset)}})
	times := must(b.Times())(t)
	addPart(got, "times", Part[int64]{Data: times, Shape: []int{len(times)}})
	for name := range want {
		if g, w := got[name], want[name]; g.DType != w.DType || g.SHA256 != w.SHA256 ||
			!slices.Equal(g.Shape, w.Shape) {
			t.Errorf("%s: got %+v, want %+v", name, g, w)
		}
		delete(got, name)
	}
	for name := range got {
		t.Errorf("%s is there, which was not asked for", name)
	}
}

func addPart[T Value](parts map[string]casePart, name string, p Part[T]) {
	if p.Data == nil {
		return
	}
	data := copyPart(p).Data // never the mapped file, which is read-only
	for i := range data {
		switch v := any(&data[i]).(type) {
		case *float32:
			if *v != *v {
				*v = math.Float32frombits(0x7fc00000)
			}
		case *float64:
			if *v != *v {
				*v = math.Float64frombits(0x7ff8 << 48)
			}
		}
	}
	sum := sha256.Sum256(bytesOfValues(data))
	parts[name] = casePart{string(dtypeOf[T]()), p.Shape, hex.EncodeToString(sum[:8])}
}

func checkError(t *testing.T, c *Cache, d *Dataset, bad caseError) {
	t.Helper()
	err := bad.ask(t.Context(), c, d)
	var e *Error
	if !errors.As(err, &e) || e.Type != bad.Type || bad.Field != "" && e.Field != bad.Field {
		t.Errorf("%s %s%s: got %#v, want type %s, field %q", bad.Ask, bad.Name, bad.Spec, err,
			bad.Type, bad.Field)
	}
}

func (bad caseError) ask(ctx context.Context, c *Cache, d *Dataset) error {
	switch bad.Ask {
	case "dataset":
		return errorOf(c.Dataset(ctx, bad.Name))
	case "column":
		return errorOf(Column[float32](d, bad.Name))
	case "item":
		return errorOf(d.ItemCode(bad.Item))
	}
	spec, err := window.ParseSpec(bad.Spec)
	if err != nil {
		return clientError(err) // the error of Windows for such a spec
	}
	w, err := d.Windows(ctx, spec)
	if err != nil {
		return err
	}
	switch bad.Ask {
	case "where":
		return errorOf(w.Where(ctx, bad.Where.where(nil)))
	case "split":
		s, err := bad.Split.split()
		if err != nil {
			return err
		}
		return errorOf(w.Split(ctx, s))
	}
	f, err := NewFeed[float32](ctx, w, bad.Options.feed())
	if err != nil {
		return err
	}
	defer f.Close()
	state := f.State()
	if err := json.Unmarshal(bad.State, &state); err != nil {
		return err
	}
	return f.LoadState(state)
}

func checkInverse(t *testing.T, d *Dataset, column string, want []*float64) {
	t.Helper()
	stored := must(Column[float32](d, column))(t)
	codes := make([]int64, len(stored))
	for code := range d.Items() {
		for from, to := d.ItemRows(code); from < to; from++ {
			codes[from] = code
		}
	}
	undone := must(
		Inverse(d, []string{column}, Part[float32]{Data: stored, Shape: []int{len(stored), 1}},
			InverseOptions{ItemCodes: codes}))(t)
	for i, v := range want {
		if got := undone.Data[i]; v == nil && got == got || v != nil &&
			!(math.Abs(got-*v) <= 1e-4+1e-4*math.Abs(*v)) {
			t.Fatalf("%s, row %d: got %v, want %v", column, i, got, v)
		}
	}
	for code := range d.Items() { // item by item, by its value
		from, to := d.ItemRows(code)
		part := make([]float64, 0, to-from)
		for _, v := range stored[from:to] {
			part = append(part, float64(v))
		}
		alone := must(d.Inverse(column, part, must(d.Item(code))(t)))(t)
		if !slices.Equal(alone, undone.Data[from:to]) {
			t.Errorf("%s, item %d: %v, want %v", column, code, alone, undone.Data[from:to])
		}
	}
	if _, err := d.Inverse(column, make([]float64, 3), nil); !errors.Is(err, InvalidSpec) {
		t.Errorf("%s without an item: %v", column, err)
	}
}
