package text

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"github.com/tensorcache/tensorcache/internal/ingest/charset"
	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/textvalue"
)

// separatorLine matches the first line of a file for Excel, which has the sign between its cells.
var separatorLine = regexp.MustCompile("^\"?(?i:sep)=(.)\"?\r?\n")

// findFirstLine sets the offset of the first line after the mark of UTF-8, the line for Excel, and the
// lines that the option skip counts. The sign of the line for Excel is the delimiter unless the option
// delimiter names one.
func (c *csvFile) findFirstLine() error {
	head := make([]byte, min(c.Size, int64(len(charset.MarkUTF8)+len("\"sep=;\"\r\n"))))
	n, err := c.ReadAt(head, 0)
	if err != nil {
		return err
	}
	if head = head[:n]; bytes.HasPrefix(head, []byte(charset.MarkUTF8)) {
		c.begin = int64(len(charset.MarkUTF8))
		head = head[c.begin:]
	}
	lines := c.Text.Skip
	if m := separatorLine.FindSubmatch(head); m != nil && strings.IndexByte(textvalue.Delimiters, m[1][0]) >= 0 {
		if c.Text.Delimiter == 0 {
			c.Text.Delimiter = m[1][0]
		}
		lines = max(1, lines)
	}
	return c.skipLines(lines)
}

// refuseZeros refuses a file that ends with a zero byte.
func (c *csvFile) refuseZeros() error {
	var last [1]byte
	if n, err := c.ReadAt(last[:], c.Size-1); err != nil || n == 0 || last[0] != 0 {
		return err
	}
	return &loaderr.SourceError{Path: c.Path(), Reason: loaderr.ReasonZeros, Hint: loaderr.HintZeros}
}

// skipLines moves the first line by a number of lines.
func (c *csvFile) skipLines(lines int64) error {
	buf := make([]byte, min(files.BlockBytes, c.Size))
	for c.beginLine < lines {
		n, err := c.ReadAt(buf, c.begin)
		if err != nil {
			return err
		}
		if n == 0 {
			return &loaderr.SourceError{
				Path: c.Path(),
				Reason: fmt.Sprintf("has no line after the %s that `skip` leaves out",
					loaderr.Count(int(c.Text.Skip), "line")),
				Hint: "skip the lines above the names of the columns, and no others",
			}
		}
		end := 0
		for c.beginLine < lines && end < n {
			at := bytes.IndexByte(buf[end:n], '\n')
			if at < 0 {
				end = n
				break
			}
			end += at + 1
			c.beginLine++
		}
		c.begin += int64(end)
	}
	return nil
}
