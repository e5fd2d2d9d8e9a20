package put

import (
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tensorcache/tensorcache/internal/calendar"
	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/textvalue"
	"github.com/tensorcache/tensorcache/layout"
)

// Check returns an error if a header is inconsistent or describes a column that cannot be stored.
func (h Column) Check() error {
	k, known := arrayKind(h.DType)
	if h.StepsOf != nil {
		if err := h.StepsOf.check(); err != nil {
			return err
		}
	}
	if of := h.PartOfFilled; of != nil {
		if err := checkNames("part_of_filled", of.Dataset, of.Column); err != nil {
			return err
		}
	}
	if _, ok := calendar.Of(h.Calendar); !ok && h.Calendar != "" {
		return fmt.Errorf("calendar is %q, want a feature of the load option", h.Calendar)
	}
	switch {
	case h.Name == "":
		return fmt.Errorf("a column has no name")
	case !known:
		return fmt.Errorf("dtype %q is none of %s, %s",
			h.DType, strings.Join(column.KindNames[:column.KindText], ", "), utf8Name)
	case len(h.Shape) != 1 && len(h.Shape) != 2:
		return fmt.Errorf("has shape %v, want [rows] or [rows, n]", h.Shape)
	case h.Shape[0] < 0 || h.Shape[0] > column.MaxRows ||
		len(h.Shape) == 2 && (h.Shape[1] < 1 || h.Shape[1] > math.MaxInt32/16):
		return fmt.Errorf("has shape %v, which cannot be stored", h.Shape)
	case k == column.KindUnknown && (len(h.Shape) != 1 || h.Bytes != 0 || h.Missing):
		return fmt.Errorf("is %s, want no bytes and shape [rows]", nullName)
	case k == column.KindUnknown:
		return nil
	case k == column.KindText && len(h.Shape) == 2:
		return fmt.Errorf("is text of shape %v, want [rows]", h.Shape)
	case (k == column.KindTime || k == column.KindDuration) &&
		!slices.Contains(textvalue.Units[:], h.Unit):
		return fmt.Errorf("has time unit %q, want one of %s",
			h.Unit, strings.Join(textvalue.Units[:], ", "))
	case k == column.KindText && h.Missing:
		return fmt.Errorf("is text, whose offsets say what is missing")
	case k == column.KindText:
		if minBytes := 8 * (h.Shape[0] + 1); h.Bytes < minBytes {
			return fmt.Errorf("has %d bytes, want %d or more for %d texts", h.Bytes,
				minBytes, h.Shape[0])
		}
		return nil
	}
	// 2⁴⁴ rows of 2³¹ bytes overflow int64, so want is a float64. No header has that many bytes.
	size := k.DType().Size()
	if h.Missing {
		size++
	}
	if want := float64(h.Shape[0]) * float64(h.width()) * float64(size); want > math.MaxInt64 ||
		h.Bytes != h.Shape[0]*h.width()*size {
		return fmt.Errorf("has %d bytes, want %.0f for %s of shape %v", h.Bytes, want,
			h.DType, h.Shape)
	}
	return nil
}

// IsText reports whether the values are texts.
func (h Column) IsText() bool { return h.DType == utf8Name }

// width returns the number of values in a row.
func (h Column) width() int64 {
	if len(h.Shape) == 2 {
		return h.Shape[1]
	}
	return 1
}

// Formats of the values of a put: raw columns or an Arrow stream.
const (
	FormatColumns = "columns"
	FormatArrow   = "arrow"
)

// Header describes the bytes that a client sends over the socket.
type Header struct {
	Format  string   `json:"format"`
	Columns []Column `json:"columns,omitempty"` // only with FormatColumns
}

// Column is the header of one column that is sent as raw values.
type Column struct {
	Name  string  `json:"name"`
	DType string  `json:"dtype"`          // name of a kind, utf8 or null
	Unit  string  `json:"unit,omitempty"` // of a timestamp or a duration
	Zone  string  `json:"zone,omitempty"` // time zone of a timestamp
	Shape []int64 `json:"shape"`          // [rows] or [rows, n]
	Bytes int64   `json:"bytes"`          // of the values and the bytes for missing values
	// Missing is true if one byte per value follows the values: 1 if the value is missing, 0 if it
	// is not. It is false for texts, whose offsets mark missing values.
	Missing bool `json:"missing,omitempty"`
	// NamedOnly is true if windows include the column only where a spec names it.
	NamedOnly bool `json:"named_only,omitempty"`
	// Calendar is the feature that a load computed the values as, "" if it did not.
	Calendar string `json:"calendar,omitempty"`
	// Decimal is true if values are decimals, rounded to float64, and all are whole numbers or one is
	// 2^53 or more.
	Decimal bool `json:"decimal,omitempty"`
	// StepsOf names the column that the values are of, if they have steps.
	StepsOf *StepsOf `json:"steps_of,omitempty"`
	// PartOfFilled names the column in which a load filled values, if the values are a part or a cast
	// of it, or of a part of it.
	PartOfFilled *layout.PartOf `json:"part_of_filled,omitempty"`
}

// StepsOf names a column of a generation.
type StepsOf struct {
	Dataset    string `json:"dataset"`
	Generation int64  `json:"generation"`
	Digest     string `json:"digest"`
	Column     string `json:"column"`
	// Changed is true if the values are a part or a cast of those of the column.
	Changed bool `json:"changed,omitempty"`
}

// Description says what the values are, as in `is column "x" of dataset "d"`.
func (s StepsOf) Description() string {
	what := "is"
	if s.Changed {
		what = "is a part or a cast of"
	}
	return fmt.Sprintf("%s column %q of dataset %q", what, s.Column, s.Dataset)
}

// maxName is the largest number of bytes of the name of another dataset's column.
const maxName = 4 << 10

// check returns an error if no column can have the name.
func (s StepsOf) check() error {
	digest, err := hex.DecodeString(s.Digest)
	if err != nil || len(digest) != 16 {
		return fmt.Errorf("steps_of: the digest is %.40q, want 32 hex digits", s.Digest)
	}
	return checkNames("steps_of", s.Dataset, s.Column)
}

// checkNames returns an error if no dataset or no column can have the name in a field.
func checkNames(field, dataset, column string) error {
	if len(column) > maxName || !utf8.ValidString(column) {
		return fmt.Errorf("%s: the column is %.40q…, want a name of at most %d bytes of UTF-8", field,
			column, maxName)
	}
	if err := layout.CheckName(dataset); err != nil {
		return fmt.Errorf("%s: %w", field, err)
	}
	return nil
}
