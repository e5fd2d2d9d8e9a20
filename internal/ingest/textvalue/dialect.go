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
	Thousands string // the sign between thousands, "" for none
	Header    bool
	Skip      int64           // lines before the header, or before the values without one
	Comment   byte            // lines that begin with it are skipped; 0 for none
	Missing   map[string]bool // words for a missing value, besides those of [IsMissing]
	Times     TimeFormat      // of the time column
	// CommaBefore is true if a file before has decimal commas. It decides about numbers such as 1,234.
	CommaBefore bool
	// some of these words are numbers, so that every cell is compared with them first
	NumericMissing bool
}

// Delimiters are the signs that may divide cells: those with which no number and no quote is written.
const Delimiters = "\t ,;|:!#$%&*/=@^~"

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

// IsMissingIn is IsMissing for a column of a role. Items may have the names NA, null and so on: only
// the empty cell, and the words of the option, are missing there.
func (d *Dialect) IsMissingIn(role layout.Role, b []byte) bool {
	if role == layout.RoleItemID {
		return len(b) == 0 || d.Missing[string(b)]
	}
	return d.IsMissing(b)
}

// Formatted reports whether the cells of a role are times in the format of the options.
func (d *Dialect) Formatted(role layout.Role) bool {
	return role == layout.RoleTime && !d.Times.IsZero()
}

// Time parses a cell as a time. The forms that only [ParseTimeCell] parses are times only in the time
// column: elsewhere, codes look alike.
func (d *Dialect) Time(b []byte, role layout.Role) (Time, bool) {
	if d.Formatted(role) {
		return d.Times.Parse(b)
	}
	if role == layout.RoleTime {
		return ParseTimeCell(b)
	}
	return ParseTime(b)
}

// Int is [ParseInt] with the sign between thousands of the dialect.
func (d *Dialect) Int(b []byte) (v int64, ok bool) {
	if b, ok = d.Ungroup(b); !ok {
		return 0, false
	}
	return ParseInt(b)
}

// Float is [ParseFloat] with the decimal mark and the sign between thousands of the dialect.
func (d *Dialect) Float(b []byte) (v float64, ok bool) {
	if b, ok = d.Ungroup(b); !ok {
		return 0, false
	}
	if d.Decimal != ',' {
		return ParseFloat(b)
	}
	if bytes.IndexByte(b, '.') >= 0 || len(b) > 1<<10 {
		return 0, false
	}
	return ParseFloat(bytes.Replace(b, []byte{d.Decimal}, []byte{'.'}, 1))
}

// CommentSigns may begin lines that are skipped. No number begins with one.
const CommentSigns = "#%;!/*@&$~^|<>?:="

// CommentError returns the error of a sign that cannot begin comments.
func CommentError(sign string) error {
	return &loaderr.OptionError{Field: "comment", Value: sign,
		Allowed: "one of the signs " + CommentSigns + " that is not the delimiter"}
}

// EqualMarks returns the error of a decimal mark that is the delimiter too. thousands is the sign
// between thousands, which implies the decimal mark if no option names it.
func EqualMarks(decimal, thousands string) error {
	e := &loaderr.OptionError{
		Field: "decimal", Value: decimal, Allowed: "another sign than the delimiter",
		Hint: "name the sign between cells, such as " + loaderr.Option("delimiter", ";"),
	}
	if decimal == "," && thousands == "." {
		e.Field, e.Value = "thousands", thousands
		e.Allowed = "another sign if commas separate cells: with it the comma is the decimal sign"
	}
	return e
}
