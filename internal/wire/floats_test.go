package wire

import (
	"encoding/json"
	"testing"
)

func TestExactFloatsKeepTheirDigits(t *testing.T) {
	big := 0x1p60
	for _, c := range []struct {
		value any
		want  string
	}{
		{big, "1.152921504606847e+18"},
		{&big, "1.152921504606847e+18"},
		{float32(big), "1.152921504606847e+18"},
		{[2]*float64{nil, &big}, "[null,1.152921504606847e+18]"},
		{map[string]float64{"a": -big, "*": 0.5}, `{"*":0.5,"a":-1.152921504606847e+18}`},
		{map[string]any{"a": []any{big, "mean", nil}}, `{"a":[1.152921504606847e+18,"mean",null]}`},
		{uint64(1<<64 - 1), "18446744073709551615"},
		{json.Number("9007199254740993"), "9007199254740993"},
		{map[string]any(nil), "null"},
		{(*float64)(nil), "null"},
		{nil, "null"},
	} {
		if b, err := json.Marshal(ExactFloats(c.value)); err != nil || string(b) != c.want {
			t.Errorf("%v gives %s (%v), want %s", c.value, b, err, c.want)
		}
	}
}
