package parquet

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
)

// writePage writes the values of a page. If index is not nil, it holds one dictionary index per
// value. levels are the definition levels: a row whose level is below maxLevel is null and has no
// value in src.
func writePage[S column.Storable](
	c *generalDecoder, src []S, index []int32, levels []byte, n int64,
) error {
	at := c.destRow()
	have := int64(len(src))
	if index != nil {
		have = int64(len(index))
	}
	if nan, float := column.NotANumber[S](); float && c.Dest.DType.IsFloat() &&
		int64(bytes.Count(levels, []byte{c.maxLevel})) < int64(len(levels)) {
		return writeWithNulls(c, src, index, levels, nan)
	}
	used := int64(0)
	for done := int64(0); done < n; {
		run, present := levelRun(levels[min(done, int64(len(levels))):], c.maxLevel, n-done)
		if !present {
			if !column.WriteMissing(c.Dest, at+done, run) {
				return c.nullError(done)
			}
			done += run
			continue
		}
		if used+run > have {
			return fmt.Errorf("a page of %d rows has %d values", n, have)
		}
		if bad, err := writeRun(c, at+done, src, index, used, run); err != nil {
			return err
		} else if bad >= 0 {
			value := used + bad
			if index != nil {
				value = int64(index[value])
			}
			return c.RangeError(c.first+c.row+done+bad+1, src[value])
		}
		done, used = done+run, used+run
	}
	if used != have {
		return fmt.Errorf("a page of %d rows has %d values", n, have)
	}
	return nil
}

// writeWithNulls writes the values of a page of floats with nulls. Nulls become nan.
func writeWithNulls[S column.Storable](
	c *generalDecoder, src []S, index []int32, levels []byte, nan S,
) error {
	buffer := bufferOf[S](c)
	used, have := 0, len(src)
	if index != nil {
		have = len(index)
	}
	for first := 0; first < len(levels); first += len(buffer) {
		part := levels[first:min(len(levels), first+len(buffer))]
		for i, level := range part {
			if level != c.maxLevel {
				buffer[i] = nan
				continue
			}
			at := used
			if used++; used > have {
				return fmt.Errorf("a page of %d rows has %d values", len(levels), have)
			}
			if index != nil {
				if at = int(index[at]); uint(at) >= uint(len(src)) {
					return fmt.Errorf("entry %d of a dictionary of %d", at, len(src))
				}
			}
			buffer[i] = src[at]
		}
		if bad := column.Write(c.Dest, c.destRow()+int64(first), buffer[:len(part)]); bad >= 0 {
			return c.RangeError(c.first+c.row+int64(first+bad)+1, buffer[bad])
		}
	}
	if used != have {
		return fmt.Errorf("a page of %d rows has %d values", len(levels), have)
	}
	return nil
}

// bufferOf returns the chunk's buffer for values from a dictionary. It is reused from page to page.
func bufferOf[S column.Storable](c *generalDecoder) []S {
	buffer, ok := c.buffer.([]S)
	if !ok {
		buffer = make([]S, min(column.LookupRows, c.rows))
		c.buffer = buffer
	}
	return buffer
}

// writeRun writes run values of src, or of index, from position used on. bad is the position in the
// run of the first value that the destination cannot hold, or -1.
func writeRun[S column.Storable](
	c *generalDecoder, row int64, src []S, index []int32, used, run int64,
) (bad int64, err error) {
	if index == nil {
		if bad = int64(column.CheckCells(c.Kind, src[used:used+run])); bad >= 0 {
			return bad, nil
		}
		return int64(column.Write(c.Dest, row, src[used:used+run])), nil
	}
	buffer := bufferOf[S](c)
	for i := int64(0); i < run; i += column.LookupRows {
		n := min(column.LookupRows, run-i)
		for j, at := range index[used+i : used+i+n] {
			if uint(at) >= uint(len(src)) {
				return 0, fmt.Errorf("entry %d of a dictionary of %d", at, len(src))
			}
			buffer[j] = src[at]
		}
		bad := column.CheckCells(c.Kind, buffer[:n])
		if bad < 0 {
			bad = column.Write(c.Dest, row+i, buffer[:n])
		}
		if bad >= 0 {
			return i + int64(bad), nil
		}
	}
	return -1, nil
}

// levelRun returns how many levels from the first on, at most n, are all present or all null, and
// which of the two. Without levels all values are present.
func levelRun(levels []byte, maxLevel byte, n int64) (run int64, present bool) {
	if len(levels) == 0 {
		return n, true
	}
	present = levels[0] == maxLevel
	run = 1
	if present { // the common case: compare eight levels at a time
		all := uint64(maxLevel) * 0x0101010101010101
		for run = 0; run+8 <= n && binary.LittleEndian.Uint64(levels[run:]) == all; run += 8 {
		}
	}
	for ; run < n && (levels[run] == maxLevel) == present; run++ {
	}
	return run, present
}
