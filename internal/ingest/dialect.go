package ingest

import (
	"bytes"
	"fmt"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/textvalue"
	"github.com/tensorcache/tensorcache/layout"
)

// dialect is how text files are written, as far as the options say it.
type dialect struct {
	option  string // the first option of text files that is given, "" for none
	delim   byte   // 0 where the name of a file tells
	point   byte
	header  bool
	missing map[string]bool      // words for no value, beside those of isMissing
	times   textvalue.TimeFormat // of the time column
	numbers bool                 // some of these words are numbers: every cell must be looked at as a word first
}

// defaultDialect is that of no option.
var defaultDialect = dialect{point: '.', header: true}

// only refuses the options of text files for what is none.
func (d dialect) only(path string) error {
	if d.option == "" {
		return nil
	}
	return &loaderr.OptionError{Field: d.option, Allowed: fmt.Sprintf("it only for CSV and TSV files, not for %s", path)}
}

// isMissing tells whether a cell stands for no value.
func (d *dialect) isMissing(b []byte) bool { return textvalue.IsMissing(b) || d.missing[string(b)] }

// formatted tells whether the cells of a role are times in the format that the options say.
func (d *dialect) formatted(role layout.Role) bool {
	return role == layout.RoleTime && (d.times.Layout != "" || d.times.Epoch)
}

// time reads a cell as a time.
func (d *dialect) time(b []byte, role layout.Role) (textvalue.Time, bool) {
	if d.formatted(role) {
		return d.times.Parse(b)
	}
	return textvalue.ParseTime(b)
}

// float is parseFloat with the decimal sign of the dialect.
func (d *dialect) float(b []byte) (v float64, ok bool) {
	if d.point == '.' {
		return textvalue.ParseFloat(b)
	}
	if bytes.IndexByte(b, '.') >= 0 || len(b) > 1<<10 {
		return 0, false
	}
	return textvalue.ParseFloat(bytes.Replace(b, []byte{d.point}, []byte{'.'}, 1))
}

func equalMarks(decimal string) error {
	return &loaderr.OptionError{Field: "decimal", Value: decimal, Allowed: "another sign than the delimiter", Hint: `name the sign between cells with --delimiter, such as --delimiter ";"`}
}
