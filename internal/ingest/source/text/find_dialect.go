package text

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tensorcache/tensorcache/internal/ingest/source"
	"github.com/tensorcache/tensorcache/internal/ingest/textvalue"
)

// dialectRows is the number of rows by which findDialect decides. It decides by fewer if they have
// more than dialectBytes.
const (
	dialectRows  = 100
	dialectBytes = 1 << 20
)

// findDialect sets the delimiter and the decimal mark to those of the options, and finds by the
// first rows what the options leave open. The plain reading, with commas (tabs in .tsv files) and
// decimal points, wins wherever it is possible. name is the name of the file before compression,
// encoding the one that was found for it.
func (c *csvFile) findDialect(name, encoding string) error {
	plain := byte(',')
	if strings.EqualFold(filepath.Ext(name), ".tsv") {
		plain = '\t'
	}
	found := textvalue.Found{Path: c.Path(), Encoding: encoding}
	if c.delim = c.Text.Delimiter; c.delim == 0 {
		c.delim = plain
	}
	var head []byte
	if c.Text.Delimiter == 0 || c.Text.Decimal == 0 && c.delim != ',' {
		var err error
		if head, err = c.firstRows(); err != nil {
			return err
		}
	}
	if c.Text.Delimiter == 0 {
		if c.delim = c.findDelimiter(head, plain); c.delim != plain {
			found.Delimiter = c.delim
		}
	}
	if c.Text.Decimal == 0 && c.delim != ',' {
		var comma bool
		if comma, found.Unclear = c.findDecimalComma(head); comma {
			found.Decimal = ','
			c.Text.SetDecimal(',')
		}
	}
	if c.Text.Decimal == 0 {
		c.Text.SetDecimal('.')
	}
	if c.Found != nil {
		c.Found(found)
	}
	return nil
}

// firstRows returns the bytes of the first rows, all of them whole.
func (c *csvFile) firstRows() ([]byte, error) {
	for size := int64(64 << 10); ; size *= 4 {
		left := c.Size - c.begin
		head := make([]byte, min(size, left), min(size, left)+1)
		n, err := c.ReadAt(head, c.begin)
		if err != nil {
			return nil, err
		}
		head = head[:n]
		if size >= left {
			return append(head, '\n'), nil
		}
		end := bytes.LastIndexByte(head, '\n') + 1
		lines := bytes.Count(head[:end], []byte{'\n'})
		if lines > dialectRows || lines > 1 && size >= dialectBytes ||
			size >= source.MaxRecordBytes {
			return head[:end], nil
		}
	}
}

// rowsOf splits at most [dialectRows] rows. The last row may be cut off within a quoted cell, and is
// left out then. ok is false if another row cannot be split.
func rowsOf(head []byte, delim byte) (rows [][]cell, ok bool) {
	s := splitter{delim: delim, buf: head}
	for s.skipEmptyLines(); s.at < len(head) && len(rows) < dialectRows; s.skipEmptyLines() {
		cells, err := s.nextRow(nil)
		if err != nil {
			return rows, err == errBufferEnd
		}
		rows = append(rows, cells)
	}
	return rows, true
}

// findDelimiter returns the delimiter that divides all rows into the same number of cells, two or
// more. It returns plain if that does, if the options or the dataset name a column that only plain
// makes, or if not exactly one other delimiter does.
func (c *csvFile) findDelimiter(head []byte, plain byte) byte {
	divides := func(delim byte) bool {
		rows, ok := rowsOf(head, delim)
		return ok && delim != c.Text.Decimal && len(rows) > 1 && len(rows[0]) > 1 &&
			!slices.ContainsFunc(rows, func(r []cell) bool { return len(r) != len(rows[0]) })
	}
	if divides(plain) || c.namesPlain(head, plain) {
		return plain
	}
	found := plain
	for _, delim := range []byte(",;\t|") {
		if delim == plain || !divides(delim) {
			continue
		}
		if found != plain {
			return plain
		}
		found = delim
	}
	return found
}

// namesPlain reports whether the options or the dataset name a column that has another delimiter in
// its name.
func (c *csvFile) namesPlain(head []byte, plain byte) bool {
	rows, _ := rowsOf(head[:bytes.IndexByte(head, '\n')+1], plain)
	return len(rows) > 0 && slices.ContainsFunc(rows[0], func(x cell) bool {
		return bytes.ContainsAny(x.raw, ",;\t|") && c.IsNamed(string(x.text()))
	})
}

// marks are the decimal marks that the numbers of a column have.
type marks struct {
	text                 bool // some cell is no number
	point, comma         bool // some number has one
	realPoint, realComma bool // and one does not stand between thousands
}

// add adds a cell.
func (m *marks) add(b []byte) {
	comma := textvalue.Dialect{Decimal: ','}
	if _, ok := textvalue.ParseFloat(b); ok {
		point := bytes.IndexByte(b, '.') >= 0
		m.point, m.realPoint = m.point || point, m.realPoint || point && !mayBeGrouped(b)
	} else if _, ok := comma.Float(b); ok {
		m.comma, m.realComma = true, m.realComma || !mayBeGrouped(b)
	} else {
		m.text = true
	}
}

// mayBeGrouped reports whether the comma or point of a number may stand between thousands.
func mayBeGrouped(b []byte) bool {
	return grouped.Match(b) && !bytes.HasPrefix(bytes.TrimLeft(b, "+-"), []byte("0"))
}

// findDecimalComma reports whether numbers have decimal commas: columns of numbers have commas, none
// has a decimal point, and in each some comma does not stand between thousands. A file before that has
// decimal commas shows that none does. unclear is that of [textvalue.Found].
func (c *csvFile) findDecimalComma(head []byte) (found, unclear bool) {
	rows, _ := rowsOf(head, c.delim)
	var columns []marks
	for i, row := range rows {
		for j, x := range row[:min(len(row), len(rows[0]))] {
			if i == 0 {
				name := string(x.text())
				if !c.Text.Header {
					name = nameOf(j)
				}
				isText := c.HasNumbers != nil && !c.HasNumbers(name)
				columns = append(columns, marks{text: isText})
			}
			if b := x.trimmed(); (i > 0 || !c.Text.Header) && !c.Text.IsMissing(b) {
				if plain, ok := c.Text.Ungroup(b); ok {
					b = plain
				}
				columns[j].add(b)
			}
		}
	}
	for _, m := range columns {
		if m.text {
			continue
		}
		if m.realPoint || m.comma && !m.realComma && !c.Text.CommaBefore {
			return false, false
		}
		found, unclear = found || m.comma, unclear || m.point
	}
	return found && !unclear, unclear
}
