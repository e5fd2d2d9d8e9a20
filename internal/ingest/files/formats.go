package files

import (
	"slices"
	"strings"
)

// Format is a format of source files. A new format needs an entry in [Formats], an entry in the
// table of readers in package load, a package of its own, and its imports in arch_test.go.
type Format struct {
	Name       string   // as in error messages
	Suffixes   []string // of file names, in lower case
	Text       bool     // delimited text, to which the options of text files apply
	Compressed bool     // also read from .gz and .zst; without it, such a text is read as CSV
}

// Formats lists all formats, in the order of error messages.
var Formats = []Format{
	{Name: "CSV", Suffixes: []string{".csv"}, Text: true, Compressed: true},
	{Name: "TSV", Suffixes: []string{".tsv"}, Text: true, Compressed: true},
	{Name: "JSON Lines", Suffixes: []string{".jsonl", ".ndjson"}, Compressed: true},
	{Name: "TSF", Suffixes: []string{".tsf"}, Compressed: true},
	{Name: "Parquet", Suffixes: []string{".parquet"}},
	{Name: "Arrow", Suffixes: []string{".arrow", ".feather", ".arrows"}},
	{Name: "NumPy", Suffixes: []string{".npy", ".npz"}},
	{Name: "TFRecord", Suffixes: []string{".tfrecord", ".tfrecords"}, Compressed: true},
}

// FormatOf returns the format that matches the suffix of a file name. ok is false if there is none.
// If the name ends with .gz or .zst, FormatOf ignores that suffix, but the format must allow
// compressed files.
func FormatOf(name string) (f Format, ok bool) {
	name = strings.ToLower(name)
	for _, c := range codecs {
		if plain, cut := strings.CutSuffix(name, c.suffix); cut {
			if f, ok = FormatOf(plain); !f.Compressed {
				return Format{}, false
			}
			return f, ok
		}
	}
	i := slices.IndexFunc(Formats, func(f Format) bool {
		return slices.ContainsFunc(f.Suffixes,
			func(s string) bool { return strings.HasSuffix(name, s) })
	})
	if i < 0 {
		return Format{}, false
	}
	return Formats[i], true
}

// FormatNames returns the names of all formats as "A, B or C".
func FormatNames() string {
	var names []string
	for _, f := range Formats {
		names = append(names, f.Name)
	}
	return listed(names, "or")
}

// CompressedNames returns the names of the formats that may be compressed, as "text and A".
func CompressedNames() string {
	var names []string
	for _, f := range Formats {
		name := f.Name
		if f.Text {
			name = "text"
		}
		if f.Compressed && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return listed(names, "and")
}

// listed joins names with commas, and the last two with the word last.
func listed(names []string, last string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " " + last + " " + names[len(names)-1]
}
