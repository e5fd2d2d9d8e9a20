package plan

import (
	"fmt"
	"unsafe"

	"github.com/tensorcache/tensorcache/sampler"
	"github.com/tensorcache/tensorcache/window"
)

// grouped are the windows of an index with their groups. It implements [sampler.Grouped].
type grouped struct {
	*window.Index
	window.Groups
}

// Sampler returns a sampler of the windows. An order of groups needs the table of groups, which is
// stored with the generation and mapped until the handle is released.
func (w *Windows) Sampler(o sampler.Options) (*sampler.Sampler, error) {
	if !o.Traits().Groups {
		return sampler.New(w.Index, o)
	}
	if err := o.Validate(); err != nil { // before the table is made
		return nil, err
	}
	if w.Handle.Data.Manifest.Time == "" {
		return nil, &sampler.OptionError{Field: "order", Value: o.Order,
			Allowed: "an order without groups: the dataset has no time column, by which windows " +
				"are grouped; load it again with time"}
	}
	if err := checkGrouped(o.Order, w.Index.Len()); err != nil {
		return nil, err
	}
	groups, err := w.groups()
	if err != nil {
		return nil, err
	}
	return sampler.New(grouped{w.Index, groups}, o)
}

// checkGrouped returns an error if an index has too many windows for an order of groups.
func checkGrouped(order string, windows int64) error {
	if windows <= window.MaxGrouped {
		return nil
	}
	return &sampler.OptionError{Field: "order", Value: order,
		Allowed: fmt.Sprintf("an order without groups, or at most %d windows: here are %d; "+
			"use a larger stride, or cut with rows, time, where or split",
			int64(window.MaxGrouped), windows)}
}

// groups returns the windows by time. The table is that of the spec and the cuts.
func (w *Windows) groups() (window.Groups, error) {
	n := w.Index.Len()
	content, err := w.Handle.Table("groups-"+w.Index.Hash(), 8*n+1<<12, 16*n, func() ([]byte, error) {
		table, err := w.Index.GroupTable()
		return bytesOfWords(table), err
	})
	if err != nil {
		return window.Groups{}, err
	}
	return window.ParseGroups(wordsOfBytes(content), n)
}

// bytesOfWords returns words as little-endian bytes, without copying them: all processors that the
// daemon runs on are little-endian.
func bytesOfWords(words []uint32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 4*len(words))
}

// wordsOfBytes is the inverse of bytesOfWords. The content of a table is aligned to 4 bytes.
func wordsOfBytes(b []byte) []uint32 {
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/4)
}
