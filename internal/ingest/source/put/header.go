// Package put reads the arrays of a put: a [Header] that names them, and then their bytes, from a
// connection. The numpy reader uses it for the arrays of its files.
package put

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/textvalue"
)

// Check refuses a header that contradicts itself.
func (h Column) Check() error {
	k, known := arrayKind(h.DType)
	switch {
	case h.Name == "":
		return fmt.Errorf("a column has no name")
	case !known:
		return fmt.Errorf("dtype %q is none of %s, %s", h.DType, strings.Join(column.KindNames[column.KindBool:column.KindText], ", "), utf8Name)
	case len(h.Shape) != 1 && len(h.Shape) != 2:
		return fmt.Errorf("has shape %v, want [rows] or [rows, n]", h.Shape)
	case h.Shape[0] < 0 || h.Shape[0] > column.MaxRows || len(h.Shape) == 2 && (h.Shape[1] < 1 || h.Shape[1] > math.MaxInt32/16):
		return fmt.Errorf("has shape %v, which cannot be stored", h.Shape)
	case k == column.KindText && len(h.Shape) == 2:
		return fmt.Errorf("is text of shape %v, want [rows]", h.Shape)
	case (k == column.KindTime || k == column.KindDuration) && !slices.Contains(textvalue.Units[:], h.Unit):
		return fmt.Errorf("has time unit %q, want one of %s", h.Unit, strings.Join(textvalue.Units[:], ", "))
	case k == column.KindText && h.Missing:
		return fmt.Errorf("is text, whose offsets say what is missing")
	case k == column.KindText:
		if minBytes := 8 * (h.Shape[0] + 1); h.Bytes < minBytes {
			return fmt.Errorf("has %d bytes, want %d or more for %d texts", h.Bytes, minBytes, h.Shape[0])
		}
		return nil
	}
	// A row of at most 2³¹ bytes and 2⁴⁴ rows could overflow; no header has the bytes for that.
	size := k.DType().Size()
	if h.Missing {
		size++
	}
	if want := float64(h.Shape[0]) * float64(h.width()) * float64(size); want > math.MaxInt64 || h.Bytes != h.Shape[0]*h.width()*size {
		return fmt.Errorf("has %d bytes, want %.0f for %s of shape %v", h.Bytes, want, h.DType, h.Shape)
	}
	return nil
}

// width is the number of values of a row.
func (h Column) width() int64 {
	if len(h.Shape) == 2 {
		return h.Shape[1]
	}
	return 1
}

// Formats of a put.
const (
	FormatColumns = "columns"
	FormatArrow   = "arrow"
)

// Header says what comes over the socket.
type Header struct {
	Format  string   `json:"format"`
	Columns []Column `json:"columns,omitempty"` // with FormatColumns
}

// Column is the header of one column that is sent as raw values.
type Column struct {
	Name  string  `json:"name"`
	DType string  `json:"dtype"`
	Unit  string  `json:"unit,omitempty"`
	Zone  string  `json:"zone,omitempty"`
	Shape []int64 `json:"shape"`
	Bytes int64   `json:"bytes"`
	// Missing tells that a byte for each value follows the values, 1 where it is missing. Texts have their own way to say it.
	Missing bool `json:"missing,omitempty"`
}
