package charset

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
)

// ErrNotFound is returned by [Encoding.DecodeFound] for a text of another encoding.
var ErrNotFound = errors.New("the text is in another encoding")

// DecodeFound is Decode for an encoding that [Find] has found by the first bytes. It returns
// [ErrNotFound] if the others do not fit.
func (e Encoding) DecodeFound(path string, r io.Reader, write func([]byte) error) error {
	var text cp1252Text
	if e.name == CP1252 {
		r = io.TeeReader(r, writerFunc(text.add))
	}
	err := e.Decode(path, r, write)
	if refused := (*loaderr.SourceError)(nil); e.name == CP1252 &&
		(errors.As(err, &refused) || err == nil && !text.end()) {
		return ErrNotFound
	}
	return err
}

// writerFunc is a writer that cannot fail.
type writerFunc func([]byte)

func (f writerFunc) Write(b []byte) (int, error) { f(b); return len(b), nil }

// Decode gives write the text of r as UTF-8, in pieces. path names it in messages. A text that is not
// of the encoding is a [loaderr.SourceError] with its line.
func (e Encoding) Decode(path string, r io.Reader, write func([]byte) error) error {
	decoded := e.decoder.NewDecoder().Reader(r)
	buf := make([]byte, 1<<20)
	for line, kept := int64(1), 0; ; {
		n, err := io.ReadFull(decoded, buf[kept:])
		n += kept
		kept = 0
		if err == nil {
			kept = cutOff(buf[:n])
		}
		piece := buf[:n-kept]
		at := bytes.IndexRune(piece, utf8.RuneError) // which the decoder writes for other bytes
		if zero := bytes.IndexByte(piece, 0); at < 0 || zero >= 0 && zero < at {
			at = zero
		}
		if at >= 0 {
			line += int64(bytes.Count(piece[:at], []byte{'\n'}))
			return e.refuse(path, line, piece[bytes.LastIndexByte(piece[:at], '\n')+1:at],
				piece[at] == 0)
		}
		if werr := write(piece); werr != nil {
			return werr
		}
		line += int64(bytes.Count(piece, []byte{'\n'}))
		copy(buf, buf[n-kept:n])
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// refuse returns the error for a line that is not of the encoding. before is the line up to there,
// isZero is true if a zero follows.
func (e Encoding) refuse(path string, line int64, before []byte, isZero bool) error {
	what := fmt.Sprintf("U+FFFD, or what is no character in %s", e)
	if isZero {
		what = "a zero, as in no text"
	}
	err := &loaderr.SourceError{
		Path: path, Line: line, Text: string(before), Reason: "is followed by " + what,
		Hint: "say with `encoding` how the file is encoded, or save it as UTF-8",
	}
	if len(before) == 0 {
		err.Reason = "the line begins with " + what
	}
	return err
}
