package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tensorcache/tensorcache/internal/control"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
)

func newHead(o *options) *cobra.Command {
	var item, columns string
	var rows int
	var asJSON bool
	cmd := &cobra.Command{
		Use: "head NAME", Short: "show the first rows of a dataset, or of one of its items",
		Args:    cobra.ExactArgs(1),
		Example: "  tensorcache head etth1 --rows 5 --columns date,OT",
		RunE: func(cmd *cobra.Command, args []string) error {
			if rows < 1 || rows > 1000 {
				return usageError{fmt.Errorf("--rows: got %d, want a number from 1 to 1000", rows)}
			}
			c, err := o.connect(inDirectory)
			if err != nil {
				return err
			}
			defer c.Close()
			q := url.Values{"to": {fmt.Sprint(rows)}}
			if columns != "" {
				q.Set("columns", columns)
			}
			if cmd.Flags().Changed("item") {
				var d wire.Dataset
				if err := c.Get(cmd.Context(), control.Dataset(args[0], ""), &d); err != nil {
					return err
				}
				q.Set("item", itemJSON(d.Manifest, item))
			}
			var b []byte
			if err := c.Get(cmd.Context(), control.Dataset(args[0], "/rows?"+q.Encode()),
				&b); err != nil {
				return err
			}
			var r wire.Rows
			if err := decodeExact(b, &r); err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), r)
			}
			return showRows(cmd, r)
		},
	}
	f := cmd.Flags()
	f.StringVar(&item, "item", "",
		"only this `item`: its name, or a JSON list of several id columns")
	f.IntVar(&rows, "rows", 10, "how many `rows`, at most 1,000")
	f.StringVar(&columns, "columns", "", "only these `columns`: as a,b or as a JSON list")
	jsonFlag(cmd, &asJSON)
	return cmd
}

// itemJSON returns an item's name as JSON: a text in quotes unless the items are numbers.
func itemJSON(m *layout.Manifest, item string) string {
	if len(m.Items.Values) > 1 && strings.HasPrefix(item, "[") || len(m.Items.Values) == 1 &&
		m.Items.Values[0].DType != layout.Text && json.Valid([]byte(item)) {
		return item
	}
	return string(layout.AppendJSONText(nil, item))
}

func showRows(cmd *cobra.Command, r wire.Rows) error {
	head := make([]any, len(r.Columns))
	for i, name := range r.Columns {
		head[i] = name
	}
	lines := [][]any{head}
	for _, row := range r.Rows {
		line := make([]any, len(row))
		for i, v := range row {
			line[i] = cellText(v)
		}
		lines = append(lines, line)
	}
	if err := table(cmd.OutOrStdout(), lines); err != nil {
		return err
	}
	if r.To < r.Count {
		fmt.Fprintf(cmd.OutOrStdout(), "of %s\n", plural(r.Count, "row"))
	}
	return nil
}

// cellText returns a value as the table shows it: "-" if it is missing, lists without spaces.
func cellText(v any) string {
	switch v := v.(type) {
	case nil:
		return "-"
	case []any:
		parts := make([]string, len(v))
		for i, x := range v {
			parts[i] = cellText(x)
		}
		return "[" + strings.Join(parts, ",") + "]"
	case string:
		return v
	}
	return fmt.Sprint(v)
}

// decodeExact reads JSON. Integers in fields of any type keep all digits, as json.Number.
func decodeExact(b []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	return d.Decode(into)
}
