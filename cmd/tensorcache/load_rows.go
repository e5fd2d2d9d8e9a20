package main

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tensorcache/tensorcache/internal/ingest"
)

// rowFlags are the flags that select, order and insert rows.
type rowFlags struct {
	where         []string
	items, regrid string
	maxDuplicates string
}

func (f *rowFlags) add(cmd *cobra.Command, o *ingest.Options) {
	flags := cmd.Flags()
	flags.StringSliceVar(&f.where, "where", nil,
		"keep only rows `from,to` these times; either may be empty, and is in the zone of the "+
			"time column if it has none")
	flags.StringVar(&f.items, "items", "", "keep only these `items`: as a,b or as a JSON list")
	flags.StringVar(&o.ItemBucket, "item-bucket", "",
		"keep only the items of one `bucket`, as 3/16: the fourth of sixteen")
	flags.BoolVar(&o.Sort, "sort", false, "sort rows by item and time")
	flags.StringVar(&o.Duplicates, "duplicates", "",
		"of rows with one item and time keep the first, the last or their mean")
	flags.StringVar(&f.maxDuplicates, "max-duplicates", "",
		"the largest `share` of rows that --duplicates may leave out (default: 0.5)")
	flags.StringVar(&f.regrid, "regrid", "",
		"insert the rows that lack on a grid of this `step`, as 1h")
}

// apply sets the options that were given.
func (f *rowFlags) apply(o *ingest.Options) error {
	if f.where != nil {
		if len(f.where) != 2 {
			return fmt.Errorf("--where: got %q, want two times as 2016-07-01,2017-07-01",
				strings.Join(f.where, ","))
		}
		o.Where = &ingest.Where{}
		for _, text := range f.where {
			bound, err := json.Marshal(timeOrNil(text))
			if err != nil {
				return err
			}
			o.Where.Time = append(o.Where.Time, bound)
		}
	}
	if f.items != "" {
		var err error
		if o.Items, err = parseItems(f.items); err != nil {
			return err
		}
	}
	if f.maxDuplicates != "" {
		share, err := parseNumber(f.maxDuplicates)
		if err != nil {
			return fmt.Errorf("--max-duplicates: %w", err)
		}
		o.MaxDuplicates = &share
	}
	if f.regrid != "" {
		step, err := json.Marshal(timeOrNil(f.regrid))
		if err != nil {
			return err
		}
		o.Regrid = step
	}
	return nil
}

// parseNumber parses a finite number.
func parseNumber(text string) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("got %q, want a number", text)
	}
	return v, nil
}

// parseItems parses a,b or a JSON list. The daemon compares a text between commas as a number if
// the items are numbers.
func parseItems(text string) (items []json.RawMessage, err error) {
	if strings.HasPrefix(text, "[") {
		if err := json.Unmarshal([]byte(text), &items); err != nil {
			return nil, fmt.Errorf("--items: %q is not a JSON list: %w", text, err)
		}
		return items, nil
	}
	for _, name := range strings.Split(text, ",") {
		item, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return items, nil
}
