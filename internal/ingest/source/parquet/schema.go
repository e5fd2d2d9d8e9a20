package parquet

import (
	"errors"
	"fmt"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
)

// columnType is the type of a Parquet column: its physical type on the page, and the type of the
// loaded column.
type columnType struct {
	column.Column
	physical parquet.Kind
	unsigned bool
	date     bool
	allNull  bool  // the type itself is null
	scale    int32 // digits of a decimal after the point
}

// buffered reports whether the worker buffers the column's values. It does so if they come in large
// blocks and are final once they are written.
func (f columnType) buffered() bool {
	switch f.physical {
	case parquet.Int32, parquet.Int64, parquet.Float, parquet.Double:
		return !f.date
	}
	return false
}

// parquetColumn is a field of the Parquet schema.
type parquetColumn struct {
	*parquet.Column
	name    string
	file    *parquet.File // the one with the column, of the files that readFooter makes of one
	element *format.SchemaElement
	logical any       // value of the logical type, nil for none
	hint    arrowHint // from the Arrow schema in the metadata
}

// schemaFields returns the fields of the schema. parquet-go drops logical types that it does not
// implement, such as FLOAT16, so these are read from the footer.
func schemaFields(files []*parquet.File, hints []arrowHint) []parquetColumn {
	var out []parquetColumn
	for _, pq := range files {
		elements := pq.Metadata().Schema
		at := 1 // element 0 is the root
		for _, c := range pq.Root().Columns() {
			// checkSchema has checked that each column has an element
			f := parquetColumn{Column: c, name: column.NameAt(c.Name(), len(out)), file: pq,
				element: &elements[at]}
			if l := c.Type().LogicalType(); l != nil {
				f.logical = l.Value
			}
			if f.logical == nil && f.element.LogicalType.Value != nil {
				f.logical = f.element.LogicalType.Value
			}
			out = append(out, f)
			at, _ = fieldEnd(elements, at)
		}
	}
	if len(hints) == len(out) {
		for i := range out {
			out[i].hint = hints[i]
		}
	}
	return out
}

// chunk returns the column chunk of a row group, as the footer describes it.
func (c parquetColumn) chunk(group int) *format.ColumnChunk {
	return &c.file.Metadata().RowGroups[group].Columns[c.Index()]
}

// columnTypeOf returns the type of a column. It returns an error, which says what the column is,
// for a type that cannot be loaded.
func columnTypeOf(c parquetColumn) (columnType, error) {
	if !c.Leaf() || c.MaxRepetitionLevel() > 0 || c.MaxDefinitionLevel() > 1 {
		return columnType{},
			errors.New("holds nested values (a list, map or struct), which are not read")
	}
	if err := checkElementType(c); err != nil {
		return columnType{}, err
	}
	f := columnType{physical: parquet.Kind(c.element.Type.V)}
	logical, ok := c.logical, false
	// pandas writes a column of None so, with any physical type.
	if _, f.allNull = c.element.LogicalType.Value.(*format.NullType); f.allNull {
		f.Kind = column.KindUnknown
		return f, nil
	}
	switch f.physical {
	case parquet.Boolean:
		f.Kind, ok = column.KindBool, logical == nil
	case parquet.Int32:
		ok = f.setInt32(logical)
	case parquet.Int64:
		ok = f.setInt64(logical)
	case parquet.Float:
		f.Kind, ok = column.KindFloat32, logical == nil
	case parquet.Double:
		f.Kind, ok = column.KindFloat64, logical == nil
	case parquet.ByteArray:
		f.Kind = column.KindText
		switch t := logical.(type) {
		case nil, *format.StringType, *format.EnumType:
			ok = true
		case *format.DecimalType:
			ok = f.setDecimal(t)
		}
	case parquet.FixedLenByteArray:
		switch t := logical.(type) {
		case *format.Float16Type:
			f.Kind, ok = column.KindFloat16, c.Type().Length() == 2
		case *format.DecimalType:
			ok = f.setDecimal(t)
		}
	case parquet.Int96: // always a time: days and nanoseconds, as Spark and Impala wrote them
		f.Kind, f.Unit, f.Source, ok = column.KindTime, "ns", "int96", logical == nil
	}
	if !ok {
		if logical != nil {
			return f, fmt.Errorf("is %v, which is not read", logical)
		}
		return f, fmt.Errorf("is %s, which is not read", c.Type())
	}
	return f, f.applyArrowHint(c.hint, c.name, logical)
}

// checkElementType returns an error if the schema gives a column a type that the format does not
// have, or two types that contradict each other. parquet-go takes a column of an unknown type for
// one of nulls, and takes the physical type of a text or time from its logical type.
func checkElementType(c parquetColumn) error {
	e := c.element
	known := e.LogicalType.Value != nil || !e.ConvertedType.Valid ||
		e.ConvertedType.V >= deprecated.UTF8 && e.ConvertedType.V <= deprecated.Interval
	reason := ""
	switch {
	case e.Type.V < format.Boolean || e.Type.V > format.FixedLenByteArray:
		reason = fmt.Sprintf("is of the physical type %d, want 0 to 7", e.Type.V)
	case !known:
		reason = fmt.Sprintf("is of the converted type %d, want 0 to %d", e.ConvertedType.V,
			deprecated.Interval)
	case c.Type().Kind() >= 0 && c.Type().Kind() != parquet.Kind(e.Type.V):
		reason = fmt.Sprintf("is %s, and its values are of the physical type %s", c.Type(),
			e.Type.V)
	default:
		return nil
	}
	return &loaderr.HintedError{Reason: reason, Hint: loaderr.HintDamaged}
}

// setDecimal sets the type of a decimal. Decimals are loaded as the nearest float64.
func (f *columnType) setDecimal(t *format.DecimalType) (ok bool) {
	f.Kind, f.Decimal, f.scale = column.KindFloat64, true, t.Scale
	f.Source = fmt.Sprintf("decimal(%d, %d)", t.Precision, t.Scale)
	return true
}

// setInt32 sets the type of a column of 32-bit integers.
func (f *columnType) setInt32(logical any) (ok bool) {
	switch t := logical.(type) {
	case nil:
		f.Kind = column.KindInt32
	case *format.DateType:
		f.Kind, f.Unit, f.date, f.Source = column.KindTime, "s", true, "date"
	case *format.DecimalType:
		return f.setDecimal(t)
	case *format.TimeType: // a time of day, as the duration since midnight
		f.Kind, f.Source = column.KindDuration, "time"
		return f.setUnit(t.Unit)
	case *format.IntType:
		return f.setInteger(t)
	default:
		return false
	}
	return true
}

// setInt64 sets the type of a column of 64-bit integers.
func (f *columnType) setInt64(logical any) (ok bool) {
	switch t := logical.(type) {
	case nil:
		f.Kind = column.KindInt64
	case *format.IntType:
		return f.setInteger(t)
	case *format.DecimalType:
		return f.setDecimal(t)
	case *format.TimeType:
		f.Kind, f.Source = column.KindDuration, "time"
		return f.setUnit(t.Unit)
	case *format.TimestampType:
		f.Kind = column.KindTime
		if t.IsAdjustedToUTC {
			f.Zone = "UTC"
		}
		return f.setUnit(t.Unit)
	default:
		return false
	}
	return true
}

// setUnit sets the unit of a time or duration.
func (f *columnType) setUnit(u format.TimeUnit) (ok bool) {
	switch u.Value.(type) {
	case *format.MilliSeconds:
		f.Unit = "ms"
	case *format.MicroSeconds:
		f.Unit = "us"
	case *format.NanoSeconds:
		f.Unit = "ns"
	}
	return f.Unit != ""
}

// setInteger sets the type of an integer by its bit width and sign.
func (f *columnType) setInteger(t *format.IntType) (ok bool) {
	name := fmt.Sprintf("int%d", t.BitWidth)
	if f.unsigned = !t.IsSigned; f.unsigned {
		name = "u" + name
	}
	f.Kind, ok = column.KindOf(name)
	return ok
}

// checkChunks refuses column chunks that parquet-go would decode wrong. It reads only the footer.
func (p *parquetFile) checkChunks(c parquetColumn, f columnType) error {
	for g := range p.pq.Metadata().RowGroups {
		chunk := c.chunk(g)
		if err := checkPlacement(chunk); err != nil {
			return err
		}
		if err := p.checkChunkType(g, c); err != nil {
			return err
		}
		meta := &chunk.MetaData
		if f.allNull { // its pages are not read
			if s := meta.Statistics; len(s.Min)+len(s.Max)+len(s.MinValue)+len(s.MaxValue) > 0 {
				return &loaderr.HintedError{
					Reason: fmt.Sprintf("is of the type null and has values in row group %d", g+1),
					Hint:   loaderr.HintDamaged,
				}
			}
			continue
		}
		switch meta.Codec {
		case format.Uncompressed, format.Snappy, format.Gzip, format.Brotli, format.Zstd:
		default:
			return &loaderr.HintedError{
				Reason: fmt.Sprintf("is compressed with %s, which is not read", meta.Codec),
				Hint:   `write the file with another compression, such as "snappy" or "zstd"`,
			}
		}
		if mayHaveWideDeltas(p.pq.Metadata().CreatedBy, meta) {
			return &loaderr.HintedError{
				Reason: "has differences of more than 32 bits, which DuckDB writes against the format",
				Hint:   "write the file with PARQUET_VERSION V1, or the column as BIGINT",
			}
		}
		// parquet-go uses the codec of the first row group for all row groups.
		if first := c.chunk(0).MetaData.Codec; meta.Codec != first {
			return &loaderr.HintedError{
				Reason: fmt.Sprintf(
					"is compressed with %s in row group 1 and with %s in row group %d", first,
					meta.Codec, g+1),
				Hint: "write the file with one compression for each column",
			}
		}
	}
	return nil
}

// checkPlacement refuses a column chunk whose pages are encrypted or in another file.
func checkPlacement(c *format.ColumnChunk) error {
	switch {
	case c.CryptoMetadata.Value != nil || len(c.EncryptedColumnMetadata) > 0:
		return &loaderr.HintedError{
			Reason: "is encrypted, which is not read",
			Hint:   hintEncrypted + ", or leave the column out with `columns`",
		}
	case c.FilePath != "":
		return &loaderr.HintedError{
			Reason: fmt.Sprintf("has its values in another file, %s", loaderr.Quote(c.FilePath)),
			Hint:   "load that file",
		}
	}
	return nil
}

// checkChunkType refuses a column chunk whose type or number of values is not that of the schema
// and of the row group g.
func (p *parquetFile) checkChunkType(g int, c parquetColumn) error {
	meta := &c.chunk(g).MetaData
	if meta.Type != c.element.Type.V {
		return &loaderr.HintedError{
			Reason: fmt.Sprintf("is %s in row group %d and %s in the schema", meta.Type, g+1,
				c.element.Type.V),
			Hint: loaderr.HintDamaged,
		}
	}
	if rows := p.firstRows[g+1] - p.firstRows[g]; meta.NumValues != rows {
		return &loaderr.HintedError{
			Reason: fmt.Sprintf("has %d values in row group %d of %d rows",
				meta.NumValues, g+1, rows),
			Hint: loaderr.HintDamaged,
		}
	}
	return nil
}
