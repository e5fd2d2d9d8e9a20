package text

import (
	"bytes"
	"errors"
)

// Errors of splitting a row. Their texts are part of error messages.
var (
	errBufferEnd      = errors.New("the buffer ends within the row")
	errStrayQuote     = errors.New("has a quote within a cell that does not begin with one")
	errUnclosedQuote  = errors.New("has a quoted cell that is not closed")
	errTextAfterQuote = errors.New("has a quoted cell that goes on after its closing quote")
)

// cell is the bytes of a cell in the file, without the quotes around it.
type cell struct {
	raw    []byte
	quoted bool
}

// text returns the text of the cell, in which a doubled quote becomes one. Line ends inside quotes
// stay as they are.
func (c cell) text() []byte {
	if !c.quoted || bytes.IndexByte(c.raw, '"') < 0 {
		return c.raw
	}
	return bytes.ReplaceAll(c.raw, []byte(`""`), []byte(`"`))
}

// trimmed returns the bytes without spaces and tabs around them.
func (c cell) trimmed() []byte {
	b := c.raw
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t') {
		b = b[:len(b)-1]
	}
	return b
}

// splitter splits rows into cells. The buffer must end with a line feed.
type splitter struct {
	delim byte
	buf   []byte
	at    int
	start int // position of the current row
}

// skipEmptyLines moves to the next line that is not empty.
func (s *splitter) skipEmptyLines() {
	for s.at < len(s.buf) {
		switch {
		case s.buf[s.at] == '\n':
			s.at++
		case s.buf[s.at] == '\r' && s.at+1 < len(s.buf) && s.buf[s.at+1] == '\n':
			s.at += 2
		default:
			return
		}
	}
}

// nextRow appends the cells of the next row to cells.
func (s *splitter) nextRow(cells []cell) ([]cell, error) {
	s.start = s.at
	for {
		x, end, err := splitCell(s.buf, s.at, s.delim)
		if err != nil {
			return cells, err
		}
		cells = append(cells, x)
		s.at = end + 1
		if s.buf[end] == '\n' {
			return cells, nil
		}
	}
}

// splitCell returns the cell at i and the position of the delimiter or line feed after it.
func splitCell(buf []byte, i int, delim byte) (x cell, end int, err error) {
	if i < len(buf) && buf[i] == '"' {
		return splitQuoted(buf, i+1, delim)
	}
	for end = i; end < len(buf); end++ {
		switch buf[end] {
		case delim:
			return cell{raw: buf[i:end]}, end, nil
		case '\n':
			raw := buf[i:end]
			if n := len(raw); n > 0 && raw[n-1] == '\r' {
				raw = raw[:n-1]
			}
			return cell{raw: raw}, end, nil
		case '"':
			return x, end, errStrayQuote
		}
	}
	return x, end, errBufferEnd
}

// splitQuoted returns the quoted cell whose text begins at i, after its opening quote.
func splitQuoted(buf []byte, i int, delim byte) (x cell, end int, err error) {
	for end = i; ; end += 2 {
		n := bytes.IndexByte(buf[end:], '"')
		if n < 0 || end+n+1 >= len(buf) {
			return x, len(buf), errBufferEnd
		}
		end += n
		if buf[end+1] != '"' {
			break
		}
	}
	x = cell{raw: buf[i:end], quoted: true}
	end++
	if buf[end] == '\r' && end+1 < len(buf) && buf[end+1] == '\n' {
		end++
	}
	if buf[end] != delim && buf[end] != '\n' {
		return x, end, errTextAfterQuote
	}
	return x, end, nil
}
