package plan

import "testing"

func TestAnItemIsHashedByItsPlainJSON(t *testing.T) {
	for value, want := range map[any]string{"AT&T <ü>": `"AT&T <ü>"`, int64(-7): "-7"} {
		if got, err := canonical(value); err != nil || got != want {
			t.Errorf("got %s (%v), want %s", got, err, want)
		}
	}
	if got, err := canonical([]any{"a", int64(1)}); err != nil || got != `["a",1]` {
		t.Errorf("got %s (%v)", got, err)
	}
}
