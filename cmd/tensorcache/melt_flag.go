package main

import (
	"strconv"

	"github.com/tensorcache/tensorcache/internal/ingest"
)

// meltFlag is the flag --melt, which is columns without a value.
type meltFlag struct{ to *ingest.Melt }

func (m meltFlag) String() string {
	if m.to == nil {
		return ""
	}
	return string(*m.to)
}

func (m meltFlag) Type() string { return "melt" }

// Set sets the flag to a name, or to a boolean: --melt was one.
func (m meltFlag) Set(text string) error {
	if text == "" {
		return errEmptyFlag
	}
	*m.to = ingest.Melt(text)
	if on, err := strconv.ParseBool(text); err == nil {
		if *m.to = ""; on {
			*m.to = ingest.MeltColumns
		}
	}
	return nil
}

// withMeltValue joins --melt with its value. pflag takes a value that follows a flag with a default
// as an argument.
func withMeltValue(args []string) []string {
	var out []string
	for i, arg := range args {
		if arg == "--" {
			return append(out, args[i:]...)
		}
		if i > 0 && args[i-1] == "--melt" &&
			(arg == string(ingest.MeltRows) || arg == string(ingest.MeltColumns)) {
			out[len(out)-1] += "=" + arg
			continue
		}
		out = append(out, arg)
	}
	return out
}
