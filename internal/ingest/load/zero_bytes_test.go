package load

import (
	"strings"
	"testing"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
)

// TestFilesThatEndWithZeroBytesAreRefused replaces the end of files by zeros, as a file system does
// after a crash.
func TestFilesThatEndWithZeroBytesAreRefused(t *testing.T) {
	for _, row := range []string{"1,2.5,x\n", "2020-01-01,ü,1\n", "x,2020-01-01 00:00,7\n", "a,b,c\n"} {
		for _, rows := range []int{3, 4000} {
			text := "p,q,r\n" + strings.Repeat(row, rows)
			for cut := len(text) - len(row); cut < len(text); cut++ {
				file := text[:cut] + string(make([]byte, len(text)-cut+100))
				for _, o := range []option.Options{{}, {ItemID: []string{"p"}}, {Columns: []string{"q"}}} {
					o.Sources = []string{loadtest.File(t, "x.csv", file)}
					_, _, err := loadInProcess(t, o)
					loadtest.Refused(t, err, "x.csv: ends with zero bytes", "the file is probably incomplete")
				}
			}
		}
	}
}

// TestTextsMayEndWithZeroBytes loads texts of a fixed width, which some programs fill with zeros.
func TestTextsMayEndWithZeroBytes(t *testing.T) {
	text := "p,q\n" + strings.Repeat("abc,1\n", 200) + "a\x00\x00,2\nb\x00\x00,3\n"
	l := mustLoad(t, option.Options{Sources: []string{loadtest.File(t, "x.csv", text)}})
	if texts := loadtest.Texts(l, "p"); texts[200] != "a\x00\x00" || texts[201] != "b\x00\x00" {
		t.Errorf("%q", texts[200:])
	}
}
