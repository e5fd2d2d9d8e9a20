package text

import (
	"bytes"
	"io"

	"github.com/tensorcache/tensorcache/internal/ingest/charset"
	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/textvalue"
)

// withoutComments copies a file without the text of lines that begin with the sign of comments. The
// lines stay, empty, so that messages have the numbers of the lines of the file.
func withoutComments(path string, f *files.File, d textvalue.Dialect, u files.Decompression) (
	*files.File, error) {
	c := commentFilter{sign: d.Comment, lineBegins: true, above: d.Skip}
	return files.Rewrite(path, f, "remove the comments of", u,
		func(r io.Reader, write func([]byte) error) error {
			buf := make([]byte, files.BlockBytes)
			for {
				n, err := r.Read(buf)
				if werr := write(c.filter(buf[:n])); werr != nil {
					return werr
				}
				if err == io.EOF {
					return nil
				}
				if err != nil {
					return err
				}
			}
		})
}

// commentFilter removes the text of comments from successive pieces of a file.
type commentFilter struct {
	sign       byte
	begun      bool  // the first piece is done
	lineBegins bool  // the next byte is the first of a line
	quoted     bool  // it is within quotes, where a line feed ends no line
	comment    bool  // it is within a comment
	above      int64 // lines until the rows begin, in which quotes are text
}

// filter removes the text of comments from a piece, in place.
func (c *commentFilter) filter(piece []byte) []byte {
	kept := piece[:0]
	if !c.begun && bytes.HasPrefix(piece, []byte(charset.MarkUTF8)) {
		kept, piece = piece[:len(charset.MarkUTF8)], piece[len(charset.MarkUTF8):]
	}
	c.begun = true
	for _, b := range piece {
		if c.lineBegins && !c.quoted {
			c.comment = b == c.sign
		}
		if b == '"' && !c.comment && c.above <= 0 {
			c.quoted = !c.quoted
		}
		if c.lineBegins = b == '\n'; c.lineBegins {
			c.above--
		}
		if c.lineBegins || !c.comment {
			kept = append(kept, b)
		}
	}
	return kept
}
