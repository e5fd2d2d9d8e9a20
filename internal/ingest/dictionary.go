package ingest

import (
	"slices"
	"strings"
	"sync"

	"github.com/tensorcache/tensorcache/layout"
)

// dictionary gives the words of a text column their codes. It is safe for concurrent use.
type dictionary struct {
	mu    sync.RWMutex
	codes map[string]int32
	words []string
	kept  int // how many words, the first ones, have their codes for good
}

// newDictionary begins with words that have codes already.
func newDictionary(words []string) *dictionary {
	d := &dictionary{codes: map[string]int32{}, words: append([]string{}, words...), kept: len(words)} // never nil: keys without words hold integers
	for code, w := range words {
		d.codes[w] = int32(code)
	}
	return d
}

// code is that of a word, which is copied where it is new.
func (d *dictionary) code(word []byte) int32 {
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
	w, c := strings.Clone(string(word)), int32(len(d.words))
	d.codes[w], d.words = c, append(d.words, w)
	return c
}

// finish renumbers the words in the order of their first rows, which the workers met in any order, and
// returns those that a row has, behind those that were there before.
func (d *dictionary) finish(dest layout.Dest) []string {
	codes := layout.Values[int32](dest)
	ordered := append(make([]string, 0, len(d.words)), d.words[:d.kept]...)
	renumbered := slices.Repeat([]int32{-1}, len(d.words))
	for code := range d.kept {
		renumbered[code] = int32(code)
	}
	for row := range codes.Rows {
		at := &codes.Data[row*codes.Step]
		if *at < 0 { // no word
			continue
		}
		if renumbered[*at] < 0 {
			renumbered[*at] = int32(len(ordered))
			ordered = append(ordered, d.words[*at])
		}
		*at = renumbered[*at]
	}
	d.codes = nil
	return ordered
}

// lookedUp is how many values are looked up in a dictionary before they are written: enough that they are written past the mapping.
const lookedUp = 32 << 10
