// Package charset decodes text files that are not UTF-8.
package charset

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/unicode"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
)

// Encoding is a character encoding. The zero value is UTF-8.
type Encoding struct {
	name    string
	decoder encoding.Encoding // nil for UTF-8
}

// Names of encodings that are found, and of UTF-8.
const (
	UTF8   = "utf-8"
	UTF16  = "utf-16"
	CP1252 = "cp1252"
)

// Named returns the encoding of a name, in the spelling of Python or of the IANA. ok is false for an
// unknown one.
func Named(name string) (e Encoding, ok bool) {
	name = strings.ToLower(name)
	switch hyphens := strings.ReplaceAll(name, "_", "-"); hyphens {
	case "utf8", UTF8, "utf-8-sig":
		return Encoding{}, true
	case "utf16", UTF16:
		return Encoding{UTF16, unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)}, true
	case "utf-16-le", "utf-16-be":
		name = "utf-16" + hyphens[len("utf-16-"):]
	case "latin-1":
		name = "latin1"
	case "mac-roman":
		name = "macintosh"
	case "sjis", "shift-jis", "cp932":
		name = "shift_jis"
	case "gb2312":
		name = "gbk"
	case "cp949":
		name = "euc-kr"
	default:
		for python, iana := range map[string]string{"cp125": "windows-125", "iso8859-": "iso-8859-"} {
			if rest, ok := strings.CutPrefix(hyphens, python); ok {
				name = iana + rest
			}
		}
	}
	for _, spelling := range []string{name, strings.ReplaceAll(name, "_", "-")} {
		decoder, err := ianaindex.IANA.Encoding(spelling)
		if err != nil || decoder == nil {
			continue
		}
		if name, err = ianaindex.MIME.Name(decoder); err == nil {
			name = strings.ToLower(name)
			if digits, ok := strings.CutPrefix(name, "windows-125"); ok {
				name = "cp125" + digits
			}
			return Encoding{name, decoder}, true
		}
	}
	return Encoding{}, false
}

// String returns the name, the same for all spellings.
func (e Encoding) String() string {
	if e.decoder == nil {
		return UTF8
	}
	return e.name
}

// IsUTF8 reports whether text of the encoding needs no decoding.
func (e Encoding) IsUTF8() bool { return e.decoder == nil }

// IsWide reports whether characters have several bytes, so that plain text may have zero bytes.
func (e Encoding) IsWide() bool { return strings.HasPrefix(e.name, UTF16) }

// HeadBytes is the number of bytes by which [Find] decides.
const HeadBytes = 64 << 10

// Find returns the encoding of a file with these first bytes. It is UTF-8 if they may be that, UTF-16
// if they begin with its mark, and cp1252, as Windows and Excel write Western European text, if they
// have no sign of another encoding. ok is false if none of these is likely.
func Find(head []byte) (e Encoding, ok bool) {
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")):
		return Named(UTF16)
	case isUTF8(head):
		return Encoding{}, true
	case mayBeCP1252(head):
		return Named(CP1252)
	}
	return Encoding{}, false
}

// isUTF8 reports whether bytes are UTF-8. The last character may be cut off.
func isUTF8(b []byte) bool {
	for cut := range min(utf8.UTFMax, len(b)+1) {
		if utf8.Valid(b[:len(b)-cut]) {
			return cut == 0 || !utf8.FullRune(b[len(b)-cut:])
		}
	}
	return false
}

// mayBeCP1252 reports whether bytes may be text in cp1252. Other encodings have bytes that cp1252 does
// not define, symbols within words, or more often two or more bytes beyond ASCII in a row than one.
func mayBeCP1252(b []byte) bool {
	const undefined = "\x81\x8d\x8f\x90\x9d"
	isLetter := func(i int) bool {
		return i >= 0 && i < len(b) && 'a' <= b[i]|0x20 && b[i]|0x20 <= 'z'
	}
	single, double, run := 0, 0, 0
	for i, c := range b {
		if c == 0 || strings.IndexByte(undefined, c) >= 0 ||
			isSymbol(c) && isLetter(i-1) && isLetter(i+1) {
			return false
		}
		if c >= utf8.RuneSelf {
			run++
			continue
		}
		switch run {
		case 0:
		case 1:
			single++
		case 2:
			double++
		default:
			return false
		}
		run = 0
	}
	return single > double
}

// isSymbol reports whether a byte beyond ASCII is no letter in cp1252, and no sign that is found within
// words, such as an apostrophe.
func isSymbol(c byte) bool {
	const letters = "\x83\x8a\x8c\x8e\x9a\x9c\x9e\x9f\xaa\xba"
	const within = "\x91\x92\x96\x97\xa0\xad\xb7"
	return 0x80 <= c && c < 0xc0 && strings.IndexByte(letters+within, c) < 0 || c == 0xd7 || c == 0xf7
}

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
		if at := bytes.IndexRune(piece, utf8.RuneError); at >= 0 {
			line += int64(bytes.Count(piece[:at], []byte{'\n'}))
			return e.refuse(path, line, piece[bytes.LastIndexByte(piece[:at], '\n')+1:at])
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

// cutOff returns the number of bytes at the end that are a part of a character.
func cutOff(b []byte) int {
	for n := 1; n <= min(utf8.UTFMax, len(b)); n++ {
		if tail := b[len(b)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}

// refuse returns the error for a line that is not of the encoding. before is the line up to there.
func (e Encoding) refuse(path string, line int64, before []byte) error {
	err := &loaderr.SourceError{
		Path: path, Line: line, Text: string(before),
		Reason: fmt.Sprintf("is followed by what is no character in %s", e),
		Hint:   "say with `encoding` how the file is encoded, or save it as UTF-8",
	}
	if len(before) == 0 {
		err.Reason = fmt.Sprintf("the line begins with what is no character in %s", e)
	}
	return err
}
