package parquet

import (
	"fmt"
	"slices"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
	"github.com/tensorcache/tensorcache/layout"
)

// writeTexts writes the dictionary codes of the texts of a page. The code of a null is -1.
func (c *generalDecoder) writeTexts(
	data []byte, offsets []uint32, index []int32, levels []byte, n int64,
) error {
	words := max(0, len(offsets)-1)
	have := int64(words)
	if index != nil {
		have = int64(len(index))
		if c.codes == nil { // a column chunk has one dictionary
			c.codes = slices.Repeat([]int32{-1}, words)
		}
	}
	last := int32(-1)
	used := int64(0)
	code := make([]int32, 1)
	for row := range n {
		code[0] = -1
		if int64(len(levels)) == n && levels[row] != c.maxLevel {
			if c.Role != layout.RoleValue {
				return c.nullError(row)
			}
			column.Write(c.Dest, c.destRow()+row, code)
			continue
		}
		if used == have {
			return fmt.Errorf("a page of %d rows has %d values", n, have)
		}
		at := int(used)
		if index != nil {
			at = int(index[used])
			if uint(at) >= uint(len(c.codes)) || at >= words {
				return fmt.Errorf("entry %d of a dictionary of %d", at, words)
			}
			code[0] = c.codes[at]
		}
		if code[0] < 0 {
			word := data[offsets[at]:offsets[at+1]]
			if index == nil && last >= 0 && string(word) == string(c.lastText) {
				code[0] = last
			} else {
				if err := source.CheckText(word, c.Role, c.first+c.row+row); err != nil {
					return err
				}
				code[0] = c.Words.Code(word)
				c.lastText, last = append(c.lastText[:0], word...), code[0]
			}
			if index != nil {
				c.codes[at] = code[0]
			}
		}
		column.Write(c.Dest, c.destRow()+row, code)
		used++
	}
	if used != have {
		return fmt.Errorf("a page of %d rows has %d values", n, have)
	}
	return nil
}
