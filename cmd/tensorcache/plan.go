package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/tensorcache/tensorcache/internal/control"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/sampler"
)

func newPlan(o *options) *cobra.Command {
	f := &planFlags{}
	var asJSON bool
	cmd := &cobra.Command{
		Use: "plan NAME", Short: "say which windows exist, and why others do not", Args: cobra.ExactArgs(1),
		Example: "  tensorcache plan etth1 --context-length 336 --prediction-length 96 --split-lengths 8640,2880,2880",
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := f.request(cmd)
			if err != nil {
				return usageError{err}
			}
			c, err := o.connect(true)
			if err != nil {
				return err
			}
			defer c.Close()
			var p wire.PlanReply
			if err := c.Post(cmd.Context(), control.Dataset(args[0], "/plan"), r, &p); err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), p)
			}
			return showPlan(cmd, p)
		},
	}
	f.add(cmd)
	jsonFlag(cmd, &asJSON)
	return cmd
}

func showPlan(cmd *cobra.Command, p wire.PlanReply) error {
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "%s, generation %d: %s windows of %s positions (items: %s, path: %s)\n", p.Dataset, p.Generation, humanize.Comma(p.Windows), humanize.Comma(p.Positions), humanize.Comma(p.Items), p.Path)
	for _, reason := range slices.Sorted(maps.Keys(p.Rejected)) {
		fmt.Fprintf(out, "  rejected by %s: %s\n", reason, humanize.Comma(p.Rejected[reason]))
	}
	showPlace(out, "first", p.First)
	showPlace(out, "last", p.Last)
	rows := [][]any{{"PART", "WINDOWS", "POSITIONS", "REJECTED"}}
	for _, s := range p.Splits {
		rejected, err := json.Marshal(s.Rejected)
		if err != nil {
			return err
		}
		rows = append(rows, []any{s.Name, humanize.Comma(s.Windows), humanize.Comma(s.Positions), string(rejected)})
	}
	if len(rows) > 1 {
		if err := table(out, rows); err != nil {
			return err
		}
	}
	if p.BatchPlan == nil {
		return nil
	}
	fmt.Fprintf(out, "%s batches an epoch, the last of %d windows, %s each\n", humanize.Comma(p.Batches), p.LastBatch, humanize.IBytes(uint64(p.BatchBytes)))
	return nil
}

func showPlace(out io.Writer, name string, at *wire.WindowPlace) {
	if at == nil {
		return
	}
	fmt.Fprintf(out, "  %s window begins at row %d", name, at.Start)
	if at.Item != nil {
		fmt.Fprintf(out, " of item %v", at.Item)
	}
	if at.Time != nil {
		fmt.Fprintf(out, " (%v)", at.Time)
	}
	fmt.Fprintln(out)
}

// planFlags are the flags of a window spec, a split and an order. A flag that is not given is left out of the JSON, so
// that the daemon alone decides what its default is.
type planFlags struct {
	ints       map[string]*int64  // spec, by JSON name
	texts      map[string]*string // spec
	lists      map[string]*[]string
	rows       string
	maxMissing string
	lengths    []int64
	fractions  []float64
	purge      int64
	batch      sampler.Options
}

func (f *planFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	f.ints, f.texts, f.lists = map[string]*int64{}, map[string]*string{}, map[string]*[]string{}
	for name, usage := range map[string]string{
		"context_length": "`rows` a window looks back over", "prediction_length": "`rows` to predict", "gap": "`rows` between the two",
		"overlap": "context `rows` repeated at the start of the target", "stride": "`rows` between starts of neighbouring windows",
		"dilation": "`rows` between samples inside a window", "min_context": "least real context `rows`; fewer are padded",
	} {
		f.ints[name] = flags.Int64(flagName(name), 0, usage)
	}
	for name, usage := range map[string]string{
		"anchor": "count strides from the item's start or end", "max_step": "largest `step` in time between neighbouring rows, as 1h", "dtype": "`dtype` that parts are delivered in (default float32)",
	} {
		f.texts[name] = flags.String(flagName(name), "", usage)
	}
	for name, usage := range map[string]string{
		"columns": "`columns` of context and target", "context_columns": "`columns` of the context", "target_columns": "`columns` of the target",
		"known_columns": "`columns` known in advance", "static_columns": "`columns` constant per item",
	} {
		f.lists[name] = flags.StringSlice(flagName(name), nil, usage)
	}
	flags.StringVar(&f.rows, "rows", "", "use only these `rows` of each item, as 100:-20")
	flags.StringVar(&f.maxMissing, "max-missing", "", "largest `share` of missing cells, or any (default 0)")
	flags.Int64SliceVar(&f.lengths, "split-lengths", nil, "split every item into parts of so many `rows`")
	flags.Float64SliceVar(&f.fractions, "split-fractions", nil, "split every item into these `fractions` of its rows")
	flags.Int64Var(&f.purge, "purge", 0, "`rows` left out before each later part")
	flags.Int64Var(&f.batch.BatchSize, "batch-size", 0, "plan batches of so many `windows` too")
	flags.StringVar(&f.batch.Order, "order", "", "sequential, shuffle, bootstrap, random_start or lanes")
	flags.Int64Var(&f.batch.NumReplicas, "num-replicas", 0, "`ranks` that share an epoch")
	flags.StringVar(&f.batch.Tail, "tail", "", "short, wrap or drop")
}

// flagName is a JSON name as a flag: one dictionary, two spellings.
func flagName(name string) string {
	b := []byte(name)
	for i := range b {
		if b[i] == '_' {
			b[i] = '-'
		}
	}
	return string(b)
}

// request is the plan's JSON with what was given on the command line.
func (f *planFlags) request(cmd *cobra.Command) (map[string]any, error) {
	spec := map[string]any{}
	given := func(name string) bool { return cmd.Flags().Changed(flagName(name)) }
	for name, v := range f.ints {
		if given(name) {
			spec[name] = *v
		}
	}
	for name, v := range f.texts {
		if given(name) {
			spec[name] = *v
		}
	}
	for name, v := range f.lists {
		if given(name) {
			spec[name] = *v
		}
	}
	if given("rows") {
		rows, err := parseRows(f.rows)
		if err != nil {
			return nil, fmt.Errorf("--rows: %w", err)
		}
		spec["rows"] = rows
	}
	if given("max_missing") {
		share, err := parseShare(f.maxMissing)
		if err != nil {
			return nil, err
		}
		spec["max_missing"] = share
	}
	r := map[string]any{"spec": spec}
	split := map[string]any{}
	if given("split_lengths") {
		split["lengths"] = f.lengths
	}
	if given("split_fractions") {
		split["fractions"] = f.fractions
	}
	if given("purge") {
		split["purge"] = f.purge
	}
	if len(split) > 0 {
		r["split"] = split
	}
	if given("batch_size") {
		r["options"] = f.batch
	} else if given("order") || given("num_replicas") || given("tail") {
		return nil, errors.New("--order, --num-replicas and --tail say something about batches only together with --batch-size")
	}
	return r, nil
}

// parseShare reads a number, or "any" for null.
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
