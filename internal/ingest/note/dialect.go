package note

import (
	"fmt"
	"strings"

	"github.com/tensorcache/tensorcache/internal/ingest/charset"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/layout"
)

// Dialect says which encoding a load found for text files, and which signs between their cells and in
// their decimals. d is nil if they are plain.
func Dialect(d *layout.Dialect) []layout.Note {
	if d == nil {
		return nil
	}
	var fields, found, options []string
	add := func(field, value, detail string) {
		if value != "" {
			fields = append(fields, field)
			found = append(found, detail)
			options = append(options, loaderr.Option(field, value))
		}
	}
	looks := "text is in " + d.Encoding
	if d.Encoding == charset.CP1252 {
		looks = "text looks like cp1252 (Western European)"
	}
	add("encoding", d.Encoding, looks)
	if d.Delimiter == "\t" {
		add("delimiter", "tab", "cells are separated by tabs")
	} else {
		add("delimiter", d.Delimiter, fmt.Sprintf("cells are separated by %q", d.Delimiter))
	}
	add("decimal", d.Decimal, fmt.Sprintf("numbers have %q before their decimals", d.Decimal))
	n := layout.Note{
		Field:  fields[0],
		Detail: strings.Join(found, " and ") + ", by the first rows of the text files",
		Hint:   "to say so, load with " + strings.Join(options, " and "),
	}
	if d.Encoding == charset.CP1252 {
		n.Hint += ", or with another encoding if letters are wrong"
	}
	if d.Mixed {
		n.Detail = "in some files " + strings.Join(found, ", in some files ") +
			", by the first rows of the text files"
		n.Hint = "write all files as CSV in UTF-8, with commas and decimal points"
	}
	return []layout.Note{n}
}
