package parquet

import (
	"errors"
	"unsafe"

	"github.com/parquet-go/parquet-go/format"
)

// decodeDictionaryPage decodes the dictionary page of a column chunk into c.dictionary. The values
// alias the worker's buffer until the next column chunk. Only the fast path calls it; parquet-go
// decodes the dictionaries of all other chunks.
func (c *fastDecoder[S]) decodeDictionaryPage(h *format.PageHeader) error {
	d := &h.DictionaryPageHeader.V
	if d.Encoding != format.Plain && d.Encoding != plainDictionary || d.NumValues < 1 {
		return errUnsupported
	}
	data, err := c.readUncompressed(h, &c.dictionaryPage)
	if err != nil || int64(len(data)) != int64(d.NumValues)*sizeOf[S]() {
		return errors.Join(errUnsupported, err)
	}
	c.dictionary = unsafe.Slice((*S)(unsafe.Pointer(&data[0])), d.NumValues)
	return nil
}
