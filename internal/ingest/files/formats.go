package files

import (
	"slices"
	"strings"
)

// Format is a format of source files. A new one is a line in [Formats], a line in the table of readers
// in package load, and a package of its own.
type Format struct {
	Name       string   // as messages have it
	Suffixes   []string // of file names, in lower case
	Text       bool     // delimited text, to which the options of text files apply
	Compressed bool     // also read from .gz and .zst
}

// Formats lists the formats that are read, in the order in which messages name them.
var Formats = []Format{
	{Name: "CSV", Suffixes: []string{".csv"}, Text: true, Compressed: true},
	{Name: "TSV", Suffixes: []string{".tsv"}, Text: true, Compressed: true},
	{Name: "Parquet", Suffixes: []string{".parquet"}},
	{Name: "Arrow", Suffixes: []string{".arrow", ".feather", ".arrows"}},
	{Name: "NumPy", Suffixes: []string{".npy", ".npz"}},
	{Name: "TFRecord", Suffixes: []string{".tfrecord", ".tfrecords"}, Compressed: true},
}

// FormatOf returns the format that the suffix of a name says; ok is false if it says none. A
// compressed file has the format of its name without .gz or .zst, if that is read compressed.
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
		return slices.ContainsFunc(f.Suffixes, func(s string) bool { return strings.HasSuffix(name, s) })
	})
	if i < 0 {
		return Format{}, false
	}
	return Formats[i], true
}

// FormatNames names all formats: "A, B or C".
func FormatNames() string {
	var names []string
	for _, f := range Formats {
		names = append(names, f.Name)
	}
	return listed(names, "or")
}

// CompressedNames names the formats that are read compressed: "text and A".
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

func listed(names []string, last string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " " + last + " " + names[len(names)-1]
}
