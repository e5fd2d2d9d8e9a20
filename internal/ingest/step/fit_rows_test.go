package step

import "testing"

func TestFitRowsAreCutAsPythonCuts(t *testing.T) {
	p := func(v int64) *int64 { return &v }
	fit := func(a, b int64) *[2]*int64 { return &[2]*int64{&a, &b} }
	for _, c := range []struct {
		rows         *[2]*int64
		begin, until int64
	}{
		{nil, 100, 110}, {fit(0, 5), 100, 105}, {fit(2, 50), 102, 110}, {fit(-3, -1), 107, 109}, {fit(-50, 4), 100, 104},
		{&[2]*int64{nil, p(-2)}, 100, 108}, {&[2]*int64{p(3), nil}, 103, 110}, {fit(20, 30), 110, 110}, {fit(8, -5), 108, 108},
	} {
		if a, b := rowsOf(c.rows, 100, 110); a != c.begin || b != c.until {
			t.Errorf("%d to %d, want %d to %d", a, b, c.begin, c.until)
		}
	}
}
