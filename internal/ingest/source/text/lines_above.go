package text

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/textvalue"
)

// usualCommentSigns are the signs with which comments usually begin.
const usualCommentSigns = "#%!;"

// checkLinesAbove refuses a file whose columns are named further down, below comments or lines with
// fewer cells. It returns nil if the first rows do not show that.
func (c *csvFile) checkLinesAbove() error {
	if !c.Text.Header {
		return nil
	}
	head, err := c.firstRows()
	if err != nil {
		return err
	}
	signs := usualCommentSigns
	if c.Text.Comment != 0 {
		signs = ""
	}
	for _, delim := range c.delimiters() {
		for _, sign := range []byte(signs) {
			if head[0] != sign || sign == delim {
				continue
			}
			if at, cells, found := c.headerBelow(head, delim, sign, false); found {
				return c.lineAbove(head[:at], cells, loaderr.Option("comment", string(rune(sign))))
			}
		}
		for _, sign := range []byte(signs) {
			if delim != c.delim || sign == delim {
				continue
			}
			if at, cells, found := c.headerBelow(head, delim, sign, true); found {
				text := string(rune(sign))
				return c.lineAbove(head[:at], cells, fmt.Sprintf("%s and, if lines with %s are comments, %s",
					loaderr.Option("skip", c.linesIn(head[:at])), text, loaderr.Option("comment", text)))
			}
		}
		if at, cells, found := c.headerBelow(head, delim, 0, true); found {
			hint := loaderr.Option("skip", c.linesIn(head[:at]))
			if delim != c.delim {
				hint += "; otherwise load with " + loaderr.Option("delimiter", string(rune(c.delim)))
			}
			return c.lineAbove(head[:at], cells, hint)
		}
	}
	return nil
}

// lineAbove returns the refusal of a file for its lines above the line with the names.
func (c *csvFile) lineAbove(above []byte, cells int, hint string) error {
	return &loaderr.SourceError{
		Path: c.Path(), Line: c.linesIn(above) + 1,
		Reason: fmt.Sprintf("has %s, and the lines above it have fewer", loaderr.Count(cells, "cell")),
		Hint:   "if it names the columns, load with " + hint,
	}
}

// delimiters returns the delimiter and, if no option gives it, others that the file may have.
func (c *csvFile) delimiters() []byte {
	if c.Text.Delimiter != 0 {
		return []byte{c.delim}
	}
	return slices.Compact(append([]byte{c.delim}, ",;\t|"...))
}

// linesIn returns the number of lines of the file in its first bytes and before them.
func (c *csvFile) linesIn(above []byte) int64 {
	return c.beginLine + int64(bytes.Count(above, []byte{'\n'}))
}

// headerBelow returns the offset in head of a row of names that begins the rows with the most cells,
// and their number. Lines that begin with comment, unless it is 0, are no rows. Only such lines may be
// above the names; with titles others are, and comments without a delimiter are below. found is false if
// the row is in the first line, if none of the rows below it has a number or a time, or if rows with
// fewer cells are between them.
func (c *csvFile) headerBelow(head []byte, delim, comment byte, titles bool) (
	at, cells int, found bool) {
	s := splitter{delim: delim, buf: head}
	var names []cell
	var values, ended, ragged, comments bool // of the rows below the names
	for range dialectRows {
		if s.skipEmptyLines(); s.at >= len(head) {
			break
		}
		if comment != 0 && head[s.at] == comment {
			end := s.at + bytes.IndexByte(head[s.at:], '\n') + 1
			comments = true
			ragged = ragged || titles && bytes.IndexByte(head[s.at:end], delim) >= 0
			s.at = end
			continue
		}
		row, err := s.nextRow(nil)
		if err != nil { // a line of text, whose quotes mean nothing
			row, s.at = make([]cell, 1), s.start+bytes.IndexByte(head[s.start:], '\n')+1
		}
		switch {
		case len(row) > len(names) && (titles || names == nil):
			at, names, values, ended, comments = s.start, row, false, false, false
		case len(row) == len(names):
			values = values || slices.ContainsFunc(row, c.isNumberOrTime)
			ragged = ragged || ended
		default:
			ended = true
		}
	}
	return at, len(names), at > 0 && len(names) > 1 && values && !ragged &&
		(comments || comment == 0 || !titles) && c.mayBeNames(names)
}

// mayBeNames reports whether cells may be the names of columns. Names after the first may be times, of
// series in rows.
func (c *csvFile) mayBeNames(cells []cell) bool {
	return !c.isNumberOrTime(cells[0]) && !slices.ContainsFunc(cells, func(x cell) bool {
		_, isNumber := c.Text.Float(x.trimmed())
		return isNumber || len(x.trimmed()) == 0
	})
}

// isNumberOrTime reports whether a cell is a number or a time.
func (c *csvFile) isNumberOrTime(x cell) bool {
	b := x.trimmed()
	if _, ok := c.Text.Float(b); ok {
		return true
	}
	_, ok := textvalue.ParseTimeCell(b)
	return ok
}

// LineWith returns the line of the first row that has a cell with a text. It looks at the first
// [dialectRows] lines, each with any delimiter.
func (c *csvFile) LineWith(text string) (line int64, ok bool) {
	head, err := c.firstRows()
	if err != nil || !c.Text.Header {
		return 0, false
	}
	for at, row := int(c.dataOffset-c.begin), 0; at < len(head) && row < dialectRows; row++ {
		end := at + bytes.IndexByte(head[at:], '\n') + 1
		for _, delim := range c.delimiters() {
			s := splitter{delim: delim, buf: head[at:end]}
			cells, err := s.nextRow(nil)
			if err == nil && slices.ContainsFunc(cells, func(x cell) bool {
				return string(x.trimmed()) == text || string(x.text()) == text
			}) {
				return c.linesIn(head[:at]) + 1, true
			}
		}
		at = end
	}
	return 0, false
}
