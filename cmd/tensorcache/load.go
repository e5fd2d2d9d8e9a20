package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	tensorcache "github.com/tensorcache/tensorcache/clients/go"
	"github.com/tensorcache/tensorcache/internal/control"
	"github.com/tensorcache/tensorcache/internal/ingest"
	"github.com/tensorcache/tensorcache/internal/origin"
	"github.com/tensorcache/tensorcache/layout"
)

// loadFlags are the flags of load options, which load and put share.
type loadFlags struct {
	ingest.Options
	recipe, fitRows, fitBefore, fitFraction string
	times                                   []string
	rows                                    rowFlags
}

func (f *loadFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.Var(namesFlag{&f.Columns}, "columns", "value `columns` to keep, as a,b or as a JSON "+
		"list (default: all)")
	flags.Var(namesFlag{&f.ItemID}, "item-id", "`columns` that name the series of a row, as a,b or "+
		"as a JSON list")
	flags.Var(namesFlag{&f.times}, "time",
		"the time `column`, or those of year, month, day, hour, minute, second")
	flags.Var(dtypesFlag{&f.DType}, "dtype",
		"store floats as float32, or columns as `a=float32,b=int16` (default: as they are)")
	flags.StringVar(&f.Layout, "layout", "",
		"columns (default), packed: windows of all columns are one copy, or auto: packed from 32 columns of one dtype on")
	flags.Var(meltFlag{&f.Melt}, "melt", "every column but the time is a series (`columns`, also "+
		"without a value), or every row (rows): the values become the column value")
	flags.Lookup("melt").NoOptDefVal = string(ingest.MeltColumns)
	f.rows.add(cmd, &f.Options)
}

// addFiles adds the flags that only files need.
func (f *loadFlags) addFiles(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.Encoding, "encoding", "",
		"the `encoding` of text files, such as cp1252 or utf-16 (default: found by the first bytes)")
	flags.StringVar(&f.Delimiter, "delimiter", "",
		"the `sign` between the cells of text files (default: found by the first rows)")
	flags.BoolVar(&f.NoHeader, "no-header", false,
		"text files begin with values; their columns are c0, c1, …")
	flags.StringVar(&f.Decimal, "decimal", "",
		"the decimal `sign` of text files: . or , (default: found by the first rows)")
	flags.StringVar(&f.Thousands, "thousands", "",
		"the `sign` between thousands in the numbers of text files: , . ' ’ _ or a blank")
	flags.Int64Var(&f.Skip, "skip", 0, "the number of `lines` of text files above the header")
	flags.StringVar(&f.Comment, "comment", "",
		"the `sign` that begins lines of text files to skip, such as #")
	flags.BoolVar(&f.HashSources, "hash-sources", false,
		"compare sources by what they hold, not by the time of their change: each is read for it")
	flags.StringVar(&f.TimeFormat, "time-format", "",
		"the `format` of times in text files, as %d/%m/%Y %H:%M; %s is seconds since 1970 "+
			"(default: ISO 8601, and days with the year first)")
	flags.StringSliceVar(&f.NA, "na", nil, "further `words` of text files that stand for no value")
}

// parseRows parses "a:b". Either may be missing for an open end.
func parseRows(text string) (rows [2]*int64, err error) {
	from, to, ok := strings.Cut(text, ":")
	if !ok {
		return rows, fmt.Errorf("got %q, want rows as 0:8640", text)
	}
	for i, s := range []string{from, to} {
		if s == "" {
			continue
		}
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return rows, fmt.Errorf("got %q, want rows as 0:8640", text)
		}
		rows[i] = &n
	}
	return rows, nil
}

func newLoad(o *options) *cobra.Command {
	f := &loadFlags{}
	cmd := &cobra.Command{
		Use: "load NAME SOURCE...", Short: "load columns of files as a dataset",
		Args: cobra.MinimumNArgs(2),
		Long: "Load reads files once into a new generation of a dataset. The same, unchanged " +
			"files with the same options are a hit and cost nothing. Of http and https URLs it " +
			"copies the bytes that are needed.",
		Example: "  tensorcache load etth1 ETTh1.csv --time date --scale standard --fit-rows " +
			"0:8640",
		RunE: func(cmd *cobra.Command, args []string) error {
			in, err := f.recipeOptions(cmd)
			if err != nil {
				return err
			}
			return o.loadSources(cmd, args[0], loadRoute, args[1:],
				func(sources []string, origins origin.Files) any {
					in.Sources, in.Origins = sources, origins
					return in
				})
		},
	}
	f.add(cmd)
	f.addRecipe(cmd)
	f.addFiles(cmd)
	return cmd
}

// sourcePaths returns the sources as absolute paths, because the daemon's working directory is
// another. It expands a pattern that the shell has not expanded, unless a file has this name.
// Hidden files do not match.
func sourcePaths(args []string) ([]string, error) {
	var out []string
	for _, arg := range args {
		abs, err := filepath.Abs(control.ExpandHome(arg))
		if err != nil {
			return nil, err
		}
		if _, err := os.Lstat(abs); err == nil || !strings.ContainsAny(arg, "*?[") {
			out = append(out, abs)
			continue
		}
		matches, err := filepath.Glob(abs)
		if err != nil {
			return nil, usageError{fmt.Errorf("%q is not a valid pattern: %w", arg, err)}
		}
		matches = slices.DeleteFunc(matches,
			func(m string) bool { return strings.HasPrefix(filepath.Base(m), ".") })
		if len(matches) == 0 {
			return nil, &tensorcache.Error{Type: tensorcache.SourceError,
				Detail: fmt.Sprintf("no file matches %q", arg),
				Hint:   "look at the folder and the pattern; hidden files match none"}
		}
		out = append(out, matches...)
	}
	for _, path := range out {
		if !utf8.ValidString(path) {
			return nil, &tensorcache.Error{Type: tensorcache.SourceError,
				Detail: fmt.Sprintf("%q: the name is not UTF-8", path),
				Hint:   "rename it: requests are JSON, which is UTF-8"}
		}
	}
	return out, nil
}

// Routes of a dataset that load it and append to it.
const (
	loadRoute   = "/load"
	appendRoute = "/append"
)

// loadAndPrint loads or appends files and prints the result.
func (o *options) loadAndPrint(cmd *cobra.Command, name, route string, body any) error {
	job, err := o.runJob(cmd, name, route, body)
	if err != nil {
		return err
	}
	how := fmt.Sprintf("in %.1f s", job.Seconds)
	if job.Hit {
		how = "already there"
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s: generation %d, %d rows, %s\n", job.Dataset, job.Generation,
		job.Rows, how)
	printDTypeErrors(cmd, job.DTypeError)
	printWarnings(cmd, "note", job.Notes)
	return nil
}

// printDTypeErrors prints the errors that storing floats in narrower types has caused.
func printDTypeErrors(cmd *cobra.Command, lost map[string]layout.DTypeError) {
	for _, name := range slices.Sorted(maps.Keys(lost)) {
		printLine(cmd.OutOrStdout(), "%s", dtypeErrorText(name, lost[name]))
	}
}
