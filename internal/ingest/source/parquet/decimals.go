package parquet

import (
	"errors"
	"math/big"

	"github.com/parquet-go/parquet-go/encoding"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
)

// writeDecimals writes the decimals of a page as the nearest float64. As items and times it writes
// integers, and refuses other decimals.
func (c *generalDecoder) writeDecimals(
	v encoding.Values, index []int32, levels []byte, n int64,
) error {
	scale := c.typ.scale
	if !c.Kind.IsInteger() {
		floats, err := decimalsOf(v, func(unscaled int64) float64 { return column.Decimal(unscaled, scale) },
			func(b []byte) float64 { return column.DecimalOf(b, scale) })
		if err != nil {
			return err
		}
		return writePage(c, floats, index, levels, n)
	}
	var unscaled big.Int
	var refused map[int]string // the texts of values that are no integers, by position
	at := 0
	integer := func() int64 {
		value, ok := column.DecimalInteger(&unscaled, scale)
		if !ok {
			if refused == nil {
				refused = map[int]string{}
			}
			refused[at] = column.DecimalText(&unscaled, scale)
		}
		at++
		return value
	}
	integers, err := decimalsOf(v, func(word int64) int64 { unscaled.SetInt64(word); return integer() },
		func(b []byte) int64 { column.SetUnscaled(&unscaled, b); return integer() })
	if err != nil {
		return err
	}
	if row, text := c.firstOf(refused, index, levels, n); text != "" {
		return c.RangeError(c.first+c.row+row+1, text)
	}
	return writePage(c, integers, index, levels, n)
}

// decimalsOf converts the unscaled integers of a page, which are words or bytes in big-endian two's
// complement.
func decimalsOf[T any](v encoding.Values, ofWord func(int64) T, ofBytes func([]byte) T) (
	out []T, err error) {
	switch v.Kind() {
	case encoding.Int32:
		for _, u := range v.Int32() {
			out = append(out, ofWord(int64(u)))
		}
	case encoding.Int64:
		for _, u := range v.Int64() {
			out = append(out, ofWord(u))
		}
	case encoding.FixedLenByteArray:
		data, size := v.FixedLenByteArray()
		for ; size > 0 && len(data) >= size; data = data[size:] {
			out = append(out, ofBytes(data[:size]))
		}
	case encoding.ByteArray:
		data, offsets := v.ByteArray()
		for i := range max(0, len(offsets)-1) {
			b := data[offsets[i]:offsets[i+1]]
			if len(b) == 0 {
				return nil, errors.New("a decimal without digits")
			}
			out = append(out, ofBytes(b))
		}
	}
	return out, nil
}

// firstOf returns the first row of a page whose value is at one of the positions, and the text of that
// position, or "". See [writePage] for index and levels.
func (c *generalDecoder) firstOf(positions map[int]string, index []int32, levels []byte, n int64) (
	row int64, text string) {
	if positions == nil {
		return 0, ""
	}
	used := 0
	for row = range n {
		if len(levels) > 0 && levels[row] != c.maxLevel {
			continue
		}
		at := used
		if used++; index != nil {
			if at >= len(index) {
				break
			}
			at = int(index[at])
		}
		if text = positions[at]; text != "" {
			return row, text
		}
	}
	return 0, ""
}
