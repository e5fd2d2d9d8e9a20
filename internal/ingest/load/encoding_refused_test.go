package load

import (
	"errors"
	"strings"
	"testing"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
)

// TestTextsThatAreNotOfTheEncoding loads files whose encoding is not found, or is another one than the
// option says.
func TestTextsThatAreNotOfTheEncoding(t *testing.T) {
	const hint, cp1252 = "or say with `encoding` how it is encoded", "or load it with `encoding=\"cp1252\"`"
	for name, c := range map[string]struct {
		text         string
		encoding     string
		reason, hint string
	}{
		"Cyrillic letters":                   {"a,b\n\xef\xf0\xe8\xe2\xe5\xf2,1\n", "", "is not UTF-8", hint},
		"a Polish letter":                    {"a,b\nPa\xb3ac,1\n", "", "is not UTF-8", hint},
		"an undefined byte":                  {"a,b\nx\x81 \xe9t\xe9,1\n", "", "is not UTF-8", hint},
		"in a late row":                      {"a,b\n" + strings.Repeat("x,1\n", 1<<15) + "\xe9t\xe9,1\n", "", "row 32769 (line 32770)", cp1252},
		"in the header":                      {"\xef\xf0\xe8,b\nx,1\n", "", "is not UTF-8", hint},
		"undefined by option":                {"a,b\nx,1\nx\x81,1\n", "cp1252", `x.csv, line 3: "x" is followed by U+FFFD, or what is no character in cp1252`, "`encoding`"},
		"undefined at first":                 {"a,b\n\x81,1\n", "cp1252", "line 2: the line begins with U+FFFD, or what is no character in cp1252", "`encoding`"},
		"UTF-8 says no":                      {"a,b\n\xe9t\xe9,1\n", "utf-8", "is not UTF-8", cp1252},
		"half of a character":                {"a,b\nx,1\n\x82", "shift_jis", "line 3", "`encoding`"},
		"no UTF-16":                          {"\xff\xfea\x00,\x00b\x00\n\x00\x00\xd8,\x001\x00\n\x00", "", "line 2: the line begins with U+FFFD, or what is no character in utf-16", "`encoding`"},
		"a workbook":                         {"\x89HDF\r\n\x1a\n", "cp1252", "is an HDF5 file", "h5py"},
		"an unknown encoding":                {"a,b\nx,1\n", "utf-9", `encoding: "utf-9": want the name of an encoding, such as utf-8`, ""},
		"no encoding at all":                 {"a,b\nx,1\n", "nonsense \x00", "want the name of an encoding", ""},
		"UTF-32":                             {"\xff\xfe\x00\x00a\x00\x00\x00\n\x00\x00\x00", "", "is UTF-32 text", "UTF-8"},
		"UTF-8 by its mark":                  {"\xef\xbb\xbfa,b\nx,1\n", "cp1252", "begins with the mark of UTF-8, and the options say that it is cp1252", "`encoding`"},
		"the end of a word":                  {"a,b\n" + strings.Repeat("x,1\n", 1<<15) + "caf\xe9,1\n", "", "row 32769 (line 32770)", cp1252},
		"UTF-8 after cp1252":                 {"a,b\ncaf\xe9,1\n" + strings.Repeat("x,1\n", 1<<15) + "Z\xc3\xbcrich,1\n", "", "row 1 (line 2)", cp1252},
		"UTF-16 without mark, other letters": {"a\x00,\x00b\x00\n\x00\xe5\x65\x2c\x67,\x001\x00\n\x00x\x00,\x002\x00\n\x00", "", "looks like UTF-16 text without a mark", "utf-16-le"},
		"UTF-16 without mark":                {"a\x00,\x00b\x00\n\x00x\x00,\x001\x00\n\x00", "", "looks like UTF-16 text without a mark", "`encoding=\"utf-16-le\"`"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := loadInProcess(t, option.Options{Encoding: c.encoding,
				Sources: []string{loadtest.File(t, "x.csv", c.text)}})
			loadtest.Refused(t, err, c.reason, c.hint)
		})
	}
	late := loadtest.File(t, "y.csv", "x,c\n1,caf\xe9\n"+strings.Repeat("1,x\n", 1<<15)+"1,\x81\n")
	l := mustLoad(t, option.Options{Columns: []string{"x"}, Sources: []string{late}})
	if l.Manifest.Rows != 1<<15+2 || len(l.Manifest.Notes) > 0 {
		t.Errorf("%d rows, notes %q", l.Manifest.Rows, noteTexts(l.Manifest.Notes))
	}
	_, _, err := loadInProcess(t, option.Options{Encoding: "cp1252",
		Sources: []string{loadtest.File(t, "x.jsonl", `{"a":1}`)}})
	loadtest.Refused(t, err, "encoding: want it only for CSV and TSV files, not for", "")
	if e := (*loaderr.OptionError)(nil); !errors.As(err, &e) {
		t.Errorf("%v is a %T", err, err)
	}
}
