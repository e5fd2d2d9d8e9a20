package tsf

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
)

// Types of attributes.
const (
	stringAttribute  = "string"
	numericAttribute = "numeric"
	dateAttribute    = "date"
)

// startName is the attribute with the time of a series' first value.
const startName = "start_timestamp"

// Limits of what the reader keeps of a line.
const (
	maxHeadBytes  = 64 << 10 // of a line of the header, and of the attributes of a series
	maxAttributes = 64
)

// attribute is an attribute of each series.
type attribute struct{ name, kind string }

// header is what the lines above the data say.
type header struct {
	attributes []attribute
	start      int // place of the attribute with the start, -1 if there is none
	frequency  string
	step       step // of the frequency, if there is a start
}

// readHeader reads the lines up to @data. It returns the offset and the number of lines before the data.
func (f *file) readHeader() (begin, line int64, err error) {
	f.start = -1
	r := bufio.NewReaderSize(io.NewSectionReader(reader{f}, 0, f.Size), maxHeadBytes)
	for {
		text, err := r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			return 0, 0, f.lineError(line+1, "", fmt.Sprintf("the line has more than %d bytes before @data",
				maxHeadBytes), hintHeader)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, 0, err
		}
		begin, line = begin+int64(len(text)), line+1
		if hasLoneReturn(text) {
			return 0, 0, f.lineError(line, "", reasonReturn, hintReturn)
		}
		if line == 1 {
			if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
				return 0, 0, f.lineError(line, "", "the text is UTF-16", "save it as UTF-8")
			}
			text = bytes.TrimPrefix(text, []byte("\ufeff"))
		}
		if done, bad := f.headerLine(string(bytes.TrimSpace(text))); bad != nil {
			bad.Path, bad.Line = f.Path(), line
			return 0, 0, bad
		} else if done {
			return begin, line, f.finishHeader()
		}
		if err != nil {
			return 0, 0, &loaderr.SourceError{Path: f.Path(), Reason: "has no line @data", Hint: hintHeader}
		}
	}
}

// hintHeader is the hint for a header that is not one of a .tsf file.
const hintHeader = "a .tsf file has lines such as @attribute series_name string and @frequency daily, and " +
	"then @data; a file of another format needs its suffix"

// headerLine reads a line. done is true after @data.
func (f *file) headerLine(text string) (done bool, bad *loaderr.SourceError) {
	if text == "" || text[0] == '#' {
		return false, nil
	}
	tag := strings.Fields(text)
	switch tag[0] {
	case "@data":
		return true, nil
	case "@frequency":
		if len(tag) != 2 {
			return false, &loaderr.SourceError{Text: text, Reason: "is not a frequency", Hint: hintFrequency()}
		}
		f.frequency = tag[1]
	case "@attribute":
		kinds := []string{stringAttribute, numericAttribute, dateAttribute}
		if len(tag) != 3 || !slices.Contains(kinds, tag[2]) {
			return false, &loaderr.SourceError{Text: text,
				Reason: "is not an attribute with the type string, numeric or date", Hint: hintHeader}
		}
		a := attribute{tag[1], tag[2]}
		if slices.ContainsFunc(f.attributes, func(b attribute) bool { return a.name == b.name }) {
			return false, &loaderr.SourceError{Text: text, Reason: "names an attribute for the second time",
				Hint: "give each attribute a name of its own"}
		}
		if a.name == startName && a.kind == dateAttribute {
			f.start = len(f.attributes)
		}
		f.attributes = append(f.attributes, a)
	default: // @relation, @horizon, @missing and @equallength say nothing that the values do not
		if text[0] != '@' {
			return false, &loaderr.SourceError{Text: text, Reason: "is not a header line; want a line that begins with @ before @data",
				Hint: hintHeader}
		}
	}
	return false, nil
}

// finishHeader checks the header as a whole, and names the columns.
func (f *file) finishHeader() error {
	switch n := len(f.attributes); {
	case n == 0:
		return &loaderr.SourceError{Path: f.Path(), Reason: "has no line @attribute before @data",
			Hint: hintHeader}
	case n > maxAttributes:
		return &loaderr.SourceError{Path: f.Path(),
			Reason: fmt.Sprintf("has %d attributes, at most %d", n, maxAttributes),
			Hint:   "leave out attributes that no model needs"}
	}
	for i, a := range f.attributes {
		if i == f.start {
			continue
		}
		if a.name == timeName || a.name == valueName {
			return &loaderr.SourceError{Path: f.Path(), Column: a.name,
				Reason: "is an attribute, and has the name of the column of times or values",
				Hint:   "rename the attribute"}
		}
		f.names = append(f.names, a.name)
	}
	f.decimals = make([]bool, len(f.attributes))
	if f.start >= 0 {
		var ok bool
		if f.step, ok = stepOf(f.frequency); !ok {
			e := &loaderr.SourceError{Path: f.Path(), Text: f.frequency, Reason: "is not a frequency",
				Hint: hintFrequency()}
			if f.frequency == "" {
				e.Reason = "its series have a " + startName + ", and it has no line @frequency"
			}
			return e
		}
		f.names = append(f.names, timeName)
	}
	f.names = append(f.names, valueName)
	return nil
}

// lineError returns the error for a line of the file.
func (f *file) lineError(line int64, text, reason, hint string) *loaderr.SourceError {
	return &loaderr.SourceError{Path: f.Path(), Line: line, Text: text, Reason: reason, Hint: hint}
}

// reader reads a file at an offset.
type reader struct{ *file }

func (r reader) ReadAt(buf []byte, at int64) (n int, err error) {
	if n, err = r.file.ReadAt(buf, at); err == nil && n < len(buf) {
		err = io.EOF
	}
	return n, err
}
