package sampler_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/tensorcache/tensorcache/sampler"
)

func TestABatchSizeIsANumberOrNullInJSON(t *testing.T) {
	for text, want := range map[string]sampler.BatchSize{"32": 32, "0": 0, "-1": -1,
		"null":                 sampler.WholeGroups,
		"-9223372036854775808": math.MinInt64 + 1, // which is refused as a batch size
	} {
		var o sampler.Options
		if err := json.Unmarshal([]byte(`{"batch_size": `+text+`}`), &o); err != nil ||
			o.BatchSize != want {
			t.Errorf("%s is read as %s: %v", text, o.BatchSize, err)
		}
		if b, err := json.Marshal(want); text != "-9223372036854775808" &&
			(err != nil || string(b) != text) {
			t.Errorf("%s is written as %s: %v", want, b, err)
		}
	}
	var o sampler.Options
	var kind *json.UnmarshalTypeError
	if err := json.Unmarshal([]byte(`{"batch_size": "8"}`), &o); !errors.As(err, &kind) ||
		kind.Field != "batch_size" {
		t.Errorf("a text is read with %v, want an error that names the field", err)
	}
	if err := json.Unmarshal([]byte(`{}`), &o); err != nil || o.BatchSize != 0 {
		t.Errorf("without a batch size: %s, %v", o.BatchSize, err)
	}
}

func TestOnlyOrdersOfGroupsTakeWholeGroups(t *testing.T) {
	for _, order := range sampler.Orders() {
		o := sampler.Options{Order: order, BatchSize: sampler.WholeGroups}
		if o.Traits().Groups {
			if err := o.Validate(); err != nil {
				t.Errorf("%s: %v", order, err)
			}
			continue
		}
		var refused *sampler.OptionError
		if err := o.Validate(); !errors.As(err, &refused) || refused.Field != "batch_size" ||
			refused.Value != "null" || !strings.HasPrefix(refused.Allowed, "a whole number from 1") {
			t.Errorf("%s: %v", order, err)
		}
	}
}
