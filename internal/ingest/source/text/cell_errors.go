package text

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tensorcache/tensorcache/internal/ingest/charset"
	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
	"github.com/tensorcache/tensorcache/internal/ingest/textvalue"
	"github.com/tensorcache/tensorcache/layout"
)

// cellError returns the error for a cell that its column cannot hold. row counts from 0.
func (c *csvFile) cellError(
	col column.Column, role layout.Role, x cell, row, line int64, reason string,
) error {
	e := &loaderr.SourceError{
		Path:   c.Path(),
		Column: col.Name,
		Text:   string(x.text()),
		Row:    row + 1,
		Line:   line,
		Reason: reason,
	}
	timeHint := c.timeHint(col, e.Text)
	switch {
	case !utf8.ValidString(e.Text):
		e.Reason, e.Hint = "is not UTF-8", hintEncoding(e.Text)
	case reason == reasonTime && role != layout.RoleTime && timeHint != "":
		e.Hint = timeHint
	case reason == reasonTime:
		e.Hint = textvalue.TimeHint(e.Text)
	case (reason == reasonNumber || reason == reasonText) && col.Cells && c.isBeyondFloat64(x):
		e.Reason = "is beyond the range of float64"
		e.Hint = hintCorrect(col)
	case reason == reasonInteger:
		e.Hint = "if these are times, say how they are written with `time_format`"
	case (reason == reasonText || reason == reasonMixed) && c.unsplit(e.Text) != "":
		e.Hint = c.unsplit(e.Text)
	case reason == reasonText && timeHint != "":
		e.Hint = timeHint
	case reason == reasonText && c.hintBlanks(e.Text) != "":
		e.Hint = c.hintBlanks(e.Text)
	case (reason == reasonNumber || reason == reasonText) && c.numberHint(e.Text) != "":
		e.Hint = c.numberHint(e.Text)
	case reason == reasonMixed || reason == reasonDate || reason == reasonText ||
		reason == reasonBool:
		e.Hint = "name the words for a missing value with `na`, or " + column.HintText(col)
	case reason == source.ReasonMissing && col.Kind == column.KindBool:
		e.Hint = source.HintMissingBool(col)
	case reason == reasonZone:
		e.Hint = "write a zone in every cell or in none"
	case reason == reasonFormat:
		e.Hint = "give the format of all cells, or correct the cell"
	case reason == reasonNarrow:
		e.Hint = column.HintWider
	case reason == source.ReasonItem || reason == source.ReasonNoTime:
		e.Hint = loaderr.HintDropRows
	case role == layout.RoleValue && reason == reasonNumber:
		asText := ""
		if col.Cells {
			asText = " " + column.HintText(col) + ","
		}
		e.Hint = "if it means a missing value, name it with `na`; otherwise correct the cell," + asText +
			" or leave the column out with `columns`"
	case role == layout.RoleValue:
		e.Hint = "correct the cell, or leave the column out with `columns`"
	}
	if e.Text == "" {
		e.Reason = "the cell " + e.Reason
	}
	return e
}

// hintCorrect returns the hint for a cell that no option makes a number.
func hintCorrect(col column.Column) string {
	return "correct the cell, " + column.HintText(col) + ", or leave the column out with `columns`"
}

// hintEncoding returns the hint for a text that is not UTF-8.
func hintEncoding(text string) string {
	if charset.MayBeCP1252([]byte(text)) {
		return "save the file as UTF-8, or load it with " +
			loaderr.Option("encoding", charset.CP1252)
	}
	return "save the file as UTF-8, or say with `encoding` how it is encoded"
}

// unsplit returns what to do with a cell that looks like several cells, or "".
func (c *csvFile) unsplit(cell string) string {
	at := strings.IndexAny(cell, ";|\t")
	if at < 0 && len(c.header) == 1 {
		at = strings.IndexByte(cell, ',')
	}
	if at < 0 || cell[at] == c.delim {
		return ""
	}
	sign := strings.ReplaceAll(cell[at:at+1], "\t", "tab")
	return "if that separates cells, load it with " + loaderr.Option("delimiter", sign)
}

// hintBlanks returns what to do with a cell that looks like several cells with blanks between them, as
// many as the only name does, or "".
func (c *csvFile) hintBlanks(cell string) string {
	names, cells := strings.Fields(c.header[0]), strings.Fields(cell)
	if len(c.header) > 1 || len(cells) < 2 || len(cells) != len(names) {
		return ""
	}
	hint := "if blanks separate cells, "
	if strings.Join(names, " ") == c.header[0] && strings.Join(cells, " ") == cell {
		hint += "load it with " + loaderr.Option("delimiter", " ")
	} else {
		hint += "write one tab or comma between two cells"
	}
	if number := c.numberHint(cell); number != "" {
		hint += "; " + number
	}
	return hint
}

// isBeyondFloat64 reports whether a cell is a number that is larger than all of float64.
func (c *csvFile) isBeyondFloat64(x cell) bool {
	text := string(x.trimmed())
	if c.Text.Decimal == ',' {
		text = strings.Replace(text, ",", ".", 1)
	}
	_, err := strconv.ParseFloat(text, 64)
	return errors.Is(err, strconv.ErrRange)
}

// timeHint returns what to do with a cell of a value column that may be a time, or "". If the load
// names a time column, the cell cannot be the time of its row.
func (c *csvFile) timeHint(col column.Column, cell string) string {
	_, isTime := textvalue.ParseTimeCell([]byte(cell))
	formats := textvalue.TimeFormats(cell)
	if !isTime && len(formats) == 0 {
		return ""
	}
	if c.HasTime {
		return hintCorrect(col)
	}
	hint := "if these are the times of the rows, load with " + loaderr.Option("time", col.Name)
	if !isTime {
		hint += " and " + textvalue.JoinFormats(formats)
	}
	return hint
}

// numberHint returns what to do with a cell that is a number in another form, or "".
func (c *csvFile) numberHint(cell string) string { return numberHint(cell, &c.Text, c.delim) }
