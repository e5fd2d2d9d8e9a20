package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/cobra"

	"github.com/tensorcache/tensorcache/internal/control"
	"github.com/tensorcache/tensorcache/internal/ingest"
	"github.com/tensorcache/tensorcache/internal/wire"
)

// addRecipe adds the flags of the steps that change values.
func (f *loadFlags) addRecipe(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.recipe, "recipe", "",
		"take load options from a `file`.json or .toml, beside those of the flags")
	for _, step := range ingest.StepFlags(&f.Options) {
		flags.Var(step, step.Name, step.Usage)
	}
	flags.StringVar(&f.ScalePer, "scale-per", "",
		"fit steps per column (default) or per item")
	flags.StringVar(&f.fitRows, "fit-rows", "", "fit them on these `rows` of each item, as 0:8640")
	flags.StringVar(&f.fitBefore, "fit-before", "",
		"fit them on rows before this `time`; it is in the zone of the time column if it has none")
	flags.StringVar(&f.fitFraction, "fit-fraction", "",
		"fit them on this `share` of each item's rows, from its start")
	flags.Int64Var(&f.FitSample, "fit-sample", 0,
		"fit them on so many of these `rows`, drawn at random")
	flags.Int64Var(&f.FitSeed, "fit-seed", 0, "the `seed` of that draw")
	flags.Var(namesFlag{&f.Calendar}, "calendar",
		"make `features` of the time: hour, month_sincos, timeF:h, age, …")
}

// recipeOptions returns the options of the flags and of the recipe file.
func (f *loadFlags) recipeOptions(cmd *cobra.Command) (o ingest.Options, err error) {
	if err := f.rows.apply(&f.Options); err != nil {
		return o, usageError{err}
	}
	if o = f.Options; len(f.times) == 1 {
		o.Time = f.times[0]
	} else {
		o.TimeParts = f.times
	}
	if f.fitRows != "" {
		rows, err := parseRows(f.fitRows)
		if err != nil {
			return o, usageError{fmt.Errorf("--fit-rows: %w", err)}
		}
		o.FitRows = &rows
	}
	if f.fitFraction != "" {
		share, err := parseNumber(f.fitFraction)
		if err != nil {
			return o, usageError{fmt.Errorf("--fit-fraction: %w", err)}
		}
		o.FitFraction = &share
	}
	if f.fitBefore != "" {
		var before any = f.fitBefore
		if n, err := strconv.ParseInt(f.fitBefore, 10, 64); err == nil {
			before = n
		}
		o.FitBefore, _ = json.Marshal(before) // texts and integers always marshal
	}
	if f.recipe == "" {
		return o, nil
	}
	fields, err := readRecipe(control.ExpandHome(f.recipe))
	if err != nil {
		return o, recipeError{err}
	}
	for field := range fields {
		if flag := cmd.Flags().Lookup(strings.ReplaceAll(field, "_", "-")); flag != nil &&
			flag.Changed {
			return o, usageError{fmt.Errorf("--%s: %s has %s too", flag.Name, f.recipe, field)}
		}
	}
	if err := applyRecipe(fields, &o); err != nil {
		return o, recipeError{fmt.Errorf("%s: %w", f.recipe, err)}
	}
	return o, nil
}

// recipeError is an error in a recipe file.
type recipeError struct{ error }

func (e recipeError) Unwrap() error { return e.error }

// applyRecipe sets the options that a recipe has. A single name may be written without a list, as
// in Python.
func applyRecipe(fields map[string]any, o *ingest.Options) error {
	lists := []string{"calendar", "columns", "item_id", "na"}
	for _, step := range ingest.StepFlags(o) {
		if step.NamesColumns {
			lists = append(lists, step.Name)
		}
	}
	for _, field := range lists {
		switch v := fields[field].(type) {
		case string:
			fields[field] = []string{v}
		case json.RawMessage:
			if strings.HasPrefix(string(v), `"`) {
				fields[field] = []json.RawMessage{v}
			}
		}
	}
	switch v := fields["time"].(type) {
	case []any:
		fields["time_parts"] = v
		delete(fields, "time")
	case json.RawMessage:
		if strings.HasPrefix(string(v), "[") {
			fields["time_parts"] = v
			delete(fields, "time")
		}
	}
	if _, ok := fields["sources"]; ok {
		return errors.New("a recipe cannot have sources")
	}
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		// JSON has no NaN and no infinity
		if _, err := json.Marshal(fields[field]); err != nil {
			return fmt.Errorf("%s: got %s, want finite numbers", field,
				strings.TrimPrefix(err.Error(), "json: unsupported value: "))
		}
	}
	text, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	return wire.Strict(text, o)
}

// readRecipe reads the fields of a file. The name says the format.
func readRecipe(path string) (fields map[string]any, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(path, ".toml") {
		if err = toml.Unmarshal(text, &fields); err != nil {
			if at := (*toml.DecodeError)(nil); errors.As(err, &at) {
				row, column := at.Position()
				return nil, fmt.Errorf("%s, line %d, column %d: %s", path, row, column,
					strings.TrimPrefix(err.Error(), "toml: "))
			}
		}
	} else {
		var values map[string]json.RawMessage // so that numbers stay exact
		err = wire.Strict(text, &values)
		fields = make(map[string]any, len(values))
		for field, value := range values {
			fields[field] = value
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return fields, nil
}
