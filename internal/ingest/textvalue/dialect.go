package textvalue

import (
	"bytes"
	"fmt"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/layout"
)

// Dialect is how text files are written, as far as the options say it.
type Dialect struct {
	Option         string // the first option of text files that is given, "" for none
	Delimiter      byte   // 0 if the name of a file tells
	Decimal        byte
	Header         bool
	Missing        map[string]bool // words for no value, beside those of isMissing
	Times          TimeFormat      // of the time column
	NumericMissing bool            // some of these words are numbers: every cell must be looked at as a word first
}

// DefaultDialect is that of no option.
var DefaultDialect = Dialect{Decimal: '.', Header: true}

// CheckUnused refuses the options of text files for what is none.
func (d Dialect) CheckUnused(path string) error {
	if d.Option == "" {
		return nil
	}
	return &loaderr.OptionError{Field: d.Option, Allowed: fmt.Sprintf("it only for CSV and TSV files, not for %s", path)}
}

// IsMissing reports whether a cell stands for no value.
func (d *Dialect) IsMissing(b []byte) bool { return IsMissing(b) || d.Missing[string(b)] }

// Formatted reports whether the cells of a role are times in the format that the options say.
func (d *Dialect) Formatted(role layout.Role) bool {
	return role == layout.RoleTime && (d.Times.Layout != "" || d.Times.Epoch)
}

// Time reads a cell as a time.
func (d *Dialect) Time(b []byte, role layout.Role) (Time, bool) {
	if d.Formatted(role) {
		return d.Times.Parse(b)
	}
	return ParseTime(b)
}

// Float is parseFloat with the decimal sign of the dialect.
func (d *Dialect) Float(b []byte) (v float64, ok bool) {
	if d.Decimal == '.' {
		return ParseFloat(b)
	}
	if bytes.IndexByte(b, '.') >= 0 || len(b) > 1<<10 {
		return 0, false
	}
	return ParseFloat(bytes.Replace(b, []byte{d.Decimal}, []byte{'.'}, 1))
}

// EqualMarks is the error of a decimal sign that is the delimiter too.
func EqualMarks(decimal string) error {
	return &loaderr.OptionError{Field: "decimal", Value: decimal, Allowed: "another sign than the delimiter", Hint: `name the sign between cells with --delimiter, such as --delimiter ";"`}
}
