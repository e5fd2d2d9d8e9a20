package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"
)

func newPut(o *options) *cobra.Command {
	f := &loadFlags{}
	var appendRows bool
	cmd := &cobra.Command{
		Use: "put NAME", Short: "load an Arrow stream from standard input as a dataset",
		Args: cobra.ExactArgs(1),
		Long: "Put reads an Arrow IPC stream, as pyarrow, Polars and DuckDB write it, from " +
			"standard input. From Python, cache.put takes arrays. If the last put of the dataset was " +
			"the same, it is already there.",
		Example: "  python export.py | tensorcache put mine --item-id id --time t",
		RunE: func(cmd *cobra.Command, args []string) error {
			if in, ok := cmd.InOrStdin().(*os.File); ok && term.IsTerminal(int(in.Fd())) {
				return usageError{errors.New(
					"standard input is a terminal; pipe an Arrow IPC stream in")}
			}
			in, err := f.recipeOptions(cmd)
			if err != nil {
				return err
			}
			options, err := json.Marshal(in)
			if err != nil {
				return err
			}
			if appendRows {
				if options = nil; !hasOnlyAppend(cmd) {
					return usageError{errors.New(
						"--append takes the options of the dataset, want no others")}
				}
			}
			c, err := o.connect(makeDirectory)
			if err != nil {
				return err
			}
			defer c.Close()
			reply, err := c.PutArrow(args[0], options, appendRows, cmd.InOrStdin())
			if err != nil {
				return err
			}
			hit := ""
			if reply.Hit {
				hit = ", already there"
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: generation %d, %d rows%s\n", reply.Dataset,
				reply.Generation, reply.Rows, hit)
			printDTypeErrors(cmd, reply.DTypeError)
			printWarnings(cmd, "note", reply.Notes)
			return nil
		},
	}
	f.add(cmd)
	f.addRecipe(cmd)
	cmd.Flags().BoolVar(&appendRows, "append", false,
		"put the rows behind those of the dataset, with its options")
	return cmd
}

// hasOnlyAppend reports whether no flag of the verb is given except --append.
func hasOnlyAppend(cmd *cobra.Command) bool {
	other := false
	cmd.Flags().Visit(func(f *pflag.Flag) {
		other = other || f.Name != "append" &&
			cmd.InheritedFlags().Lookup(f.Name) == nil
	})
	return !other
}
