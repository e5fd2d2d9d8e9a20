package column

import (
	"slices"
	"strings"
	"sync"

	"github.com/tensorcache/tensorcache/layout"
)

// Dictionary gives the words of a text column their codes. It is safe for concurrent use.
type Dictionary struct {
	mu        sync.RWMutex
	codes     map[string]int32
	Words     []string
	inherited int // how many words, the first ones, have their codes for good
}

// NewDictionary begins with words that have codes already.
func NewDictionary(words []string) *Dictionary {
	d := &Dictionary{codes: map[string]int32{}, Words: append([]string{}, words...), inherited: len(words)} // never nil: keys without words hold integers
	for code, w := range words {
		d.codes[w] = int32(code)
	}
	return d
}

// Code is that of a word, which is copied where it is new.
func (d *Dictionary) Code(word []byte) int32 {
	d.mu.RLock()
	c, ok := d.codes[string(word)]
	d.mu.RUnlock()
	if ok {
		return c
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if c, ok := d.codes[string(word)]; ok {
		return c
	}
	w, c := strings.Clone(string(word)), int32(len(d.Words))
	d.codes[w], d.Words = c, append(d.Words, w)
	return c
}

// Finish renumbers the words in the order of their first rows, which the workers met in any order, and
// returns those that a row has, behind those that were there before.
func (d *Dictionary) Finish(dest layout.ColumnWriter) []string {
	codes := layout.Values[int32](dest)
	ordered := append(make([]string, 0, len(d.Words)), d.Words[:d.inherited]...)
	renumbered := slices.Repeat([]int32{-1}, len(d.Words))
	for code := range d.inherited {
		renumbered[code] = int32(code)
	}
	for row := range codes.Rows {
		at := &codes.Data[row*codes.Step]
		if *at < 0 { // no word
			continue
		}
		if renumbered[*at] < 0 {
			renumbered[*at] = int32(len(ordered))
			ordered = append(ordered, d.Words[*at])
		}
		*at = renumbered[*at]
	}
	d.codes = nil
	return ordered
}

// LookupRows is how many values are looked up in a dictionary before they are written: enough that they are written past the mapping.
const LookupRows = 32 << 10
