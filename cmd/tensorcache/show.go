package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"github.com/tensorcache/tensorcache/internal/control"
	"github.com/tensorcache/tensorcache/internal/ingest"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
	"github.com/tensorcache/tensorcache/window"
)

func newShow(o *options) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "show NAME", Short: "show a dataset: its columns, steps, statistics and sources",
		Args:    cobra.ExactArgs(1),
		Example: "  tensorcache show etth1",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := o.connect(inDirectory)
			if err != nil {
				return err
			}
			defer c.Close()
			var d wire.Dataset
			if err := c.Get(cmd.Context(), control.Dataset(args[0], ""), &d); err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), d)
			}
			return showDataset(cmd, d)
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func showDataset(cmd *cobra.Command, d wire.Dataset) error {
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "%s, generation %d (digest %s)\n", d.Dataset, d.Generation, d.Digest)
	fmt.Fprintf(out, "%s, %s, layout %s, %s (%s in memory), %s\n", plural(d.Rows, "row"),
		plural(d.Items, "item"), d.Layout, humanize.IBytes(uint64(d.Bytes)), memoryText(d),
		plural(int64(d.Readers), "reader"))
	if d.DerivedBytes > 0 {
		fmt.Fprintf(out, "derived files, which can be made again: %s\n",
			humanize.IBytes(uint64(d.DerivedBytes)))
	}
	if of := d.Manifest.ScaledOf; of != nil {
		printLine(out, "scaled copy of %s (digest %s): %s per %s", of.Dataset, of.Digest, of.Scale, of.ScalePer)
	}
	if s := d.Manifest.TimeStep; s != nil {
		printLine(out, "%s", stepText(d.Manifest, *s))
	}
	for _, s := range d.Manifest.Sources {
		printLine(out, "from %s (%s)", s.Path, humanize.IBytes(uint64(s.Bytes)))
	}
	fmt.Fprintln(out)
	rows := [][]any{{"COLUMN", "ROLE", "DTYPE", "SHAPE", "MISSING", "STEPS"}}
	for _, c := range d.Manifest.Columns {
		dtype := string(c.DType)
		if c.Unit != "" {
			dtype += "[" + strings.Trim(c.Unit+", "+c.Zone, ", ") + "]"
		}
		role := string(c.Role)
		if c.Calendar != "" {
			role += ", calendar"
		} else if c.NamedOnly {
			role += ", named only"
		}
		rows = append(rows, []any{c.Name, role, dtype, c.Shape, c.Missing,
			strings.Join(ingest.DescribeSteps(&c), ", ")})
	}
	if err := table(out, rows); err != nil {
		return err
	}
	for _, c := range d.Manifest.Columns {
		if c.DTypeError != nil {
			printLine(out, "%s", dtypeErrorText(c.Name, *c.DTypeError))
		}
	}
	if err := showStatistics(out, d.Manifest.Columns); err != nil {
		return err
	}
	printWarnings(cmd, "note", d.Manifest.Notes)
	return nil
}

// showStatistics shows the statistics of columns.
func showStatistics(out io.Writer, columns []layout.ManifestColumn) error {
	rows := [][]any{{"COLUMN", "COUNT", "MEAN", "STD", "MIN", "~5%", "~25%", "~50%", "~75%",
		"~95%", "MAX"}}
	for _, c := range columns {
		s := c.Statistics
		if s == nil {
			continue
		}
		row := []any{c.Name, s.Count}
		for _, v := range []*float64{s.Mean, s.Std, s.Min, s.Quantiles["0.05"], s.Quantiles["0.25"],
			s.Quantiles["0.5"], s.Quantiles["0.75"], s.Quantiles["0.95"], s.Max} {
			if v == nil {
				row = append(row, "-")
			} else {
				row = append(row, strconv.FormatFloat(*v, 'g', 5, 64))
			}
		}
		rows = append(rows, row)
	}
	if len(rows) == 1 {
		return nil
	}
	fmt.Fprintln(out)
	return table(out, rows)
}

// stepText says how regular the times are.
func stepText(m *layout.Manifest, s layout.TimeStep) string {
	unit := ""
	if c, err := m.Column(m.Time); err == nil {
		unit = c.Unit
	}
	length := func(n int64) string {
		if s, ok := window.Units(n, unit); ok {
			return s.String()
		}
		return fmt.Sprint(n, unit)
	}
	if s.Jumps == 0 {
		return fmt.Sprintf("%s is regular, a row every %s", m.Time, length(s.Step))
	}
	return fmt.Sprintf("%s has mostly a row every %s, and %s jumps, the largest of %s", m.Time,
		length(s.Step), humanize.Comma(s.Jumps), length(s.Largest))
}

// dtypeErrorText says how large the error of storing a column in a narrower type is.
func dtypeErrorText(name string, e layout.DTypeError) string {
	if e.Abs == 0 {
		return name + ": stored without an error"
	}
	return fmt.Sprintf("%s: stored with an error of at most %.2g, %.2g of a value", name,
		e.Abs, e.Rel)
}

// plural formats a number of things.
func plural(n int64, thing string) string {
	return humanize.Comma(n) + " " + english.PluralWord(int(n), thing, "")
}
