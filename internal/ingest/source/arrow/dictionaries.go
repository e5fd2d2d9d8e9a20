package arrow

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/bitutil"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
	"github.com/tensorcache/tensorcache/layout"
)

// writeDictionary writes the values of a dictionary array.
func (b batchColumn) writeDictionary(a *array.Dictionary) error {
	values := a.Dictionary()
	indexAt := func(i int) (at int, ok bool, err error) {
		if a.IsNull(i) {
			return 0, false, nil
		}
		if at = a.GetValueIndex(i); at < 0 || at >= values.Len() {
			return 0, false, &loaderr.SourceError{
				Column: b.Name,
				Row:    b.row + int64(i)/max(1, b.Width) + 1,
				Reason: fmt.Sprintf("is entry %d of a dictionary of %d", at, values.Len()),
				Hint:   loaderr.HintDamaged,
			}
		}
		return at, values.IsValid(at), nil
	}
	if words, ok := values.(stringArray); ok {
		return b.writeDictionaryTexts(a, words, indexAt)
	}
	whole, err := expandDictionary(values, a.Len(), indexAt)
	if err != nil {
		return err
	}
	defer whole.Release()
	return b.write(whole)
}

// writeDictionaryTexts writes the dictionary codes of texts. Each entry is added to the column's
// dictionary once.
func (b batchColumn) writeDictionaryTexts(
	a *array.Dictionary, words stringArray,
	indexAt func(i int) (at int, ok bool, err error),
) error {
	known := slices.Repeat([]int32{-1}, words.Len()) // by entry: its code, -1 before its first use
	codes := make([]int32, a.Len())
	for i := range codes {
		at, ok, err := indexAt(i)
		switch {
		case err != nil:
			return err
		case !ok && b.Role != layout.RoleValue:
			return b.nullError(i)
		case !ok:
			codes[i] = -1
			continue
		case known[at] < 0:
			word := []byte(words.Value(at))
			if err := source.CheckText(word, b.Role, b.row+int64(i)); err != nil {
				return err
			}
			known[at] = b.Words.Code(word)
		}
		codes[i] = known[at]
	}
	column.Write(b.Dest, b.Row0+b.row, codes)
	return nil
}

// expandDictionary returns an array of n values of fixed width, each copied from the dictionary
// entry that indexAt returns.
func expandDictionary(
	values arrow.Array, n int, indexAt func(i int) (at int, ok bool, err error),
) (arrow.Array, error) {
	fixed, ok := values.DataType().(arrow.FixedWidthDataType)
	if !ok || fixed.BitWidth()%8 != 0 || len(values.Data().Buffers()) != 2 {
		return nil, fmt.Errorf("is a dictionary of %s, which is not read", values.DataType())
	}
	width, from := fixed.BitWidth()/8, values.Data().Offset()
	src := values.Data().Buffers()[1].Bytes()
	body, valid := make([]byte, n*width), make([]byte, bitutil.BytesForBits(int64(n)))
	nulls := 0
	for i := range n {
		at, ok, err := indexAt(i)
		if err != nil {
			return nil, err
		}
		if !ok {
			nulls++
			continue
		}
		bitutil.SetBit(valid, i)
		copy(body[i*width:][:width], src[(from+at)*width:])
	}
	data := array.NewData(values.DataType(), n,
		[]*memory.Buffer{memory.NewBufferBytes(valid), memory.NewBufferBytes(body)}, nil, nulls, 0)
	defer data.Release()
	return array.MakeFromData(data), nil
}
