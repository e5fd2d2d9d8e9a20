package charset

import (
	"errors"
	"io"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
)

// TestFindTellsCP1252FromOthers looks for cp1252 in words of it and of other encodings.
func TestFindTellsCP1252FromOthers(t *testing.T) {
	western := []string{"Zürich", "café", "naïve", "Málaga", "São Paulo", "Genève", "Ærø", "ÉCOLE", "DÉJÀ VU",
		"l’été né", "“quoted” à", "« Où »", "5 €", "10 °C", "¿Qué?", "25 µm", "Œuvre", "Škoda", "20 ± 3 é", "créé, né, été"}
	for _, word := range western {
		for _, text := range []string{"x," + word + "\n1,2\n", word} {
			encoded, err := charmap.Windows1252.NewEncoder().String(text)
			if err != nil {
				t.Fatal(err)
			}
			if e := Find([]byte(encoded), true); e.String() != CP1252 {
				t.Errorf("%q in cp1252 is taken for %s", text, e)
			}
		}
	}
	for _, c := range []struct {
		as   encoding.Encoding
		text string
	}{
		{traditionalchinese.Big5, "台北"}, {japanese.ShiftJIS, "アイウ"}, {japanese.ShiftJIS, "漢字"},
		{japanese.EUCJP, "漢字"}, {korean.EUCKR, "서울"}, {simplifiedchinese.GBK, "汉字"},
		{simplifiedchinese.GB18030, "汉字"}, {charmap.KOI8R, "привет"}, {charmap.Windows1251, "привет"},
		{charmap.ISO8859_5, "привет"}, {charmap.CodePage866, "привет"}, {charmap.Windows1253, "αβγ"},
		{charmap.Macintosh, "Zürich"}, {charmap.CodePage850, "Genève"}, {charmap.CodePage437, "Málaga"},
		{charmap.CodePage850, "São Paulo"}, {charmap.Windows1250, "Pałac"}, {charmap.ISO8859_15, "œuvre"},
		{charmap.Windows1256, "مرحبا"}, {charmap.Windows1255, "שלום"},
	} {
		encoded, err := c.as.NewEncoder().String("t,x,name\n1,2," + c.text + "\n")
		if err != nil {
			t.Fatal(err)
		}
		if e := Find([]byte(encoded), true); !e.IsUTF8() {
			t.Errorf("%q in %s is taken for %s", c.text, c.as, e)
		}
	}
	for _, text := range []string{"caf\xe9 Z\xc3\xbcrich", "\xef\xbb\xbfcaf\xe9", "\xff\xfe\x00\x00a\x00\x00\x00",
		"caf\xe9\x00", "café", ""} {
		if e := Find([]byte(text), true); !e.IsUTF8() {
			t.Errorf("%q is taken for %s", text, e)
		}
	}
}

// TestFindAllowsACharacterThatIsCutOff looks at the head of a longer file.
func TestFindAllowsACharacterThatIsCutOff(t *testing.T) {
	head := []byte("Zürich, caf\xc3")
	if e := Find(head, false); !e.IsUTF8() {
		t.Errorf("a head is taken for %s", e)
	}
	if e := Find([]byte("1, caf\xe9"), true); e.String() != CP1252 {
		t.Errorf("a whole text is taken for %s", e)
	}
}

// TestDecodeFoundLooksAtTheWholeText decodes texts whose later bytes are of another encoding.
func TestDecodeFoundLooksAtTheWholeText(t *testing.T) {
	cp1252, _ := Named(CP1252)
	for text, found := range map[string]bool{
		"caf\xe9\n":       true,
		"Z\xc3\xbcrich\n": false,
		"x\x81\n":         false,
		"\xef\xf0\xe8\n":  false,
		"x\x00\n":         false,
	} {
		for _, lines := range []int{1, 100_000} {
			r := strings.NewReader(strings.Repeat("\xe9t\xe9\n", lines) + text)
			var out strings.Builder
			err := cp1252.DecodeFound("x.csv", r, func(b []byte) error { out.Write(b); return nil })
			switch {
			case found && (err != nil || out.String() != strings.Repeat("été\n", lines)+"café\n"):
				t.Errorf("%q after %d lines: %v", text, lines, err)
			case !found && !errors.Is(err, ErrNotFound):
				t.Errorf("%q after %d lines: %v, want ErrNotFound", text, lines, err)
			}
		}
	}
}

func TestDecodeRefusesOtherTexts(t *testing.T) {
	for _, c := range []struct{ encoding, text, want string }{
		{"cp1252", "a\nb\nx\x81", `x.csv, line 3: "x" is followed by U+FFFD, or what is no character in cp1252`},
		{"cp1252", "a\n\x81", "x.csv, line 2: the line begins with U+FFFD, or what is no character"},
		{"utf-16", "\xff\xfea\x00\x00\x00", `x.csv, line 1: "a" is followed by a zero, as in no text`},
		{"utf-16", "\xff\xfea\x00\x00\xd8", `is followed by U+FFFD, or what is no character in utf-16`},
		{"shift_jis", strings.Repeat("a\n", 1<<20) + "x\x82", `x.csv, line 1048577: "x" is followed`},
	} {
		e, ok := Named(c.encoding)
		if !ok {
			t.Fatal(c.encoding)
		}
		err := e.Decode("x.csv", strings.NewReader(c.text), func([]byte) error { return nil })
		if refused := (*loaderr.SourceError)(nil); !errors.As(err, &refused) ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	e, _ := Named(CP1252)
	if err := e.Decode("x.csv", strings.NewReader("a"), func([]byte) error { return io.ErrClosedPipe }); err != io.ErrClosedPipe {
		t.Errorf("%v, want the error of the writer", err)
	}
}

func TestNamesOfEncodings(t *testing.T) {
	for name, want := range map[string]string{
		"UTF8": "utf-8", "utf-8-sig": "utf-8", "UTF-16": "utf-16", "utf_16_le": "utf-16le", "utf-16BE": "utf-16be",
		"cp1252": "cp1252", "windows-1252": "cp1252", "Latin-1": "iso-8859-1", "latin1": "iso-8859-1",
		"iso8859_15": "iso-8859-15", "latin9": "iso-8859-15", "latin-2": "iso-8859-2", "mac_roman": "macintosh",
		"sjis": "shift_jis", "cp932": "shift_jis", "cp950": "big5", "cp437": "ibm437", "koi8_r": "koi8-r",
		"ascii": "us-ascii", "euc_jp": "euc-jp", "cp874": "windows-874", "gb2312": "gbk",
		"cp037": "", "bogus": "", "": "", "rot13": "", "utf-7": "",
	} {
		e, ok := Named(name)
		if ok != (want != "") || ok && e.String() != want {
			t.Errorf("%q is %v, %v, want %q", name, e, ok, want)
		}
		if again, ok := Named(want); want != "" && (!ok || again.String() != want) {
			t.Errorf("%q is %v, %v", want, again, ok)
		}
	}
}
