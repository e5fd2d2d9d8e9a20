package column

import "testing"

func TestNamesAreCountedAndPlaced(t *testing.T) {
	names := []string{"b", "a", "b", ""}
	for name, want := range map[string][2]int{"a": {1, 1}, "b": {0, 2}, "": {3, 1}} {
		if at, n := Places(names)[name], Counts(names)[name]; at != want[0] || n != want[1] {
			t.Errorf("%q is in place %d, %d times, want %v", name, at, n, want)
		}
	}
	if _, has := Places(names)["c"]; has || Counts(names)["c"] != 0 {
		t.Error("a name that is not there has a place or a count")
	}
}
