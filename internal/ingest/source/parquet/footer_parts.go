package parquet

import (
	"fmt"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
)

// maxFileColumns is the largest number of columns with values of a file that parquet-go opens.
const maxFileColumns = parquet.MaxColumnIndex

// footerParts divides a footer, whose schema checkSchema has accepted, into footers with at most
// maxColumns columns with values each. It refuses a field that has more, because fields stay whole.
func footerParts(plain []byte, maxColumns int) ([][]byte, error) {
	var m format.FileMetaData
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), plain, &m); err != nil {
		return nil, err
	}
	var parts [][]byte
	for field, column := 1, 0; field < len(m.Schema); {
		from, first, fields := field, column, int32(0)
		for field < len(m.Schema) {
			next, leaves := fieldEnd(m.Schema, field)
			if leaves > maxColumns {
				return nil, &loaderr.SourceError{
					Column: m.Schema[field].Name,
					Reason: fmt.Sprintf("has %d columns within it, at most %d are read", leaves, maxColumns),
					Hint:   "write the file without the column",
				}
			}
			if column+leaves-first > maxColumns {
				break
			}
			field, column, fields = next, column+leaves, fields+1
		}
		part := m
		part.Schema = append([]format.SchemaElement{m.Schema[0]}, m.Schema[from:field]...)
		part.Schema[0].NumChildren = thrift.New(fields)
		part.RowGroups = nil
		for _, g := range m.RowGroups {
			g.Columns, g.SortingColumns = g.Columns[first:column], nil // which are numbers of columns
			part.RowGroups = append(part.RowGroups, g)
		}
		orders := len(m.ColumnOrders)
		part.ColumnOrders = m.ColumnOrders[min(first, orders):min(column, orders)]
		b, err := thrift.Marshal(new(thrift.CompactProtocol), &part)
		if err != nil {
			return nil, err
		}
		parts = append(parts, b)
	}
	return parts, nil
}

// fieldEnd returns the element after the field that begins at an element, and its number of columns
// with values.
func fieldEnd(elements []format.SchemaElement, at int) (next, leaves int) {
	for left := 1; left > 0 && at < len(elements); at++ {
		left += int(elements[at].NumChildren.V) - 1
		if elements[at].Type.Valid {
			leaves++
		}
	}
	return at, leaves
}
