package parquet

import (
	"encoding/binary"
	"math"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
)

// maxBoundBytes is the length from which a text is not used as a bound. Writers truncate long
// texts, and some truncate them so that they are no bounds any more.
const maxBoundBytes = 32

// GroupRows returns the number of rows of each row group.
func (p *parquetFile) GroupRows() []int64 {
	out := make([]int64, len(p.firstRows)-1)
	for g := range out {
		out[g] = p.firstRows[g+1] - p.firstRows[g]
	}
	return out
}

// Bounds returns the smallest and largest value of a column chunk from the footer's statistics. ok
// is false if their order is not defined for the type, or if the chunk has nulls, which the load
// refuses in these columns.
func (p *parquetFile) Bounds(index, group int, as column.Column) (least, most any, ok bool) {
	c := p.columns[index]
	f, err := columnTypeOf(c)
	meta := c.file.Metadata()
	if err != nil || c.Index() >= len(meta.ColumnOrders) {
		return nil, nil, false
	}
	if _, defined := meta.ColumnOrders[c.Index()].Value.(*format.TypeDefinedOrder); !defined {
		return nil, nil, false
	}
	s := &c.chunk(group).MetaData.Statistics
	if s.NullCount != 0 {
		return nil, nil, false
	}
	if f.Kind == column.KindText && as.Kind == column.KindText {
		a, b := string(s.MinValue), string(s.MaxValue)
		return a, b, f.physical == parquet.ByteArray && b != "" && a <= b &&
			len(a) < maxBoundBytes &&
			len(b) < maxBoundBytes
	}
	sameTime := f.Kind == column.KindTime && as.Kind == column.KindTime && f.Unit == as.Unit
	if f.Decimal || !sameTime && !(f.Kind.IsInteger() && as.Kind.IsInteger()) {
		return nil, nil, false
	}
	a, okA := f.boundValue(s.MinValue)
	b, okB := f.boundValue(s.MaxValue)
	return a, b, okA && okB && a <= b
}

// boundValue decodes a bound of an integer or time column.
func (f columnType) boundValue(b []byte) (v int64, ok bool) {
	switch {
	case f.physical == parquet.Int32 && len(b) == 4:
		u := binary.LittleEndian.Uint32(b)
		v = int64(int32(u))
		if f.unsigned {
			v = int64(u)
		}
		if f.date {
			v *= 86400
		}
		return v, true
	case f.physical == parquet.Int64 && len(b) == 8:
		u := binary.LittleEndian.Uint64(b)
		return int64(u), !f.unsigned || u <= math.MaxInt64
	}
	return 0, false
}

// Without returns a reader that skips row groups. skip has one entry per row group.
func (p *parquetFile) Without(skip []bool) source.Reader {
	q := *p
	q.skip = skip
	return &q
}
