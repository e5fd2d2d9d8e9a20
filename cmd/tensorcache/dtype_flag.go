package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tensorcache/tensorcache/internal/ingest"
)

// dtypesFlag is the flag --dtype: a dtype for all floats, or pairs name=dtype, where "*" means all
// other floats.
type dtypesFlag struct{ to *ingest.DTypes }

func (d dtypesFlag) String() string { return "" }
func (d dtypesFlag) Type() string   { return "dtype" }

// Set parses the flag's text.
func (d dtypesFlag) Set(text string) error {
	out := ingest.DTypes{By: map[string]string{}}
	for _, part := range strings.Split(text, ",") {
		name, dtype := "*", part
		if at := strings.LastIndexByte(part, '='); at >= 0 {
			name, dtype = part[:at], part[at+1:]
		}
		switch _, again := out.By[name]; {
		case name == "" || dtype == "":
			return errors.New("got an empty part")
		case again || name == "*" && out.Floats != "":
			return fmt.Errorf("column %q is set twice", name)
		case name == "*":
			out.Floats = dtype
		default:
			out.By[name] = dtype
		}
	}
	*d.to = out
	return nil
}
