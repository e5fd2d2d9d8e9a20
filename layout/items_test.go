package layout

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"

	"github.com/cespare/xxhash/v2"
	"pgregory.net/rapid"
)

// unescapedJSON returns the JSON of encoding/json without HTML escapes.
func unescapedJSON(t rapid.TB, value any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		t.Fatal(err)
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

func TestAppendJSONTextEqualsEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Random bytes, and characters that encoding/json escapes or replaces.
		pieces := rapid.SliceOf(rapid.OneOf(
			rapid.SampledFrom([]string{"\u2028", "\u2029", "\u2027", "\u202a", "\x7f", "\\", `"`,
				"\b\f\n\r\t", "\x00", "\x1f", "<&>", "ü", "\ufffd", "😀", "\xed\xa0\x80",
				"\xe2\x80"}),
			rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()),
				func(b []byte) string { return string(b) }))).Draw(t, "pieces")
		s := ""
		for _, p := range pieces {
			s += p
		}
		want := "x" + unescapedJSON(t, s)
		if got := string(AppendJSONText([]byte("x"), s)); got != want {
			t.Fatalf("%q: got %s, want %s", s, got, want)
		}
		if got := string(AppendJSONText([]byte("x"), []byte(s))); got != want {
			t.Fatalf("%q as bytes: got %s, want %s", s, got, want)
		}
	})
}

func TestItemNamesEqualEncodingJSON(t *testing.T) {
	texts := []string{"", "AT&T <ü>", "a\u2028\"", "-7"}
	ints := []int64{-7, math.MaxInt64, math.MinInt64, 0}
	for _, items := range []Items{
		{Values: []ItemValues{{Name: "i", Ints: ints}}},
		{Values: []ItemValues{{Name: "s", Texts: texts}}},
		{Values: []ItemValues{{Name: "s", Texts: texts}, {Name: "i", Ints: ints},
			{Name: "u", Texts: texts}}},
		{},
	} {
		items.Offsets = []int64{0, 1, 3, 4, 5}
		if items.Values == nil {
			items.Offsets = []int64{0, 5}
		}
		d := withItems(t, items)
		names, err := d.ItemNames()
		if err != nil || names.Len() != int64(len(items.Offsets)-1) {
			t.Fatalf("%d names, %v", names.Len(), err)
		}
		for code := range names.Len() {
			values, err := d.Item(code)
			if err != nil {
				t.Fatal(err)
			}
			want := "null"
			switch len(values) {
			case 0:
			case 1:
				want = unescapedJSON(t, values[0])
			default:
				want = unescapedJSON(t, values)
			}
			if got := string(names.AppendJSON(nil, code)); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			if names.Hash(code) != xxhash.Sum64String(want) {
				t.Errorf("%s: the hash is not that of its JSON", want)
			}
		}
		buffer := make([]byte, 0, 100)
		if n := testing.AllocsPerRun(100,
			func() { buffer = names.AppendJSON(buffer[:0], 0); _ = names.Hash(0) }); n != 0 {
			t.Errorf("%v allocations an item", n)
		}
	}
}

// withItems writes and opens a generation of one column with the given items.
func withItems(t *testing.T, items Items) *Data {
	t.Helper()
	dir := t.TempDir()
	w, err := Create(dir, Table{Rows: items.Offsets[len(items.Offsets)-1],
		Columns: []Column{{Name: "x", Role: RoleValue, DType: Int8}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Finish(Final{Items: items}); err != nil {
		t.Fatal(err)
	}
	return open(t, dir)
}
