package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tensorcache/tensorcache/sampler"
)

// planFlags are the flags of a window spec, a split and an order. The request has only those that
// are given, so that only the daemon defines defaults.
type planFlags struct {
	spec       map[string]any // pointers to the values of flags, by JSON name
	rows       string
	time       []string
	maxMissing string
	split      struct {
		lengths       []int64
		fractions     []float64
		atTimes       []string
		items         []float64
		purge         int64
		contextBefore bool
	}
	latest bool
	batch  sampler.Options
}

func (f *planFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	f.spec = map[string]any{}
	for name, usage := range map[string]string{
		"context_length":    "`rows` a window looks back over",
		"prediction_length": "`rows` to predict", "gap": "`rows` between the two",
		"overlap":     "context `rows` repeated at the start of the target",
		"stride":      "`rows` between starts of neighbouring windows",
		"dilation":    "`rows` between samples inside a window",
		"min_context": "least real context `rows`; fewer are padded",
	} {
		f.spec[name] = flags.Int64(flagName(name), 0, usage)
	}
	for name, usage := range map[string]string{
		"anchor":   "count strides from the item's start or end",
		"max_step": "largest `step` in time between neighbouring rows, as 1h",
		"dtype":    "`dtype` that parts are delivered in (default float32)",
	} {
		f.spec[name] = flags.String(flagName(name), "", usage)
	}
	for name, usage := range map[string]string{
		"columns": "`columns` of context and target", "context_columns": "`columns` of the context",
		"target_columns": "`columns` of the target",
		"known_columns":  "`columns` known in advance",
		"static_columns": "`columns` constant per item",
	} {
		names := &[]string{}
		flags.Var(namesFlag{names}, flagName(name), usage)
		f.spec[name] = names
	}
	f.spec["count_filled"] = flags.Bool("count-filled", false,
		"count values that were filled at the load as missing")
	f.spec["missing_value"] = flags.Float64("missing-value", 0,
		"deliver this `value` for missing ones (default NaN)")
	f.spec["pad_value"] = flags.Float64("pad-value", 0,
		"`value` of padded rows, or nan (default 0)")
	flags.StringVar(&f.rows, "rows", "", "use only these `rows` of each item, as 100:-20")
	flags.StringSliceVar(&f.time, "time", nil,
		"use only rows `from,to` these times, either may be empty")
	flags.StringVar(&f.maxMissing, "max-missing", "",
		"largest `share` of missing cells, or any (default 0)")
	flags.Int64SliceVar(&f.split.lengths, "split-lengths", nil,
		"split every item into parts of so many `rows`")
	flags.Float64SliceVar(&f.split.fractions, "split-fractions", nil,
		"split every item into these `fractions` of its rows")
	flags.StringSliceVar(&f.split.atTimes, "split-at-times", nil, "split at these `times`")
	flags.Float64SliceVar(&f.split.items, "split-items", nil,
		"split whole items into these `fractions`")
	flags.Int64Var(&f.split.purge, "purge", 0, "`rows` left out before each later part")
	flags.BoolVar(&f.split.contextBefore, "context-before-split", true,
		"let context reach back before its part")
	flags.BoolVar(&f.latest, "latest", false,
		"plan the one window per item whose context ends at its last row with a target value")
	flags.Var(batchSizeFlag{&f.batch.BatchSize}, "batch-size",
		"plan batches of so many `windows` too; all is a whole group")
	flags.StringVar(&f.batch.Order, "order", "", sampler.OneOf(sampler.Orders()))
	flags.Int64Var(&f.batch.MinItems, "min-items", 0,
		"leave out groups with fewer `windows`, in an order of groups")
	flags.Int64Var(&f.batch.NumReplicas, "num-replicas", 0, "`ranks` that share an epoch")
	flags.StringVar(&f.batch.Tail, "tail", "", "short, wrap or drop")
}

// flagName returns the flag of a JSON name.
func flagName(name string) string { return strings.ReplaceAll(name, "_", "-") }

// request returns the JSON of the plan request.
func (f *planFlags) request(cmd *cobra.Command) (map[string]any, error) {
	given := cmd.Flags().Changed
	spec := map[string]any{}
	for name, v := range f.spec {
		if !given(flagName(name)) {
			continue
		}
		spec[name] = v
		switch v, _ := v.(*float64); { // JSON has neither NaN nor infinity
		case v == nil:
		case math.IsNaN(*v):
			spec[name] = nil
		case math.IsInf(*v, 0):
			return nil, fmt.Errorf("--%s: got %v, want a finite number or nan", flagName(name), *v)
		}
	}
	if given("rows") {
		rows, err := parseRows(f.rows)
		if err != nil {
			return nil, fmt.Errorf("--rows: %w", err)
		}
		spec["rows"] = rows
	}
	if given("time") {
		if len(f.time) != 2 {
			return nil, fmt.Errorf("--time: got %q, want two times as 2016-07-01,2017-07-01",
				strings.Join(f.time, ","))
		}
		spec["time"] = []any{timeOrNil(f.time[0]), timeOrNil(f.time[1])}
	}
	if given("max-missing") {
		share, err := parseShare(f.maxMissing)
		if err != nil {
			return nil, err
		}
		spec["max_missing"] = share
	}
	r := map[string]any{"spec": spec}
	if split := f.splitRequest(given); len(split) > 0 {
		r["split"] = split
	}
	if f.latest {
		r["cuts"] = []any{map[string]bool{"latest": true}}
	}
	if given("batch-size") {
		r["options"] = f.batch
	} else if given("order") || given("min-items") || given("num-replicas") || given("tail") {
		return nil, errors.New(
			"--order, --min-items, --num-replicas and --tail say something about batches only " +
				"together with --batch-size")
	}
	return r, nil
}

func (f *planFlags) splitRequest(given func(string) bool) map[string]any {
	split := map[string]any{}
	for flag, v := range map[string]any{"split-lengths": f.split.lengths,
		"split-fractions": f.split.fractions, "split-items": f.split.items} {
		if given(flag) {
			split[strings.TrimPrefix(flag, "split-")] = v
		}
	}
	if given("split-at-times") {
		times := make([]any, len(f.split.atTimes))
		for i, t := range f.split.atTimes {
			times[i] = timeOrNil(t)
		}
		split["at_times"] = times
	}
	if given("purge") {
		split["purge"] = f.split.purge
	}
	if given("context-before-split") {
		split["context_before_split"] = f.split.contextBefore
	}
	return split
}

// timeOrNil returns a time as in JSON: an integer, a text, or nil for an empty text.
func timeOrNil(text string) any {
	if text == "" {
		return nil
	}
	var n int64
	if json.Unmarshal([]byte(text), &n) == nil {
		return n
	}
	return text
}

// parseShare parses a number, or "any", for which it returns nil.
func parseShare(text string) (any, error) {
	if text == "any" {
		return nil, nil
	}
	var share float64
	if err := json.Unmarshal([]byte(text), &share); err != nil {
		return nil, fmt.Errorf("--max-missing: got %q, want a share from 0 to 1, or any", text)
	}
	return share, nil
}
