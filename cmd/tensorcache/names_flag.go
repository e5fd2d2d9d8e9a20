package main

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// namesFlag is a flag of names: a,b or a JSON list. It may be repeated.
type namesFlag struct{ to *[]string }

func (n namesFlag) String() string { return "" }
func (n namesFlag) Type() string   { return "strings" }

// Set adds the names of the flag's text. It refuses an empty one.
func (n namesFlag) Set(text string) error {
	var names []string
	var err error
	if strings.HasPrefix(text, "[") {
		err = json.Unmarshal([]byte(text), &names)
	} else {
		names, err = record(text)
	}
	if err != nil || len(names) == 0 || slices.Contains(names, "") {
		return errors.New(`want names as a,b or as a JSON list: ["a","b"]`)
	}
	*n.to = append(*n.to, names...)
	return nil
}

// record returns the cells of a text that is one record of CSV.
func record(text string) ([]string, error) {
	records, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(records) != 1 {
		return nil, errors.Join(err, errors.New("want one record"))
	}
	return records[0], nil
}

// textFlag is a flag of a text. It refuses an empty one, which a shell makes of a variable that is
// not set.
type textFlag struct{ pflag.Value }

// Set sets the flag.
func (f textFlag) Set(text string) error {
	if text == "" {
		return errEmptyFlag
	}
	return f.Value.Set(text)
}

// errEmptyFlag is the reason for refusing a flag without a value.
var errEmptyFlag = errors.New("want a value that is not empty")

// refuseEmptyTexts makes the flags of texts refuse an empty value.
func refuseEmptyTexts(flags *pflag.FlagSet) {
	flags.VisitAll(func(f *pflag.Flag) {
		if _, ok := f.Value.(textFlag); !ok && f.Value.Type() == "string" {
			f.Value = textFlag{f.Value}
		}
	})
}
