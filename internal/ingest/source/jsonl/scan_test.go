package jsonl

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// scanned is a key and a value of a row; text is the decoded text of a value that is one.
type scanned struct {
	key, text, raw string
	kind           kind
}

// scanLine scans a line as a row.
func scanLine(line string) (out []scanned, bad *fault) {
	buf := append([]byte(line+"\n"), make([]byte, pad)...)
	next, bad := scanRow(buf, 0, func(key []byte, v value) *fault {
		s := scanned{key: string(key), raw: string(v.raw), kind: v.kind}
		if v.kind == text {
			b, _, ok := v.decoded(nil)
			if !ok {
				return faultSurrogate()
			}
			s.text = string(b)
		}
		out = append(out, s)
		return nil
	})
	if bad == nil && next != len(line)+1 {
		bad = &fault{reason: "the row does not end with the line"}
	}
	return out, bad
}

// hasLoneSurrogate reports whether a JSON text has an escape that encoding/json replaces.
func hasLoneSurrogate(line string) bool {
	without := strings.NewReplacer(`\\`, "").Replace(line)
	var decoded any
	if json.Unmarshal([]byte(without), &decoded) != nil {
		return true
	}
	again, err := json.Marshal(decoded)
	return err != nil || bytes.Contains(again, []byte("\ufffd")) ||
		bytes.Contains(again, []byte(`\ufffd`))
}

// expectedOf scans a line with encoding/json.
func expectedOf(line string) (out []scanned, ok bool) {
	d := json.NewDecoder(strings.NewReader(line))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, false
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, false
		}
		var raw json.RawMessage
		if d.Decode(&raw) != nil {
			return nil, false
		}
		s := scanned{key: key.(string), raw: string(raw)}
		switch raw[0] {
		case '{':
			s.kind = object
		case '[':
			s.kind = array
		case '"':
			s.kind, s.raw = text, string(raw[1:len(raw)-1])
			if json.Unmarshal(raw, &s.text) != nil {
				return nil, false
			}
		case 't', 'f':
			s.kind = boolean
		case 'n':
			s.kind = null
		default:
			s.kind = integer
			if bytes.ContainsAny(raw, ".eE") {
				s.kind = decimal
			}
		}
		out = append(out, s)
	}
	return out, true
}

// FuzzRow compares scanRow with encoding/json, which also accepts texts that are not UTF-8 and
// halves of surrogate pairs.
func FuzzRow(f *testing.F) {
	for _, line := range []string{
		`{"a":1,"b":-0.5e+3,"c":"x","d":true,"e":null}`, ` { "a" : "\u00e4\n\"\\\/" } `, `{}`,
		`{"n":{"a":[1,{"b":[]},{}],"c":""},"x":[[],[0]]}`, `{"\u0061":"\ud83d\ude00"}`,
		`{"a":"\ud83d"}`, `{"a":01}`, `{"a":1.}`, `{"a":-}`, `{"a":.5}`, `{"a":+1}`, `{"a":1e}`,
		`{"a":NaN}`, `{"a":tru}`, `{"a":1,}`, `{"a":1}{"a":2}`, `{"a":[1,]}`, `{"a":{"b"}}`,
		`{"a":"` + "\xff" + `"}`, `{"a":"` + "\t" + `"}`, `[1]`, `{"a" 1}`, `{'a':1}`, `{"a":1`,
		`{"a":"x`, `{"a":"\x"}`, `{"a":"\u12"}`, "{\"a\":\"0123456ä\"}", `{"a":[}`, `{"a":{]}`, "",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if strings.Contains(line, "\n") ||
			strings.Count(line, "[")+strings.Count(line, "{") >= maxDepth {
			t.Skip()
		}
		got, bad := scanLine(line)
		want, ok := expectedOf(line)
		ok = ok && json.Valid([]byte(line)) && utf8.ValidString(line)
		if bad != nil {
			if bad.reason == "" || bad.hint == "" {
				t.Errorf("%q: %+v has no reason or no hint", line, bad)
			}
			if ok && !hasLoneSurrogate(line) {
				t.Errorf("%q is refused: %+v", line, bad)
			}
			return
		}
		if !ok {
			t.Fatalf("%q is accepted", line)
		}
		if len(got) != len(want) {
			t.Fatalf("%q has %d values, want %d", line, len(got), len(want))
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%q, value %d: %+v, want %+v", line, i, got[i], want[i])
			}
		}
	})
}

func TestNestedValuesAreScannedToTheirEnd(t *testing.T) {
	deep := strings.Repeat("[", maxDepth-1) + strings.Repeat("]", maxDepth-1)
	got, bad := scanLine(`{"a":` + deep + `,"b":1}`)
	if bad != nil || len(got) != 2 || got[1].raw != "1" {
		t.Errorf("%v %v", got, bad)
	}
	if _, bad := scanLine(`{"a":` + strings.Repeat("[", 1<<20)); bad == nil ||
		!strings.Contains(bad.reason, "too deeply") {
		t.Errorf("%+v", bad)
	}
}

// TestScanningAllocatesNothing scans and compares rows as a worker does.
func TestScanningAllocatesNothing(t *testing.T) {
	buf := append([]byte(`{"a":1,"b":"text","c":[1,{"d":"\n"}]}`+"\n"), make([]byte, pad)...)
	n := testing.AllocsPerRun(100, func() {
		i, first := 0, true
		for {
			_, at, done, bad := keyAt(buf, i, first)
			if done {
				return
			}
			if bad == nil {
				_, i, bad = scanValue(buf, at)
			}
			if bad != nil {
				panic(bad.reason)
			}
			first = false
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestRowsAreCountedWhereverBlocksBegin(t *testing.T) {
	text := "{\"a\":1}\n\n \t\r\n{\"a\":2}\r\n   {\"a\":3}\n\n{\"a\":4}  "
	for size := 1; size <= len(text)+1; size++ {
		rows, partial := int64(0), false
		for at := 0; at < len(text); at += size {
			block := text[at:min(len(text), at+size)]
			c := countBlock([]byte(block), int64(at))
			partial = partial || c.head
			if c.feeds == 0 {
				continue
			}
			if rows += c.rows; partial {
				rows++
			}
			partial = c.tail
			if n := int64(strings.Count(block, "\n")); c.feeds != n ||
				c.last != int64(at+strings.LastIndexByte(block, '\n')+1) {
				t.Fatalf("size %d, block at %d: %+v", size, at, c)
			}
		}
		if partial {
			rows++
		}
		if rows != 4 {
			t.Errorf("blocks of %d: %d rows", size, rows)
		}
	}
}
