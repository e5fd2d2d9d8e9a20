// Package charset names, finds and decodes the encodings of text files that are not UTF-8.
package charset

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/unicode"
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

// Marks at the beginning of a file.
const (
	MarkUTF8    = "\xef\xbb\xbf"
	markUTF16LE = "\xff\xfe"
	markUTF16BE = "\xfe\xff"
	markUTF32LE = "\xff\xfe\x00\x00"
)

// aliases are names of Python for encodings that the IANA names otherwise.
var aliases = map[string]string{
	"ascii": "us-ascii", "big5hkscs": "big5", "cp874": "windows-874", "cp932": "shift_jis",
	"cp949": "euc-kr", "cp950": "big5", "eucjp": "euc-jp", "euckr": "euc-kr", "gb2312": "gbk",
	"iso2022-jp": "iso-2022-jp", "latin9": "iso-8859-15", "mac-roman": "macintosh",
	"ms932": "shift_jis", "shift-jis": "shift_jis", "sjis": "shift_jis",
	"utf-16-be": "utf-16be", "utf-16-le": "utf-16le",
}

// prefixes begin such names.
var prefixes = map[string]string{
	"cp125": "windows-125", "iso8859-": "iso-8859-", "latin-": "latin",
}

// Named returns the encoding of a name, in the spelling of Python or of the IANA. ok is false for an
// unknown one, and for one in which ASCII has other codes.
func Named(name string) (e Encoding, ok bool) {
	name = strings.ToLower(name)
	hyphens := strings.ReplaceAll(name, "_", "-")
	switch hyphens {
	case "utf8", UTF8, "utf-8-sig":
		return Encoding{}, true
	case "utf16", UTF16:
		return Encoding{UTF16, unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)}, true
	}
	if alias, ok := aliases[hyphens]; ok {
		name = alias
	}
	for python, iana := range prefixes {
		if rest, ok := strings.CutPrefix(hyphens, python); ok {
			name = iana + rest
		}
	}
	for _, spelling := range []string{name, strings.ReplaceAll(name, "_", "-")} {
		decoder, err := ianaindex.IANA.Encoding(spelling)
		if err != nil || decoder == nil {
			continue
		}
		if name, err = ianaindex.MIME.Name(decoder); err != nil {
			continue
		}
		e = Encoding{strings.ToLower(name), decoder}
		if digits, ok := strings.CutPrefix(e.name, "windows-125"); ok {
			e.name = "cp125" + digits
		}
		return e, e.IsWide() || e.hasASCII()
	}
	return Encoding{}, false
}

// hasASCII reports whether the signs of CSV files have the codes of ASCII.
func (e Encoding) hasASCII() bool {
	const signs = "a,1;2.5\t\"\r\n"
	decoded, err := e.decoder.NewDecoder().String(signs)
	return err == nil && decoded == signs
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

// IsWide reports whether every character has several bytes, so that plain text has zero bytes.
func (e Encoding) IsWide() bool { return strings.HasPrefix(e.name, UTF16) }

// HeadBytes is the number of bytes by which [Find] decides.
const HeadBytes = 64 << 10

// Find returns the encoding of a file with these first bytes: UTF-16 if they begin with its mark, and
// cp1252, as Windows and Excel write Western European text, if they are not UTF-8 and [MayBeCP1252].
// Otherwise it is UTF-8. isWhole states that the file has no other bytes.
func Find(head []byte, isWhole bool) Encoding {
	isUTF8 := utf8.Valid(head) || !isWhole && utf8.Valid(head[:len(head)-cutOff(head)])
	has := func(mark string) bool { return bytes.HasPrefix(head, []byte(mark)) }
	name := UTF8
	switch {
	case has(markUTF32LE):
	case has(markUTF16LE) || has(markUTF16BE):
		name = UTF16
	case !has(MarkUTF8) && !isUTF8 && MayBeCP1252(head):
		name = CP1252
	}
	e, _ := Named(name)
	return e
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
