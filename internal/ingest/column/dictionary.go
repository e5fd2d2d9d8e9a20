package column

import (
	"slices"
	"strings"
	"sync"

	"github.com/tensorcache/tensorcache/layout"
)

// Dictionary assigns a code, from 0, to each word of a text column: each of its distinct texts. It
// is safe for concurrent use.
type Dictionary struct {
	mu        sync.RWMutex
	codes     map[string]int32
	Words     []string
	inherited int // number of words, from the first, whose codes stay
}

// NewDictionary returns a dictionary with words that have the codes 0, 1, ….
func NewDictionary(words []string) *Dictionary {
	// Words is never nil: a column with nil words is one of integers.
	d := &Dictionary{codes: map[string]int32{}, Words: append([]string{}, words...),
		inherited: len(words)}
	for code, w := range words {
		d.codes[w] = int32(code)
	}
	return d
}

// Code returns the code of a word. It copies a new word.
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

// Finish renumbers the codes in a column. New words follow those that the dictionary began with, in
// the order of their first rows, which does not depend on workers. It returns the words in the
// order of their codes, without new words that no row has. The dictionary must not be used
// afterwards.
func (d *Dictionary) Finish(dest layout.ColumnWriter) []string {
	codes := layout.Values[int32](dest)
	ordered := append(make([]string, 0, len(d.Words)), d.Words[:d.inherited]...)
	renumbered := slices.Repeat([]int32{-1}, len(d.Words))
	for code := range d.inherited {
		renumbered[code] = int32(code)
	}
	for row := range codes.Rows {
		at := &codes.Data[row*codes.Step]
		if *at < 0 { // missing
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

// LookupRows is the number of values that are looked up in a dictionary before they are written. It
// is large enough that they are written with a system call instead of through the mapping.
const LookupRows = 32 << 10
