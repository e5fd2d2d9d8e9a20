package load

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/layout"
)

// drawLines draws a table of columns with values of one type each, some of them missing, as JSON
// Lines. The keys of a row are in any order, with any white space and escapes.
func drawLines(r *rapid.T) string {
	seed := rapid.Uint64().Draw(r, "seed")
	random := rand.New(rand.NewPCG(seed, 0))
	space := func() string {
		return []string{"", "", "", " ", "\t ", "  \r"}[random.IntN(6)]
	}
	escape := func(s string) string {
		var b strings.Builder
		for _, c := range s {
			switch {
			case c < 0x10000 && random.IntN(5) == 0:
				fmt.Fprintf(&b, `\u%04x`, c)
			default:
				q, _ := json.Marshal(string(c))
				b.Write(q[1 : len(q)-1])
			}
		}
		return `"` + b.String() + `"`
	}
	allNames := []string{"a", "b", "c,\"d\"", "ö😀", "a long name: {\"x\"}", " ", "k"}
	names := allNames[:1+random.IntN(len(allNames))]
	kinds := make([]int, len(names))
	for i := range kinds {
		kinds[i] = random.IntN(5)
	}
	spaced, ordered := random.IntN(2) == 0, random.IntN(2) == 0
	var b strings.Builder
	if random.IntN(4) == 0 {
		b.WriteString("\ufeff")
	}
	for range rapid.IntRange(1, 50).Draw(r, "rows") {
		order := random.Perm(len(names))
		if ordered {
			slices.Sort(order)
		}
		var cells []string
		for _, c := range order {
			text := "null"
			switch kind := kinds[c]; {
			case kind != 2 && random.IntN(20) == 0:
				if random.IntN(2) == 0 {
					continue
				}
			case kind == 0:
				text = strconv.FormatInt(random.Int64()>>random.IntN(64)-int64(random.IntN(2)), 10)
			case kind == 1:
				text = []string{
					strconv.FormatFloat(random.NormFloat64(), 'f', random.IntN(20), 64),
					strconv.FormatFloat(random.NormFloat64()*1e20, 'e', random.IntN(20), 64),
					strconv.Itoa(random.IntN(100)), "-0", "0.0", "1E-3", "123456789012345678901.5",
				}[random.IntN(7)]
			case kind == 2:
				text = []string{"false", "true"}[random.IntN(2)]
			default:
				text = escape([]string{"", "x", "ä", "😀😀", "tab\t\"quoted\"\\", "2016-07-01", "7",
					"a text of more than eight bytes", "\u2028\x7f"}[random.IntN(9)])
			}
			key, _ := json.Marshal(names[c])
			cell := string(key) + ":" + text
			if spaced {
				cell = space() + escape(names[c]) + space() + ":" + space() + text + space()
			}
			cells = append(cells, cell)
		}
		end := []string{"\n", "\r\n", "\n\n", " \n"}[random.IntN(4)]
		fmt.Fprintf(&b, "{%s}%s", strings.Join(cells, ","), end)
	}
	if random.IntN(3) == 0 {
		return strings.TrimRight(b.String(), "\r\n ")
	}
	return b.String()
}

// valueText returns a value in the format of loadtest.Texts, as a dtype.
func valueText(v any, d layout.DType) string {
	switch v := v.(type) {
	case json.Number:
		if d == layout.Int64 {
			i, _ := strconv.ParseInt(string(v), 10, 64)
			return strconv.FormatInt(i, 10)
		}
		f, _ := strconv.ParseFloat(string(v), 64)
		return loadtest.FloatText(f)
	case bool:
		return map[bool]string{true: "1", false: "0"}[v]
	case string:
		return v
	}
	if d == layout.Text {
		return missingText
	}
	return "nan"
}

// TestJSONLinesEqualEncodingJSON loads random tables, and compares every value with the one that
// encoding/json and strconv read.
func TestJSONLinesEqualEncodingJSON(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		text := drawLines(r)
		var decoded []map[string]any // checks the text that the test writes
		for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
			if strings.TrimSpace(line) == "" {
				continue
			}
			row := map[string]any{}
			decoder := json.NewDecoder(strings.NewReader(line))
			decoder.UseNumber()
			if err := decoder.Decode(&row); err != nil {
				r.Fatalf("%v: %q", err, line)
			}
			decoded = append(decoded, row)
		}
		keys := map[string]bool{}
		for _, row := range decoded {
			for k := range row {
				keys[k] = true
			}
		}
		if len(keys) == 0 {
			return
		}
		layouts := rapid.SampledFrom([]string{"", layout.Packed})
		o := option.Options{Layout: layouts.Draw(r, "layout")}
		l := loadLines(t, text, o, rapid.Int64Range(1, 400).Draw(r, "block"))
		defer l.Close()
		if len(l.Manifest.Columns) != len(keys) || int(l.Manifest.Rows) != len(decoded) {
			r.Fatalf("%d columns and %d rows, want %d and %d", len(l.Manifest.Columns),
				l.Manifest.Rows, len(keys), len(decoded))
		}
		for _, c := range l.Manifest.Columns {
			got := cellsOf(l, c.Name)
			for i, row := range decoded {
				if want := valueText(row[c.Name], c.DType); got[i] != want {
					r.Fatalf("column %q (%s), row %d: %q, want %q\n%s", c.Name, c.DType, i+1,
						got[i], want, text)
				}
			}
		}
	})
}

// FuzzJSONLines loads any text. A load that succeeds has the rows of encoding/json.
func FuzzJSONLines(f *testing.F) {
	f.Add(`{"a":1,"b":"x"}`+"\n"+`{"b":null,"a":2.5}`, int64(3))
	f.Add("\ufeff{\"a\":true}\r\n\r\n{\"a\":false}\n", int64(5))
	f.Add(`{"a":"ä","a":1}`, int64(100))
	f.Add(`{"a":1}`+"\n"+`{"a":1,`, int64(100))
	f.Fuzz(func(t *testing.T, text string, block int64) {
		path := filepath.Join(t.TempDir(), "x.jsonl")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, dir, err := loadInBlocks(t, option.Options{Sources: []string{path}}, 1+(block&0xff))
		if err != nil {
			if !strings.Contains(err.Error(), "x.jsonl") {
				t.Errorf("the message does not name the file: %v", err)
			}
			return
		}
		rows := int64(0)
		for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
			if strings.Trim(line, " \t\r\n") == "" {
				continue
			}
			rows++
			var row map[string]any
			if err := json.Unmarshal([]byte(line), &row); err != nil {
				t.Fatalf("loaded, but encoding/json returns %v for %q", err, line)
			}
		}
		if l := loadtest.OpenDir(t, dir); l.Manifest.Rows != rows {
			t.Errorf("%d rows, want %d", l.Manifest.Rows, rows)
		}
	})
}
