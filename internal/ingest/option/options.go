// Package option defines the options of a load as users write them: their JSON, what is allowed, and the
// recipe, which is the same bytes for equal options.
//
// The zero value of every option is the default. [Options.Validate] checks what can be known without the
// sources.
package option

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/layout"
)

// Options are the load options of docs/HTTP.md. The zero value of each means the default.
type Options struct {
	// Sources are absolute paths of files and folders. Their rows follow each other in this order, those of a folder's files by path.
	Sources []string `json:"sources,omitempty"`
	// Columns are the value columns to keep, in this order; none means all. The item and time columns are kept anyway.
	Columns []string `json:"columns,omitempty"`
	// ItemID are the columns that name a row's item.
	ItemID []string `json:"item_id,omitempty"`
	// Time is the column that orders the rows of an item.
	Time string `json:"time,omitempty"`
	// DType is what columns are stored as; the zero value keeps what they are.
	DType DTypes `json:"dtype,omitzero"`
	// Layout is columns or packed; "" is columns.
	Layout string `json:"layout,omitempty"`
	// Fill, Clip, Log1p, Diff and Scale are the steps of value columns, done in this order.
	Fill  PerColumn[Fill]   `json:"fill,omitzero"`
	Clip  PerColumn[Clip]   `json:"clip,omitzero"`
	Log1p PerColumn[bool]   `json:"log1p,omitzero"`
	Diff  PerColumn[bool]   `json:"diff,omitzero"`
	Scale PerColumn[string] `json:"scale,omitzero"` // standard, minmax, robust, maxabs, none
	// ScalePer is column (items are pooled) or item; "" is column. It holds for filling with means too.
	ScalePer string `json:"scale_per,omitempty"`
	// FitRows are the rows of each item that scalings and means are fitted on: half-open, negative from the item's end, nil open.
	FitRows *[2]*int64 `json:"fit_rows,omitempty"`
	// FitBefore, a time as JSON has it, ends these rows before it.
	FitBefore json.RawMessage `json:"fit_before,omitempty"`
	// FitFraction, above 0 and up to 1, ends these rows at a share of each item's.
	FitFraction *float64 `json:"fit_fraction,omitempty"`
	// FitSample draws so many of these rows (of each item where ScalePer is item), seeded with FitSeed; 0 takes all.
	FitSample int64 `json:"fit_sample,omitempty"`
	FitSeed   int64 `json:"fit_seed,omitempty"`
	// Calendar are features of the time column that become value columns.
	Calendar []string `json:"calendar,omitempty"`
	// Delimiter is what stands between the cells of text files; "" is a tab in .tsv files and a comma in all others.
	Delimiter string `json:"delimiter,omitempty"`
	// NoHeader tells that text files begin with values: their columns are named c0, c1, ….
	NoHeader bool `json:"no_header,omitempty"`
	// Decimal, "." or ",", is the decimal sign of text files; "" is ".".
	Decimal string `json:"decimal,omitempty"`
	// NA are words of text files that stand for no value, beside the empty cell, NA, NaN, nan, null and None.
	NA []string `json:"na,omitempty"`
	// TimeFormat says how text files write the time column, in the signs of strptime, as %d/%m/%Y %H:%M; %s is seconds since 1970. "" is ISO 8601,
	// or integers.
	TimeFormat string `json:"time_format,omitempty"`
	// Where keeps rows by their time.
	Where *Where `json:"where,omitempty"`
	// Items are the items to keep: a text or a whole number each, a list of them where several columns name an item; nil keeps all.
	Items []json.RawMessage `json:"items,omitempty"`
	// ItemBucket, as "3/16", keeps the items whose name's xxHash64 leaves 3 when it is divided by 16.
	ItemBucket string `json:"item_bucket,omitempty"`
	// Melt makes of every column but the time a series: their names are the column item, their values the column value. Columns names the
	// series then.
	Melt bool `json:"melt,omitempty"`
	// Sort sorts the rows by item, in the order of their first rows, and time.
	Sort bool `json:"sort,omitempty"`
	// Duplicates, first, last or mean, says what is kept of rows with the same item and time; "" refuses them.
	Duplicates string `json:"duplicates,omitempty"`
	// Regrid, a duration like "1h" or an integer in units of the time column, inserts the rows that are missing on a grid of that
	// step from each item's first time on.
	Regrid json.RawMessage `json:"regrid,omitempty"`
	// HashSources compares sources by what they hold, instead of by the time of their last change, and keeps their hashes for
	// later. It is no part of the recipe.
	HashSources bool `json:"hash_sources,omitempty"`
	// Reach is which files may be sources: who serves the load says so, never who asks for it.
	Reach files.Reach `json:"-"`
}

// Validate checks what can be known without the sources. The error is an [OptionError].
func (o Options) Validate() error {
	if err := o.DType.validate(); err != nil {
		return err
	}
	if err := oneOf("layout", o.Layout, layout.Columns, layout.Packed); err != nil {
		return err
	}
	if err := o.validateSteps(); err != nil {
		return err
	}
	if err := o.validateText(); err != nil {
		return err
	}
	if err := o.validateMelt(); err != nil {
		return err
	}
	for field, names := range map[string][]string{"columns": o.Columns, "item_id": o.ItemID} {
		if err := distinct(field, names); err != nil {
			return err
		}
	}
	if o.Time != "" && slices.Contains(o.ItemID, o.Time) {
		return &loaderr.OptionError{Field: "time", Value: o.Time, Allowed: "a column that is not an item_id column too"}
	}
	return o.validateRows()
}

func oneOf(field, value string, allowed ...string) error {
	if value == "" || slices.Contains(allowed, value) {
		return nil
	}
	return &loaderr.OptionError{Field: field, Value: value, Allowed: strings.Join(allowed, " or ")}
}

func distinct(field string, names []string) error {
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		if name == "" {
			return &loaderr.OptionError{Field: field, Allowed: "names that are not empty"}
		}
		if seen[name] {
			return &loaderr.OptionError{Field: field, Value: name, Allowed: "each column once"}
		}
		seen[name] = true
	}
	return nil
}

// Recipe is the options without their sources as canonical JSON: equal recipes are equal bytes.
func (o Options) Recipe() (json.RawMessage, error) {
	keys := o.Reach.Partitions(o.Sources)
	o.Sources, o.HashSources = nil, false
	if o.Layout == "" {
		o.Layout = layout.Columns
	}
	if o.IsFitted() && o.ScalePer == "" {
		o.ScalePer = ScalePerColumn
	}
	o.Delimiter = delimiter(o.Delimiter)
	if o.Decimal == "." {
		o.Decimal = ""
	}
	o.NA = slices.Sorted(slices.Values(o.NA))
	if r := o.FitRows; r != nil && (r[0] == nil || *r[0] == 0) && r[1] == nil {
		o.FitRows = nil
	}
	if f := o.FitFraction; f != nil && *f == 1 {
		o.FitFraction = nil
	}
	o.Scale = canonicalScale(o.Scale)
	features, err := o.CalendarColumns()
	if err != nil {
		return nil, err
	}
	o.Calendar = nil
	for _, c := range features {
		o.Calendar = append(o.Calendar, c.Name)
	}
	if err := o.canonicalRows(); err != nil {
		return nil, err
	}
	return json.Marshal(struct {
		Options
		Partitions []string `json:"partitions,omitempty"`
	}{o, keys})
}

// Where are bounds on the rows that a load keeps.
type Where struct {
	// Time is [from, to): RFC 3339, a date or an integer each, as the bounds of a window spec; null is open.
	Time []json.RawMessage `json:"time,omitempty"`
}

// Filters reports whether an option leaves rows out.
func (o Options) Filters() bool { return o.Where != nil || o.Items != nil || o.ItemBucket != "" }
