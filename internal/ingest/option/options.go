// Package option defines the options of a load as users write them: their JSON, what is allowed,
// and the recipe, which is the same bytes for equal options.
//
// The zero value of every option is the default. [Options.Validate] checks what can be checked
// without the sources. The option of a step has a file of its own; steps.go lists them all.
package option

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/origin"
	"github.com/tensorcache/tensorcache/layout"
)

// Options are the load options of docs/HTTP.md. The zero value of each is its default.
type Options struct {
	// Sources are absolute paths of files and folders. Rows are in the order of the sources; those
	// of a folder are in the order of its files' paths.
	Sources []string `json:"sources,omitempty"`
	// Columns are the value columns to load, in this order; none means all. The item and time
	// columns are loaded anyway.
	Columns []string `json:"columns,omitempty"`
	// ItemID are the columns that name a row's item.
	ItemID []string `json:"item_id,omitempty"`
	// Time is the column that orders the rows of an item.
	Time string `json:"time,omitempty"`
	// TimeParts are the columns of year, month, day, hour, minute and second, or the first of
	// these. They make the column Time, whose name is time without one.
	TimeParts []string `json:"time_parts,omitempty"`
	// DType are the dtypes that columns are stored as.
	DType DTypes `json:"dtype,omitzero"`
	// Layout is columns, packed, or auto, which is one of these two ([Options.LayoutOf]); "" is columns.
	Layout string `json:"layout,omitempty"`
	// Fill, Clip, Log1p, Diff, Winsorize and Scale are the steps of value columns, applied in this
	// order.
	Fill      PerColumn[Fill]      `json:"fill,omitzero"`
	Clip      PerColumn[Clip]      `json:"clip,omitzero"`
	Log1p     PerColumn[bool]      `json:"log1p,omitzero"`
	Diff      PerColumn[bool]      `json:"diff,omitzero"`
	Winsorize PerColumn[Winsorize] `json:"winsorize,omitzero"`
	Scale     PerColumn[string]    `json:"scale,omitzero"` // standard, minmax, robust, maxabs, none
	// ScalePer is column, for one fit of all items, or item, for one fit of each; "" is column. It
	// also applies to the means of fill and to the bounds of winsorize.
	ScalePer string `json:"scale_per,omitempty"`
	// FitRows are the rows of each item that steps are fitted to: half-open, negative from the
	// item's end, nil for an open end.
	FitRows *[2]*int64 `json:"fit_rows,omitempty"`
	// FitBefore ends these rows before a time, in JSON as the bounds of a window spec.
	FitBefore json.RawMessage `json:"fit_before,omitempty"`
	// FitFraction ends these rows at a fraction of each item's rows, above 0 and up to 1.
	FitFraction *float64 `json:"fit_fraction,omitempty"`
	// FitSample is the number of these rows that are drawn at random, with FitSeed, of all items
	// together or of each item if ScalePer is item; 0 takes all.
	FitSample int64 `json:"fit_sample,omitempty"`
	FitSeed   int64 `json:"fit_seed,omitempty"`
	// Calendar are features of the time column that become value columns.
	Calendar []string `json:"calendar,omitempty"`
	// Encoding is that of text files, such as cp1252; "" is the one that the load finds.
	Encoding string `json:"encoding,omitempty"`
	// Delimiter separates the cells of text files; "" is the one that the load finds.
	Delimiter string `json:"delimiter,omitempty"`
	// NoHeader is true if text files begin with values. Their columns are named c0, c1, ….
	NoHeader bool `json:"no_header,omitempty"`
	// Decimal, "." or ",", is the decimal mark of text files; "" is the one that the load finds.
	Decimal string `json:"decimal,omitempty"`
	// Thousands is the sign between thousands in the numbers of text files: , . ' ’ _ or a blank, which
	// stands for no-break spaces too. "" is none.
	Thousands string `json:"thousands,omitempty"`
	// Skip is the number of lines of text files before the header, or before the values without one.
	Skip int64 `json:"skip,omitempty"`
	// Comment is the sign that begins lines of text files to skip; "" is none.
	Comment string `json:"comment,omitempty"`
	// NA are words of text files for a missing value, besides the empty cell, NA, NaN, nan, null
	// and None.
	NA []string `json:"na,omitempty"`
	// TimeFormat is the format of the time column of text files, in the directives of strptime, as
	// %d/%m/%Y %H:%M; %s is seconds since 1970. "" is ISO 8601, days with the year
	// first, or integers.
	TimeFormat string `json:"time_format,omitempty"`
	// Where selects rows by their time.
	Where *Where `json:"where,omitempty"`
	// Items are the items to load: a text or an integer each, or a list of them if several columns
	// name an item; nil loads all.
	Items []json.RawMessage `json:"items,omitempty"`
	// ItemBucket, as "3/16", loads the items whose name has an xxHash64 that is 3 modulo 16.
	ItemBucket string `json:"item_bucket,omitempty"`
	// Melt makes an item of every column, or of every row. Columns then names the columns of
	// values.
	Melt Melt `json:"melt,omitempty"`
	// Sort sorts the rows by item, in the order of their first rows, and time.
	Sort bool `json:"sort,omitempty"`
	// Duplicates selects the row to load if several have the same item and time: first, last, or
	// mean, their average. "" refuses such rows.
	Duplicates string `json:"duplicates,omitempty"`
	// MaxDuplicates is the largest share of rows that Duplicates may leave out, from 0 to 1; nil is
	// [DefaultMaxDuplicates].
	MaxDuplicates *float64 `json:"max_duplicates,omitempty"`
	// Regrid, a duration like "1h" or an integer in units of the time column, inserts the rows that
	// are missing on a grid of that step, which begins at each item's first time.
	Regrid json.RawMessage `json:"regrid,omitempty"`
	// HashSources compares sources by their content instead of their time of last change, and
	// stores their hashes. It is not part of the recipe.
	HashSources bool `json:"hash_sources,omitempty"`
	// Origins are set if the sources are files that a client staged: one for each file. It is not
	// part of the recipe.
	Origins origin.Files `json:"origins,omitempty"`
	// AllowedRoots limits which files may be sources. The daemon sets it, never a request.
	AllowedRoots files.AllowedRoots `json:"-"`
}

// Validate checks what can be checked without the sources. The error is a [loaderr.OptionError].
func (o Options) Validate() error {
	o = o.WithTimeName()
	if err := o.validateTimeParts(); err != nil {
		return err
	}
	if err := o.DType.validate(); err != nil {
		return err
	}
	if err := o.Origins.Validate(); err != nil {
		return err
	}
	if len(o.Origins) > 0 && o.HashSources {
		return &loaderr.OptionError{Field: "hash_sources", Value: "true",
			Bare: true, Allowed: "false for remote files", Hint: "their ETags are compared"}
	}
	if err := oneOf("layout", o.Layout, layout.Columns, layout.Packed, AutoLayout); err != nil {
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
	if err := o.CheckTimeIsNoItem(); err != nil {
		return err
	}
	return o.validateRows()
}

// CheckTimeIsNoItem refuses a time column that names the items, too.
func (o Options) CheckTimeIsNoItem() error {
	if o.Time != "" && slices.Contains(o.ItemID, o.Time) {
		return &loaderr.OptionError{Field: "time", Value: o.Time,
			Allowed: "a column that is not an item_id column too"}
	}
	return nil
}

// oneOf refuses a value that is neither "" nor allowed.
func oneOf(field, value string, allowed ...string) error {
	if value == "" || slices.Contains(allowed, value) {
		return nil
	}
	return &loaderr.OptionError{Field: field, Value: value, Allowed: strings.Join(allowed, " or ")}
}

// distinct refuses names that are empty or given twice.
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

// Recipe returns the options without their sources as canonical JSON, which is the same bytes for
// equal options.
func (o Options) Recipe() (json.RawMessage, error) {
	keys := o.AllowedRoots.Partitions(o.Sources)
	o = o.WithTimeName()
	o.Sources, o.HashSources, o.Origins = nil, false, nil
	if o.Layout == "" {
		o.Layout = layout.Columns
	}
	if o.IsFitted() && o.ScalePer == "" {
		o.ScalePer = ScalePerColumn
	}
	o.Encoding, o.Delimiter = encoding(o.Encoding), delimiter(o.Delimiter)
	o.NA = slices.Sorted(slices.Values(o.NA))
	if r := o.FitRows; r != nil && (r[0] == nil || *r[0] == 0) && r[1] == nil {
		o.FitRows = nil
	}
	if f := o.FitFraction; f != nil && *f == 1 {
		o.FitFraction = nil
	}
	if most := o.MaxDuplicates; most != nil && *most == DefaultMaxDuplicates {
		o.MaxDuplicates = nil
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
