package wire

import "testing"

func TestCommonProtocolIsTheNewestOfBoth(t *testing.T) {
	for _, c := range []struct {
		a, b Protocols
		want int // 0 for none
	}{
		{Protocols{1, 1}, Protocols{1, 1}, 1},
		{Protocols{1, 0}, Protocols{1, 1}, 1}, // without a least version
		{Protocols{3, 1}, Protocols{1, 1}, 1},
		{Protocols{3, 1}, Protocols{5, 2}, 3},
		{Protocols{3, 3}, Protocols{5, 2}, 3},
		{Protocols{3, 2}, Protocols{1, 1}, 0},
		{Protocols{3, 0}, Protocols{1, 0}, 0},
		{Protocols{0, 0}, Protocols{1, 1}, 0}, // names none
		{Protocols{1, 2}, Protocols{1, 1}, 0}, // speaks none
		{Protocols{-1, -5}, Protocols{1, -5}, 0},
	} {
		for _, p := range [][2]Protocols{{c.a, c.b}, {c.b, c.a}} {
			got, ok := p[0].Common(p[1])
			if ok != (c.want != 0) || got != c.want {
				t.Errorf("%v and %v have %d (%t) in common, want %d", p[0], p[1], got, ok, c.want)
			}
		}
	}
}

func TestProtocolsAreNamedInMessages(t *testing.T) {
	for p, want := range map[Protocols]string{
		{2, 2}: "protocol 2", {2, 0}: "protocol 2", {3, 1}: "protocols 1 to 3",
	} {
		if got := p.Describe(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
