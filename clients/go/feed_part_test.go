package tensorcache

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tensorcache/tensorcache/window"
)

// checkNamed checks the parts of a batch that a feed requested by name.
func checkNamed[T Value](t *testing.T, b *Batch[T], want map[string]casePart) {
	t.Helper()
	got := map[string]casePart{}
	for name, w := range want {
		switch w.DType {
		case "float64":
			addPart(got, name, must(PartOf[float64](b, name))(t))
		case "int64":
			addPart(got, name, must(PartOf[int64](b, name))(t))
		case "bool":
			addPart(got, name, must(PartOf[bool](b, name))(t))
		default:
			addPart(got, name, must(PartOf[float32](b, name))(t))
		}
	}
	if !maps.EqualFunc(got, want, func(a, b casePart) bool { return fmt.Sprint(a) == fmt.Sprint(b) }) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	has := map[string]bool{
		"context": b.Context.Data != nil, "target": b.Target.Data != nil, "known": b.Known.Data != nil,
		"known_context": b.KnownContext.Data != nil, "known_target": b.KnownTarget.Data != nil,
		"static": b.Static.Data != nil, "observed": b.Observed.Data != nil,
		"target_observed": b.TargetObserved.Data != nil, "context_missing": b.ContextMissing.Data != nil,
		"target_missing": b.TargetMissing.Data != nil, "mask": b.Mask.Data != nil,
	}
	for name := range has {
		if _, asked := want[name]; has[name] != asked {
			t.Errorf("the field of %s is set: %t", name, has[name])
		}
	}
}

// namedParts are parts of the windows of putNamed.
var namedParts = []FeedPart{
	{Part: "context", Columns: []string{"v"}}, {Part: "observed", Columns: []string{"v"}},
	{Name: "category", Part: "context", Columns: []string{"shop"}, DType: "int64"}, {Part: "known_target"},
}

// putNamed returns windows of a dataset of ten rows: v is 0 to 9, of which 3 is filled, shop is 7 and
// price is ten times v.
func putNamed(t *testing.T) *Windows {
	t.Helper()
	c := sharedDaemon(t)
	v, shop, price := make([]float32, 10), make([]int32, 10), make([]float32, 10)
	for i := range v {
		v[i], shop[i], price[i] = float32(i), 7, float32(10*i)
	}
	v[3] = float32(math.NaN())
	d := must(c.Put(t.Context(), "named", []PutColumn{Values("v", v), Values("shop", shop), Values("price", price)},
		LoadOptions{Fill: map[string]any{"v": 3}}))(t)
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return must(d.Windows(t.Context(), window.Spec{ContextLength: 3, PredictionLength: 2,
		Columns: []string{"v", "shop"}, KnownColumns: []string{"price"}}))(t)
}

func TestAFeedHasThePartsThatItNames(t *testing.T) {
	w := putNamed(t)
	f := must(NewFeed[float32](t.Context(), w, FeedOptions{BatchSize: 4, Delivery: DeliverAuto, Parts: namedParts}))(t)
	if f.Delivery() != DeliverSlot {
		t.Errorf("auto is %s", f.Delivery())
	}
	var copied *Batch[float32]
	var last *Batch[float32]
	starts := int64(0)
	for b, err := range f.Epoch(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		for _, of := range []*Batch[float32]{b, b.Copy()} {
			category := must(PartOf[int64](of, "category"))(t)
			for i, start := range of.Start {
				s := float32(start)
				seen := []float32{zeroOrOne(start != 3), zeroOrOne(start != 2), zeroOrOne(start != 1)}
				if got, want := of.Context.Window(i), []float32{s, s + 1, s + 2}; !slices.Equal(got, want) {
					t.Errorf("context %v, want %v", got, want)
				}
				if got := of.Observed.Window(i); !slices.Equal(got, seen) {
					t.Errorf("observed %v of the window at %d, want %v", got, start, seen)
				}
				if got, want := of.KnownTarget.Window(i), []float32{10*s + 30, 10*s + 40}; !slices.Equal(got, want) {
					t.Errorf("known_target %v, want %v", got, want)
				}
				if got := category.Window(i); !slices.Equal(got, []int64{7, 7, 7}) {
					t.Errorf("category %v", got)
				}
			}
		}
		starts += int64(b.Len())
		copied, last = b.Copy(), b
	}
	if starts != w.Len() {
		t.Errorf("%d windows of %d", starts, w.Len())
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if got := must(PartOf[int64](copied, "category"))(t).Data; got[0] != 7 || copied.Len() != int(w.Len())%4 {
		t.Errorf("the copy has %v", got)
	}
	if _, err := PartOf[int64](last, "category"); !errors.Is(err, InvalidRequest) {
		t.Errorf("of a batch after the loop: %v", err)
	}
	p := must(w.Plan(t.Context(), &FeedOptions{BatchSize: 4, Parts: namedParts[:2]}))(t)
	if all := must(w.Plan(t.Context(), &FeedOptions{BatchSize: 4}))(t); p.BatchBytes >= all.BatchBytes {
		t.Errorf("a batch of two parts has %d bytes, of all %d", p.BatchBytes, all.BatchBytes)
	}
}

func zeroOrOne(is bool) float32 {
	if is {
		return 1
	}
	return 0
}

func TestPartsThatCannotBeDeliveredAreRefused(t *testing.T) {
	w := putNamed(t)
	for name, c := range map[string]struct {
		options FeedOptions
		field   string
		says    string
	}{
		"local": {FeedOptions{Delivery: DeliverLocal, Parts: namedParts}, "delivery",
			`delivery: got "local" with Parts, want "slot" or "auto"`},
		"starts": {FeedOptions{Delivery: DeliverStarts, Parts: namedParts}, "delivery", `got "starts" with Parts`},
		"the name of another part": {FeedOptions{Parts: []FeedPart{{Name: "target", Part: "context"}}}, "parts",
			`parts: got the name "target" for context; a field of Batch has that name`},
		"twice": {FeedOptions{Parts: []FeedPart{{Part: "known"}, {Part: "known"}}}, "parts",
			`parts: two parts have the name "known"`},
		"no column": {FeedOptions{Parts: []FeedPart{{Part: "context", Columns: []string{}}}}, "parts",
			"parts: context: `columns` is empty"},
		"an unknown part":   {FeedOptions{Parts: []FeedPart{{Part: "contxt"}}}, "parts", `parts: got "contxt"; near: context`},
		"an unknown column": {FeedOptions{Parts: []FeedPart{{Part: "observed", Columns: []string{"w"}}}}, "parts", `parts: observed has no column "w"`},
		"with Mask":         {FeedOptions{Mask: true, Parts: namedParts}, "mask", "mask: got true with parts"},
	} {
		c.options.BatchSize = 4
		_, err := NewFeed[float32](t.Context(), w, c.options)
		var e *Error
		if !errors.As(err, &e) || e.Type != InvalidSpec || e.Field != c.field || !strings.Contains(e.Detail, c.says) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	_, err := NewFeed[float32](t.Context(), w, FeedOptions{BatchSize: 4,
		Parts: []FeedPart{{Part: "context", DType: "float64"}}})
	if !errors.Is(err, ErrType) || !strings.Contains(fmt.Sprint(err), "give it a Name") {
		t.Errorf("context of another type: %v", err)
	}
}

func TestPartsAreFoundByNameAndType(t *testing.T) {
	f := must(NewFeed[float32](t.Context(), putNamed(t), FeedOptions{BatchSize: 4, Parts: namedParts}))(t)
	defer f.Close()
	for b, err := range f.Epoch(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		_, unknown := PartOf[float32](b, "contxt")
		_, of := PartOf[float32](b, "category")
		if !errors.Is(unknown, InvalidRequest) || !strings.Contains(fmt.Sprint(unknown), "category, context") ||
			!errors.Is(of, ErrType) {
			t.Errorf("got %v and %v", unknown, of)
		}
		break
	}
	all := must(NewFeed[float32](t.Context(), putNamed(t), FeedOptions{BatchSize: 4}))(t)
	defer all.Close()
	for b, err := range all.Epoch(t.Context()) {
		if _, of := PartOf[float32](b, "context"); !errors.Is(cmp.Or(err, of), InvalidRequest) {
			t.Errorf("without Parts: %v, %v", err, of)
		}
		break
	}
}
