package sampler_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tensorcache/tensorcache/sampler"
)

func TestOrdersAreListedOnce(t *testing.T) {
	want := []string{sampler.Sequential, sampler.Shuffle, sampler.Bootstrap, sampler.RandomStart,
		sampler.Lanes, sampler.CrossSection, sampler.CrossSectionSequential}
	if got := sampler.Orders(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	_, err := sampler.New(list{}, sampler.Options{BatchSize: 1, Order: "random"})
	const message = `order: got "random", want sequential, shuffle, bootstrap, random_start, ` +
		`lanes, cross_section or cross_section_sequential`
	if err == nil || err.Error() != message {
		t.Errorf("%v, want %s", err, message)
	}
	if got, want := (sampler.Options{}).Traits(),
		(sampler.Options{Order: "sequential"}).Traits(); got != want {
		t.Errorf("without an order: %+v, want those of sequential: %+v", got, want)
	}
	if got := (sampler.Options{Order: "random"}).Traits(); got != (sampler.Traits{}) {
		t.Errorf("of an unknown order: %+v, want none", got)
	}
}

// TestTraitsAreTrueOfEveryEpoch reads epochs batch by batch and compares them with the traits of
// their order.
func TestTraitsAreTrueOfEveryEpoch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawList(t)
		o := drawOptions(t, x)
		o.NumReplicas, o.Tail = 1, "short"
		s := everyRank(t, x, o)[0]
		traits := o.Traits()
		epoch := rapid.Uint64Range(0, 9).Draw(t, "epoch")
		if total := s.Total(epoch); !traits.VariableLength && total != s.Total(epoch+1) {
			t.Fatalf("%s: epochs of %d and %d entries", o.Order, total, s.Total(epoch+1))
		}
		var b sampler.Batch
		last := int64(-1)
		for consumed := int64(0); consumed < s.Total(epoch); consumed = b.Next {
			if err := s.Batch(&b, epoch, consumed); err != nil {
				t.Fatal(err)
			}
			if resets := len(b.Reset) > 0; resets != traits.Resets {
				t.Fatalf("%s: resets %v", o.Order, b.Reset)
			}
			if blocks := b.Next-consumed == 1; traits.Blocks && !blocks || !traits.Blocks &&
				b.Next-consumed != int64(len(b.Windows)) {
				t.Fatalf("%s: %d windows from entry %d to %d", o.Order, len(b.Windows),
					consumed, b.Next)
			}
			if traits.Ascending && b.Windows[0] != last+1 {
				t.Fatalf("%s: window %d after %d", o.Order, b.Windows[0], last)
			}
			last = b.Windows[len(b.Windows)-1]
			for i, w := range b.Windows {
				if traits.Consecutive && w != b.Windows[0]+int64(i) {
					t.Fatalf("%s: a batch of windows %v", o.Order, b.Windows)
				}
			}
		}
	})
}
