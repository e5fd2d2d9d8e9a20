package charset

import (
	"strings"
	"unicode/utf8"
)

// MayBeCP1252 reports whether bytes that are not UTF-8 may be text in cp1252. Other encodings have
// bytes that cp1252 does not define, symbols or capital letters within words, or more often two or more
// bytes beyond ASCII in a row than one. Encodings that differ from cp1252 in some letters only, such as
// cp1250, cannot be told from it.
func MayBeCP1252(b []byte) bool {
	var t cp1252Text
	t.add(b)
	return t.end()
}

// cp1252Text looks at a text in pieces. The zero value has seen nothing.
type cp1252Text struct {
	before         byte    // the last byte of ASCII
	run            [4]byte // the first bytes beyond ASCII after it
	length         int     // of the run
	single, double int     // runs of one and two bytes
	other          bool    // the text is in another encoding
}

// add adds the next bytes.
func (t *cp1252Text) add(b []byte) {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			t.run[min(t.length, len(t.run)-1)] = c
			t.length++
			continue
		}
		if t.length > 0 {
			t.endRun(c)
		}
		t.before = c
		t.other = t.other || c == 0
	}
}

// end ends the text, and reports whether it may be cp1252.
func (t *cp1252Text) end() bool {
	if t.length > 0 {
		t.endRun('\n')
	}
	return !t.other && t.single > t.double
}

// endRun ends a run of bytes beyond ASCII. after is the byte after it.
func (t *cp1252Text) endRun(after byte) {
	const undefined = "\x81\x8d\x8f\x90\x9d"
	run := string(t.run[:min(t.length, len(t.run))])
	t.other = t.other || containsByte(run, undefined)
	switch t.length {
	case 1:
		t.single++
		t.other = t.other || !fitsIn(t.before, run[0], after)
	case 2:
		t.double++
		t.other = t.other || utf8.ValidString(run)
	default:
		t.other = true
	}
	t.length = 0
}

// containsByte reports whether a text has one of the bytes.
func containsByte(text, bytes string) bool {
	for i := range len(text) {
		if strings.IndexByte(bytes, text[i]) >= 0 {
			return true
		}
	}
	return false
}

// fitsIn reports whether a byte beyond ASCII may be between two others in cp1252.
func fitsIn(before, c, after byte) bool {
	const (
		capitals = "\x8a\x8c\x8e\x9f"                                     // Š Œ Ž Ÿ
		small    = "\x9a\x9c\x9e\xaa\xba\xb5"                             // š œ ž ª º µ
		within   = "\x91\x92\x96\x97\xad\xb7"                             // quotes, dashes, soft hyphen, ·
		opening  = "\x82\x84\x8b\x93\x95\x99\xa0\xa1\xa7\xa9\xab\xb0\xbf" // before a word
	)
	isLower := func(b byte) bool { return 'a' <= b && b <= 'z' }
	isLetter := func(b byte) bool { return isLower(b | 0x20) }
	has := func(bytes string) bool { return strings.IndexByte(bytes, c) >= 0 }
	switch {
	case has(capitals) || 0xc0 <= c && c <= 0xde && c != 0xd7:
		return !isLower(before) && !(isLetter(before) && isLower(after))
	case has(small) || has(within) || c >= 0xdf && c != 0xf7:
		return true
	case has(opening):
		return !isLetter(before) || !isLetter(after)
	}
	return !isLetter(after)
}
