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
		"Cyrillic letters":    {"a,b\n\xef\xf0\xe8\xe2\xe5\xf2,1\n", "", "is not UTF-8", hint},
		"a Polish letter":     {"a,b\nPa\xb3ac,1\n", "", "is not UTF-8", hint},
		"an undefined byte":   {"a,b\nx\x81 \xe9t\xe9,1\n", "", "is not UTF-8", hint},
		"in a late row":       {"a,b\n" + strings.Repeat("x,1\n", 1<<15) + "\xe9t\xe9,1\n", "", "row 32769 (line 32770)", cp1252},
		"in the header":       {"\xef\xf0\xe8,b\nx,1\n", "", "is not UTF-8", hint},
		"undefined by option": {"a,b\nx,1\nx\x81,1\n", "cp1252", `x.csv, line 3: "x" is followed by what is no character in cp1252`, "`encoding`"},
		"undefined at first":  {"a,b\n\x81,1\n", "cp1252", "line 2: the line begins with what is no character in cp1252", "`encoding`"},
		"UTF-8 says no":       {"a,b\n\xe9t\xe9,1\n", "utf-8", "is not UTF-8", cp1252},
		"half of a character": {"a,b\nx,1\n\x82", "shift_jis", "line 3", "`encoding`"},
		"no UTF-16":           {"\xff\xfea\x00,\x00b\x00\n\x00\x00\xd8,\x001\x00\n\x00", "", "line 2: the line begins with what is no character in utf-16", "`encoding`"},
		"a workbook":          {"\x89HDF\r\n\x1a\n", "cp1252", "is an HDF5 file", "h5py"},
		"an unknown encoding": {"a,b\nx,1\n", "utf-9", `encoding: "utf-9": want the name of an encoding, such as utf-8`, ""},
		"no encoding at all":  {"a,b\nx,1\n", "nonsense \x00", "want the name of an encoding", ""},
		"UTF-16 without mark": {"a\x00,\x00b\x00\n\x00x\x00,\x001\x00\n\x00", "", "looks like UTF-16 text without a mark", "`encoding=\"utf-16-le\"`"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := loadInProcess(t, option.Options{Encoding: c.encoding,
				Sources: []string{loadtest.File(t, "x.csv", c.text)}})
			loadtest.Refused(t, err, c.reason, c.hint)
		})
	}
	_, _, err := loadInProcess(t, option.Options{Encoding: "cp1252",
		Sources: []string{loadtest.File(t, "x.jsonl", `{"a":1}`)}})
	loadtest.Refused(t, err, "encoding: want it only for CSV and TSV files, not for", "")
	if e := (*loaderr.OptionError)(nil); !errors.As(err, &e) {
		t.Errorf("%v is a %T", err, err)
	}
}
