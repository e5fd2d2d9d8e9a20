package layout

import (
	"encoding/json"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// TestLiteralsKeepWholeNumbers reads whole numbers near powers of two, and holds them against numbers of any size.
func TestLiteralsKeepWholeNumbers(t *testing.T) {
	draw := rapid.Custom(func(r *rapid.T) *big.Int {
		n := new(big.Int).Lsh(big.NewInt(1), rapid.SampledFrom([]uint{0, 52, 53, 54, 60, 62, 63, 64}).Draw(r, "power"))
		n.Add(n, big.NewInt(rapid.Int64Range(-3000, 3000).Draw(r, "off")))
		if rapid.Bool().Draw(r, "negative") {
			n.Neg(n)
		}
		return n
	})
	rapid.Check(t, func(r *rapid.T) {
		m, n := draw.Draw(r, "m"), draw.Draw(r, "n")
		var x, y Literal
		for to, text := range map[*Literal]string{&x: m.String(), &y: n.String()} {
			if err := json.Unmarshal([]byte(text), to); err != nil {
				r.Fatal(err)
			}
		}
		near, _ := new(big.Float).SetInt(m).Float64()
		if x.Float != near {
			r.Errorf("%s is near %v, want %v", m, x.Float, near)
		}
		if m.IsInt64() || m.IsUint64() {
			if b, err := json.Marshal(x); err != nil || string(b) != m.String() || x.String() != m.String() {
				r.Errorf("%s is written as %s, %s (%v)", m, b, x, err)
			}
			if i, ok := x.Int64(); ok != m.IsInt64() || ok && i != m.Int64() {
				r.Errorf("%s is %d of int64 (%v)", m, i, ok)
			}
			if u, ok := x.Uint64(); ok != m.IsUint64() || ok && u != m.Uint64() {
				r.Errorf("%s is %d of uint64 (%v)", m, u, ok)
			}
			if n.IsInt64() || n.IsUint64() {
				if got := x.Cmp(y); got != m.Cmp(n) {
					r.Errorf("%s compares to %s as %d", m, n, got)
				}
			}
		}
		if x.Whole == 0 {
			var again Literal
			if b, _ := json.Marshal(x); json.Unmarshal(b, &again) != nil || again != x {
				r.Errorf("%v comes back as %v from %s", x, again, b)
			}
		}
	})
}

func TestLiteralsThatAreFloats(t *testing.T) {
	for text, is := range map[string]bool{
		"0.1": true, "1e300": true, "9007199254740992": true, "9007199254740993": false, "-9223372036854775807": false,
		"1152921504606846976": true, "1152921504606847000": true, "1152921504606847001": false, "18446744073709551616": true,
	} {
		l, err := ParseLiteral(text)
		if err != nil || l.IsFloat() != is {
			t.Errorf("%s: %v %v", text, l, err)
		}
	}
	if l, err := ParseLiteral("1e18"); err != nil || l != LiteralOf(1e18) {
		t.Error(l, err)
	}
	for _, text := range []string{"", "x", "nan", "inf", "1e400", "--1"} {
		if l, err := ParseLiteral(text); err == nil {
			t.Errorf("%q is read as %v", text, l)
		}
	}
	var l Literal
	if err := json.Unmarshal([]byte("null"), &l); err != nil || !math.IsNaN(l.Float) {
		t.Error(l, err)
	}
	if b, err := json.Marshal(Literals{l, LiteralOf(0.5)}); err != nil || string(b) != "[null,0.5]" {
		t.Errorf("%s %v", b, err)
	}
}
