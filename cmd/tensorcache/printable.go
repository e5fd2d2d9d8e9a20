package main

import (
	"fmt"
	"io"
	"strings"
	"unicode"
)

// printable replaces the control characters of a text by spaces. Names and values come from data,
// and a control character of them would break a table or control the terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
}

// printLine writes a line with names or values from data.
func printLine(w io.Writer, format string, args ...any) {
	fmt.Fprintln(w, printable(fmt.Sprintf(format, args...)))
}
