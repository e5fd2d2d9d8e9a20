package textvalue

import (
	"bytes"
	"fmt"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/layout"
)

// Dialect is how text files are written, by the options.
type Dialect struct {
	Option    string // the first option of text files that is given, "" for none
	Encoding  string // "" for the one that the load finds
	Delimiter byte   // 0 for the one that the reader finds
	Decimal   byte   // 0 for the one that the reader finds
	Header    bool
	Missing   map[string]bool // words for a missing value, besides those of [IsMissing]
	Times     TimeFormat      // of the time column
	// CommaBefore is true if a file before has decimal commas. It decides about numbers such as 1,234.
	CommaBefore bool
	// some of these words are numbers, so that every cell is compared with them first
	NumericMissing bool
}

// DefaultDialect is the dialect without options.
var DefaultDialect = Dialect{Header: true}

// Found is what a reader finds out about a text file that the options leave open. 0 and "" are what a
// plain file has: UTF-8, commas between cells, tabs in .tsv files, and decimal points.
type Found struct {
	Path               string // of the file
	Encoding           string
	Delimiter, Decimal byte
	Unclear            bool // all decimal points may stand between thousands, as that of 1.234
}

// SetDecimal sets the decimal mark, 0 for one that the reader finds, after Missing.
func (d *Dialect) SetDecimal(mark byte) {
	d.Decimal, d.NumericMissing = mark, false
	for word := range d.Missing {
		_, number := d.Float([]byte(word))
		d.NumericMissing = d.NumericMissing || number
	}
}

// CheckUnused refuses options of text files for a source of another format. path is its name in the
// message. The error is a [loaderr.OptionError].
func (d Dialect) CheckUnused(path string) error {
	if d.Option == "" {
		return nil
	}
	return &loaderr.OptionError{
		Field: d.Option, Allowed: fmt.Sprintf("it only for CSV and TSV files, not for %s", path),
	}
}

// IsMissing reports whether a cell is a missing value.
func (d *Dialect) IsMissing(b []byte) bool { return IsMissing(b) || d.Missing[string(b)] }

// Formatted reports whether the cells of a role are times in the format of the options.
func (d *Dialect) Formatted(role layout.Role) bool {
	return role == layout.RoleTime && !d.Times.IsZero()
}

// Time parses a cell as a time. A month is only one in the time column: elsewhere, codes look alike.
func (d *Dialect) Time(b []byte, role layout.Role) (Time, bool) {
	if d.Formatted(role) {
		return d.Times.Parse(b)
	}
	if role == layout.RoleTime {
		return ParseTimeOrMonth(b)
	}
	return ParseTime(b)
}

// Float is [ParseFloat] with the decimal mark of the dialect.
func (d *Dialect) Float(b []byte) (v float64, ok bool) {
	if d.Decimal != ',' {
		return ParseFloat(b)
	}
	if bytes.IndexByte(b, '.') >= 0 || len(b) > 1<<10 {
		return 0, false
	}
	return ParseFloat(bytes.Replace(b, []byte{d.Decimal}, []byte{'.'}, 1))
}

// EqualMarks returns the error of a decimal mark that is the delimiter too.
func EqualMarks(decimal string) error {
	return &loaderr.OptionError{
		Field: "decimal", Value: decimal, Allowed: "another sign than the delimiter",
		Hint: "name the sign between cells, such as " + loaderr.Option("delimiter", ";"),
	}
}
