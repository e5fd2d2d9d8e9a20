package parquet

import (
	"errors"
	"unsafe"

	"github.com/parquet-go/parquet-go/format"
)

// takeDictionary keeps the values of a dictionary.
func (c *directChunk[S]) takeDictionary(h *format.PageHeader) error {
	d := &h.DictionaryPageHeader.V
	if d.Encoding != format.Plain && d.Encoding != plainDictionary || d.NumValues < 1 {
		return errIndirect
	}
	data, err := c.unpacked(h, &c.words)
	if err != nil || int64(len(data)) != int64(d.NumValues)*sizeOf[S]() {
		return errors.Join(errIndirect, err)
	}
	c.values = unsafe.Slice((*S)(unsafe.Pointer(&data[0])), d.NumValues)
	return nil
}
