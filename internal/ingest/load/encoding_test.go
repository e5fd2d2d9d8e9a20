package load

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
	"pgregory.net/rapid"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
)

// encodings are encodings, by the names that the option takes, with parts of words.
var encodings = map[string]struct {
	as    encoding.Encoding
	parts string
	found string // the encoding that the load finds, "" if it refuses the text
}{
	"utf-8":     {encoding.Nop, "a é Ü€ ł漢", "utf-8"},
	"UTF8":      {encoding.Nop, "a é", "utf-8"},
	"utf-16":    {unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), "a é Ü€ ł漢 𝄞", "utf-16"},
	"utf_16":    {unicode.UTF16(unicode.BigEndian, unicode.UseBOM), "a é Ü€ ł漢 𝄞", "utf-16"},
	"utf-16-le": {unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), "a é Ü€ ł漢 𝄞", ""},
	"utf-16be":  {unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), "a é Ü€ ł漢 𝄞", ""},
	"cp1252":    {charmap.Windows1252, "éa üb (€) naïv ça", "cp1252"},
	"latin-1":   {charmap.ISO8859_1, "éa üb naïv ça", "cp1252"},
	"cp1250":    {charmap.Windows1250, "a łś Ł", ""},
	"koi8-r":    {charmap.KOI8R, "при вет", ""},
	"shift_jis": {japanese.ShiftJIS, "漢 字", ""},
	"gbk":       {simplifiedchinese.GBK, "汉 字", ""},
}

// TestEncodings writes words in an encoding, and loads them with the option and without.
func TestEncodings(t *testing.T) {
	seen := map[string]bool{}
	rapid.Check(t, func(r *rapid.T) {
		name := rapid.SampledFrom(slices.Sorted(maps.Keys(encodings))).Draw(r, "encoding")
		c, parts := encodings[name], strings.Fields(encodings[name].parts)
		seen[name] = true
		words := []string{c.parts, strings.Join(parts, "")}
		for range rapid.IntRange(0, 300).Draw(r, "words") {
			word := rapid.SliceOfN(rapid.SampledFrom(parts), 1, 9).Draw(r, "word")
			words = append(words, strings.Join(word, ""))
		}
		text, err := c.as.NewEncoder().String("word,n\n" + strings.Join(words, ",1\n") + ",1\n")
		if err != nil {
			r.Fatal(err)
		}
		suffix := ""
		if rapid.Bool().Draw(r, "compressed") {
			suffix, text = ".gz", loadtest.Compressed(t, ".gz", text)
		}
		o := option.Options{Encoding: name, Sources: []string{loadtest.File(t, "a.csv"+suffix, text)}}
		given := mustLoad(t, o)
		if got := loadtest.Texts(given, "word"); !slices.Equal(got, words) {
			r.Errorf("got %q, want %q", got, words)
		}
		if notes := given.Manifest.Notes; len(notes) != 1 || given.Manifest.Dialect != nil {
			r.Errorf("with the option: %q, %+v", noteTexts(notes), given.Manifest.Dialect)
		}
		if o.Encoding = ""; c.found == "" {
			if _, _, err := loadInProcess(t, o); err == nil {
				r.Errorf("%q is loaded without the option", text)
			}
			return
		}
		found := mustLoad(t, o)
		if got := loadtest.Texts(found, "word"); !slices.Equal(got, words) {
			r.Errorf("without the option: got %q, want %q", got, words)
		}
		looks := map[string]string{"cp1252": "looks like cp1252 (Western European)", "utf-16": "is in utf-16"}
		want := "encoding: text " + looks[c.found] + ", by the first rows of the text files"
		if notes := noteTexts(found.Manifest.Notes); c.found != "utf-8" &&
			(len(notes) != 2 || notes[0] != want) || c.found == "utf-8" && len(notes) != 1 {
			r.Errorf("notes %q, want %q", notes, want)
		}
	})
	if len(seen) != len(encodings) {
		t.Errorf("only these were drawn: %v", seen)
	}
}
