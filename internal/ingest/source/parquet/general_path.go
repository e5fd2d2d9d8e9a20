package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/format"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
	"github.com/tensorcache/tensorcache/layout"
)

// generalDecoder decodes a column chunk with parquet-go.
type generalDecoder struct {
	source.Target
	typ      columnType
	first    int64 // the row group's first row in the file
	rows     int64
	row      int64 // row of the row group that is decoded next
	maxLevel byte  // definition level of a value that is not null
	codes    []int32
	lastText []byte
	buffer   any       // []S of the physical type: a buffer for values from a dictionary
	floats   []float64 // buffer for the integers of a page, converted for a float64 column
}

// read decodes all pages. pages must be those that m describes.
func (c *generalDecoder) read(
	file io.ReaderAt, m *format.ColumnMetaData, pages parquet.Pages,
) error {
	defer pages.Close()
	for decoded := 0; ; decoded++ {
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
		if err != nil {
			return locatePageError(file, m, pages, decoded, err)
		}
		err = c.decodePage(page)
		parquet.Release(page)
		if err != nil {
			return &pageError{decoded + 1, err}
		}
	}
	if c.row != c.rows {
		return fmt.Errorf("its pages have %d rows, its row group has %d", c.row, c.rows)
	}
	return nil
}

// decodePage writes the values of one page to the destination.
func (c *generalDecoder) decodePage(page parquet.Page) error {
	n := page.NumRows()
	if n > c.rows-c.row {
		return fmt.Errorf("its pages have more than the %d rows of its row group", c.rows)
	}
	levels := page.DefinitionLevels()
	if len(levels) > 0 && int64(len(levels)) != n {
		return fmt.Errorf("a page of %d rows has %d definition levels", n, len(levels))
	}
	values := page.Data()
	var index []int32
	if d := page.Dictionary(); d != nil {
		index = values.Int32()
		values = d.Page().Data()
		if len(index) == 0 {
			index = []int32{} // a page of nulls has no indices
		}
	}
	if err := c.writeValues(values, index, levels, n); err != nil {
		return err
	}
	if c.typ.date {
		column.Multiply(c.Dest, c.destRow(), n, 86400) // no overflow: days have 32 bits
	}
	c.row += n
	return nil
}

// destRow returns the row of the destination at which the page begins.
func (c *generalDecoder) destRow() int64 { return c.Row0 + c.first + c.row }

// writeValues writes the values of a page by their physical type.
func (c *generalDecoder) writeValues(
	v encoding.Values, index []int32, levels []byte, n int64,
) error {
	if c.typ.Decimal {
		return c.writeDecimals(v, index, levels, n)
	}
	switch c.typ.physical {
	case parquet.Int32:
		if c.typ.unsigned {
			return writeIntegers(c, v.Uint32(), index, levels, n)
		}
		return writeIntegers(c, v.Int32(), index, levels, n)
	case parquet.Int64:
		if c.typ.unsigned {
			return writeIntegers(c, v.Uint64(), index, levels, n)
		}
		return writeIntegers(c, v.Int64(), index, levels, n)
	case parquet.Int96:
		times, err := int96Times(v.Int96())
		if err != nil {
			return err
		}
		return writePage(c, times, index, levels, n)
	case parquet.Float:
		return writePage(c, v.Float(), index, levels, n)
	case parquet.Double:
		return writePage(c, v.Double(), index, levels, n)
	case parquet.ByteArray:
		data, offsets := v.ByteArray()
		return c.writeTexts(data, offsets, index, levels, n)
	case parquet.FixedLenByteArray:
		data, _ := v.FixedLenByteArray()
		halves := make([]layout.Half, len(data)/2)
		for i := range halves {
			halves[i] = layout.HalfFromBits(binary.LittleEndian.Uint16(data[2*i:]))
		}
		return writePage(c, halves, index, levels, n)
	}
	return fmt.Errorf("values of type %s", c.typ.physical)
}

// int96Times converts INT96 times to nanoseconds since 1970. INT96 stores the nanoseconds of the
// day and the Julian day number.
func int96Times(values []deprecated.Int96) ([]int64, error) {
	const epoch, day = 2440588, 86_400_000_000_000
	out := make([]int64, len(values))
	for i, v := range values {
		days, nanos := int64(int32(v[2]))-epoch, int64(uint64(v[1])<<32|uint64(v[0]))
		if days > math.MaxInt64/day-1 || days < math.MinInt64/day+1 || nanos < 0 || nanos > day {
			return nil, &loaderr.SourceError{
				Text:   int96Text(days, nanos),
				Reason: "is an INT96 time outside the range of 64-bit nanoseconds",
				Hint:   "write the times as timestamps in microseconds",
			}
		}
		out[i] = days*day + nanos
	}
	return out, nil
}

// int96Text formats a time for a message. It supports any day.
func int96Text(days, nanos int64) string {
	return time.Unix(days*86400, nanos).UTC().Format("2006-01-02 15:04:05.999999999")
}

// nullError returns the error for a null in a column that cannot hold missing values. row counts
// from the first row of the page.
func (c *generalDecoder) nullError(row int64) error {
	return c.MissingError(c.first + c.row + row + 1)
}

// writeAllMissing writes n missing values: all rows of the column chunk.
func (c *generalDecoder) writeAllMissing(n int64) error {
	if c.row = 0; column.WriteMissing(c.Dest, c.destRow(), n) {
		return nil
	}
	return c.nullError(0)
}
