package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/tensorcache/tensorcache/internal/control"
	"github.com/tensorcache/tensorcache/internal/wire"
)

func newPlan(o *options) *cobra.Command {
	f := &planFlags{}
	var asJSON bool
	cmd := &cobra.Command{
		Use: "plan NAME", Short: "say which windows exist, and why others do not",
		Args: cobra.ExactArgs(1),
		Example: "  tensorcache plan etth1 --context-length 336 --prediction-length 96 " +
			"--split-lengths 8640,2880,2880",
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := f.request(cmd)
			if err != nil {
				return usageError{err}
			}
			c, err := o.connect(inDirectory)
			if err != nil {
				return err
			}
			defer c.Close()
			var b []byte
			if err := c.Post(cmd.Context(), control.Dataset(args[0], "/plan"), r, &b); err != nil {
				return err
			}
			var p wire.PlanReply
			if err := decodeExact(b, &p); err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), p)
			}
			printWarnings(cmd, "warning", p.Warnings)
			return showPlan(cmd, p)
		},
	}
	f.add(cmd)
	jsonFlag(cmd, &asJSON)
	return cmd
}

func showPlan(cmd *cobra.Command, p wire.PlanReply) error {
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "%s, generation %d: %s windows of %s positions (items: %s)\n", p.Dataset,
		p.Generation, humanize.Comma(p.Windows), humanize.Comma(p.Positions),
		humanize.Comma(p.Items))
	if words := pathWords[p.Path]; words != "" {
		fmt.Fprintf(out, "  delivered: %s\n", words)
	}
	for _, reason := range slices.Sorted(maps.Keys(p.Rejected)) {
		printLine(out, "  rejected by %s: %s", reason, humanize.Comma(p.Rejected[reason]))
	}
	showPlace(out, "first", p.First)
	showPlace(out, "last", p.Last)
	rows := [][]any{{"PART", "WINDOWS", "POSITIONS", "REJECTED"}}
	for _, s := range p.Splits {
		rejected, err := json.Marshal(s.Rejected)
		if err != nil {
			return err
		}
		rows = append(rows, []any{s.Name, humanize.Comma(s.Windows), humanize.Comma(s.Positions),
			string(rejected)})
	}
	if len(rows) > 1 {
		if err := table(out, rows); err != nil {
			return err
		}
	}
	if p.BatchPlan == nil {
		return nil
	}
	fmt.Fprintf(out, "%s batches an epoch, the last of %d windows, %s each\n",
		humanize.Comma(p.Batches), p.LastBatch, humanize.IBytes(uint64(p.BatchBytes)))
	if p.Groups != nil {
		showGroups(cmd, p.Groups)
	}
	return nil
}

func showGroups(cmd *cobra.Command, g *wire.GroupPlan) {
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "%s of %s to %s windows, median %s (items with windows: %s)\n",
		plural(g.Groups, "group"), humanize.Comma(g.Least), humanize.Comma(g.Greatest),
		humanize.Commaf(g.Median), humanize.Comma(g.Items))
	if g.Dropped > 0 {
		fmt.Fprintf(out, "dropped by --min-items: %s of %s\n", plural(g.Dropped, "group"),
			plural(g.DroppedWindows, "window"))
	}
	if g.Warning != "" {
		printLine(cmd.ErrOrStderr(), "warning: %s", g.Warning)
	}
}

func showPlace(out io.Writer, name string, at *wire.WindowPlace) {
	if at == nil {
		return
	}
	text := fmt.Sprintf("  %s window begins at row %d", name, at.Start)
	if at.Item != nil {
		text += fmt.Sprintf(" of item %v", at.Item)
	}
	if at.Time != nil {
		text += fmt.Sprintf(" (%v)", at.Time)
	}
	printLine(out, "%s", text)
}
