package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Types of Thrift's compact protocol.
const (
	compactStop   = 0
	compactTrue   = 1
	compactFalse  = 2
	compactByte   = 3
	compactInt16  = 4
	compactInt32  = 5
	compactInt64  = 6
	compactDouble = 7
	compactBinary = 8
	compactList   = 9
	compactSet    = 10
	compactMap    = 11
	compactStruct = 12
	compactUUID   = 13
)

// maxCompactDepth is the largest depth of nested values. Parquet's metadata has fewer than 12.
const maxCompactDepth = 64

// compactWalker goes through a value in Thrift's compact protocol, of which Parquet's metadata
// consists. It checks that all lengths are inside the bytes and allocates nothing that the bytes
// declare. Elements of lists have no place in path.
type compactWalker struct {
	bytes []byte
	at    int     // offset of the next byte
	path  []int16 // numbers of the fields that lead to the current value
	depth int
	// field is called with the header of each field, whose first byte is at offset at; path ends
	// with the field. It may be nil.
	field func(at int, kind byte)
	// stop is called before the stop byte of each struct. has is the set of the fields 0 to 63 that
	// the struct has. It may be nil.
	stop func(has uint64)
}

// errNested is returned for values that are nested deeper than maxCompactDepth.
var errNested = errors.New("its values are nested too deeply")

// walkStruct goes through the fields of a struct up to and including its stop byte.
func (w *compactWalker) walkStruct() error {
	if w.depth++; w.depth > maxCompactDepth {
		return errNested
	}
	defer func() { w.depth-- }()
	id, has := int16(0), uint64(0)
	for {
		at := w.at
		head, err := w.next()
		if err != nil {
			return err
		}
		if head == compactStop {
			if w.at = at; w.stop != nil {
				w.stop(has)
			}
			w.at = at + 1
			return nil
		}
		if delta := head >> 4; delta != 0 {
			id += int16(delta)
		} else {
			n, err := w.varint()
			if err != nil {
				return err
			}
			id = int16(n>>1) ^ -int16(n&1)
		}
		if id >= 0 && id < 64 {
			has |= 1 << id
		}
		w.path = append(w.path, id)
		if w.field != nil {
			w.field(at, head&15)
		}
		if err := w.walkValue(head&15, false); err != nil {
			return err
		}
		w.path = w.path[:len(w.path)-1]
	}
}

// walkValue goes through a value. The type of a boolean field is its value; a boolean in a list or
// map has a byte.
func (w *compactWalker) walkValue(kind byte, element bool) error {
	switch kind {
	case compactTrue, compactFalse:
		if !element {
			return nil
		}
		return w.skip(1)
	case compactByte:
		return w.skip(1)
	case compactInt16, compactInt32, compactInt64:
		_, err := w.varint()
		return err
	case compactDouble:
		return w.skip(8)
	case compactUUID:
		return w.skip(16)
	case compactBinary:
		n, err := w.varint()
		if err != nil {
			return err
		}
		return w.skip(n)
	case compactList, compactSet:
		return w.walkList()
	case compactMap:
		return w.walkMap()
	case compactStruct:
		return w.walkStruct()
	}
	return fmt.Errorf("a value of type %d, which Thrift does not have", kind)
}

// walkList goes through a list or set.
func (w *compactWalker) walkList() error {
	head, err := w.next()
	if err != nil {
		return err
	}
	n := uint64(head >> 4)
	if n == 15 {
		if n, err = w.varint(); err != nil {
			return err
		}
	}
	if left := len(w.bytes) - w.at; n > uint64(left) { // an element has at least one byte
		return fmt.Errorf("a list of %d elements in %d bytes", n, left)
	}
	return w.walkElements(n, head&15)
}

// walkMap goes through a map.
func (w *compactWalker) walkMap() error {
	n, err := w.varint()
	if err != nil || n == 0 {
		return err
	}
	kinds, err := w.next()
	if err != nil {
		return err
	}
	if left := len(w.bytes) - w.at; n > uint64(left)/2 {
		return fmt.Errorf("a map of %d elements in %d bytes", n, left)
	}
	return w.walkElements(n, kinds>>4, kinds&15)
}

// walkElements goes through n times one value of each type.
func (w *compactWalker) walkElements(n uint64, kinds ...byte) error {
	if w.depth++; w.depth > maxCompactDepth {
		return errNested
	}
	defer func() { w.depth-- }()
	for range n {
		for _, kind := range kinds {
			if err := w.walkValue(kind, true); err != nil {
				return err
			}
		}
	}
	return nil
}

// next returns the next byte.
func (w *compactWalker) next() (byte, error) {
	if w.at >= len(w.bytes) {
		return 0, io.ErrUnexpectedEOF
	}
	w.at++
	return w.bytes[w.at-1], nil
}

// varint reads an integer of variable length. Signed integers are in zigzag form.
func (w *compactWalker) varint() (uint64, error) {
	n, size := binary.Uvarint(w.bytes[w.at:])
	if size == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	if size < 0 {
		return 0, errors.New("an integer of more than 64 bits")
	}
	w.at += size
	return n, nil
}

// skip skips n bytes.
func (w *compactWalker) skip(n uint64) error {
	if left := len(w.bytes) - w.at; n > uint64(left) {
		return fmt.Errorf("a value of %d bytes in %d", n, left)
	}
	w.at += int(n)
	return nil
}
