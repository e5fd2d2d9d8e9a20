package tsf

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
	"github.com/tensorcache/tensorcache/internal/ingest/textvalue"
)

// scanner finds the segments of the file.
type scanner struct {
	*file
	open        segment // the one that the next values belong to; its line is 0 in a line without values
	afterReturn bool    // the part of a line before ends with a carriage return
}

// scan reads the lines from an offset on, counts their values and checks their attributes. line is the
// number of lines before.
func (f *file) scan(begin, line int64) error {
	s := &scanner{file: f}
	r := bufio.NewReaderSize(io.NewSectionReader(reader{f}, begin, f.Size-begin),
		int(max(f.BlockBytes, maxHeadBytes)))
	inLine := false
	for {
		chunk, err := r.ReadSlice('\n')
		full := errors.Is(err, bufio.ErrBufferFull)
		if err != nil && !full && !errors.Is(err, io.EOF) {
			return err
		}
		if !inLine {
			line++
		}
		if s.afterReturn && len(chunk) > 0 && chunk[0] != '\n' || hasLoneReturn(chunk) {
			return f.lineError(line, "", reasonReturn, hintReturn)
		}
		s.afterReturn = full && chunk[len(chunk)-1] == '\r'
		if len(chunk) > 0 || inLine {
			if bad := s.chunk(chunk, begin, line, inLine, !full); bad != nil {
				bad.Path = f.Path()
				if bad.Line == 0 {
					bad.Line = line
				}
				return bad
			}
		}
		begin, inLine = begin+int64(len(chunk)), full
		if err != nil && !full {
			break
		}
	}
	f.makeSpans()
	return nil
}

// The error for a carriage return within a line: for some readers it is the end of one.
const (
	reasonReturn = "a carriage return is within the line"
	hintReturn   = "end lines with a line feed"
)

// hasLoneReturn reports whether a carriage return is in a line, or a part of one, neither at its end nor
// before its line feed.
func hasLoneReturn(line []byte) bool {
	at := bytes.IndexByte(line, '\r')
	return at >= 0 && at < len(line)-1 && string(line[at:]) != "\r\n"
}

// chunk scans a part of a line, at a file offset. inLine is true if it is not the first part, and ends
// if it is the last.
func (s *scanner) chunk(chunk []byte, at, line int64, inLine, ends bool) *loaderr.SourceError {
	values := chunk
	if !inLine {
		text := bytes.TrimLeft(chunk, " \t\r\n\v\f")
		if len(text) == 0 && ends || len(text) > 0 && text[0] == '#' {
			s.open = segment{} // the rest of the line is skipped
			return nil
		}
		begin := at + int64(len(chunk)-len(text))
		cells, n := splitHead(text, len(s.attributes))
		if cells == nil || n > maxHeadBytes {
			return s.headError(text, n, ends && len(text) <= maxHeadBytes)
		}
		if bad := s.checkAttributes(cells); bad != nil {
			return bad
		}
		for i, a := range s.attributes {
			s.hashes = append(s.hashes, a.hash(cells[i]))
		}
		s.open = segment{begin: begin, row0: s.values, series: s.series, line: line, head: begin,
			headBytes: int64(n)}
		s.series++
		values, at = text[n:], begin+int64(n)
		if ends && len(bytes.TrimSpace(values)) == 0 {
			return &loaderr.SourceError{Reason: "the series has no values", Hint: "leave the line out"}
		}
	}
	if s.open.line == 0 {
		return nil
	}
	s.values += int64(bytes.Count(values, []byte{','}))
	if ends {
		s.values++
		s.close(at + int64(len(values)))
	} else if last := bytes.LastIndexByte(values, ','); last >= 0 {
		s.close(at + int64(last) + 1)
	}
	return nil
}

// close ends the open segment at a file offset, and opens the next one of the series.
func (s *scanner) close(end int64) {
	s.open.end = end
	s.segments = append(s.segments, s.open)
	s.open.first += s.values - s.open.row0
	s.open.row0, s.open.begin = s.values, end
}

// splitHead returns the attributes at the begin of a line, and the number of their bytes with the colon
// after each. If there are too few colons, cells is nil and n their number.
func splitHead(line []byte, attributes int) (cells [][]byte, n int) {
	for range attributes {
		end := bytes.IndexByte(line[n:], ':')
		if end < 0 {
			return nil, len(cells)
		}
		cells = append(cells, line[n:n+end])
		n += end + 1
	}
	return cells, n
}

// headError is the error for a line with too few colons in the first bytes. isShort is true if these are
// the whole line.
func (s *scanner) headError(text []byte, colons int, isShort bool) *loaderr.SourceError {
	if !isShort {
		return &loaderr.SourceError{
			Reason: fmt.Sprintf("the attributes of the series take more than %d bytes", maxHeadBytes),
			Hint:   "shorten them",
		}
	}
	return &loaderr.SourceError{
		Text: string(bytes.TrimSpace(text[:min(len(text), 80)])),
		Reason: fmt.Sprintf("has %s before its values, want %d, as the lines @attribute say",
			loaderr.Count(colons, "attribute"), len(s.attributes)),
		Hint: "separate attributes and values with colons",
	}
}

// checkAttributes checks the values of numeric attributes and of dates.
func (s *scanner) checkAttributes(cells [][]byte) *loaderr.SourceError {
	for i, a := range s.attributes {
		bad := &loaderr.SourceError{Row: s.series + 1, Column: a.name, Text: string(cells[i])}
		switch a.kind {
		case numericAttribute:
			if _, ok := textvalue.ParseInt(bytes.TrimSpace(cells[i])); ok {
				continue
			}
			if _, ok := textvalue.ParseFloat(bytes.TrimSpace(cells[i])); !ok {
				bad.Reason, bad.Hint = "is not a number", "correct it, or say that its @attribute is a string"
				return bad
			}
			s.decimals[i] = true
		case dateAttribute:
			if _, ok := parseStart(string(cells[i])); !ok {
				bad.Reason, bad.Hint = "is not a time", "write it as 1996-03-18 00-00-00"
				return bad
			}
		}
	}
	return nil
}

// makeSpans groups segments to spans of about a block each.
func (f *file) makeSpans() {
	var s source.Span
	for i, x := range f.segments {
		if s.Rows > 0 && x.end-s.Begin > 2*max(f.BlockBytes, maxHeadBytes) { // long comments are between
			f.AddSpan(s)
			s = source.Span{}
		}
		if s.Rows == 0 {
			s = source.Span{Begin: x.begin, Row0: x.row0, Line0: x.line - 1}
		}
		s.End, s.Rows = x.end, x.row0+f.rowsOf(i)-s.Row0
		if s.End-s.Begin >= f.BlockBytes || i == len(f.segments)-1 {
			f.AddSpan(s)
			s = source.Span{}
		}
	}
}

// rowsOf returns the number of values of a segment.
func (f *file) rowsOf(i int) int64 {
	if i+1 < len(f.segments) {
		return f.segments[i+1].row0 - f.segments[i].row0
	}
	return f.values - f.segments[i].row0
}
