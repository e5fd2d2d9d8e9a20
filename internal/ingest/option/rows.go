package option

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/timezone"
	"github.com/tensorcache/tensorcache/window"
)

// Values of [Options.Duplicates].
const (
	DuplicatesFirst = "first"
	DuplicatesLast  = "last"
	DuplicatesMean  = "mean"
)

// DefaultMaxDuplicates is the share of rows that [Options.Duplicates] may leave out by default. More
// are likely several items that no option tells apart.
const DefaultMaxDuplicates = 0.5

// MostDuplicates returns the largest share of rows that Duplicates may leave out.
func (o Options) MostDuplicates() float64 {
	if o.MaxDuplicates == nil {
		return DefaultMaxDuplicates
	}
	return *o.MaxDuplicates
}

// validateRows checks the options that select, order and insert rows.
func (o Options) validateRows() error {
	needTime := map[string]bool{"where": o.Where != nil, "duplicates": o.Duplicates != "",
		"regrid": len(o.Regrid) > 0}
	for field, given := range needTime {
		if given && o.Time == "" {
			return &loaderr.OptionError{Field: field, Allowed: "it only together with time"}
		}
	}
	for field, given := range map[string]bool{"items": o.Items != nil,
		"item_bucket": o.ItemBucket != ""} {
		if given && o.idColumns() == 0 {
			return &loaderr.OptionError{Field: field, Allowed: "it only together with item_id"}
		}
	}
	if o.Sort && o.Time == "" && o.idColumns() == 0 {
		return &loaderr.OptionError{Field: "sort", Allowed: "it only together with time or item_id"}
	}
	if o.Items != nil && len(o.Items) == 0 {
		return &loaderr.OptionError{Field: "items", Allowed: "at least one item"}
	}
	for _, raw := range o.Items {
		if _, err := ItemParts(raw, o.idColumns()); err != nil {
			return err
		}
	}
	if err := oneOf("duplicates", o.Duplicates, DuplicatesFirst, DuplicatesLast,
		DuplicatesMean); err != nil {
		return err
	}
	if most := o.MaxDuplicates; most != nil {
		if o.Duplicates == "" {
			return &loaderr.OptionError{Field: "max_duplicates",
				Allowed: "it only together with duplicates"}
		}
		if !(*most >= 0 && *most <= 1) {
			return &loaderr.OptionError{Field: "max_duplicates", Value: fmt.Sprint(*most),
				Bare: true, Allowed: "a share of the rows, from 0 to 1"}
		}
	}
	if _, _, err := ParseBucket(o.ItemBucket); err != nil {
		return err
	}
	if _, err := o.RegridStep(); err != nil {
		return err
	}
	_, err := o.Where.times()
	return err
}

// idColumns returns the number of columns that name an item. With melt, it is at least one.
func (o Options) idColumns() int {
	if o.Melt != "" {
		return max(1, len(o.ItemID))
	}
	return len(o.ItemID)
}

// RegridStep returns the step of regrid, nil without regrid.
func (o Options) RegridStep() (*window.Step, error) {
	if len(o.Regrid) == 0 {
		return nil, nil
	}
	const allowed = `a positive duration like "1h", "15min" or "1d", or a positive integer in units of the time column`
	var s window.Step
	if err := s.UnmarshalJSON(o.Regrid); err != nil || s == (window.Step{}) ||
		strings.HasPrefix(s.String(), "-") {
		return nil, (&loaderr.OptionError{Field: "regrid", Allowed: allowed}).WithJSON(o.Regrid)
	}
	return &s, nil
}

// times returns the bounds of where; nil is an open one.
func (w *Where) times() (out [2]*window.TimeValue, err error) {
	if w == nil {
		return out, nil
	}
	if len(w.Time) != 2 {
		text, _ := json.Marshal(w.Time) // JSON that was read
		return out, &loaderr.OptionError{
			Field: "where", Value: string(text), Bare: true,
			Allowed: `{"time": [from, to]}, either null`,
		}
	}
	for i, raw := range w.Time {
		if out[i], err = ReadTime("where", raw); err != nil {
			return out, err
		}
	}
	return out, nil
}

// ReadTime parses a time bound of an option, nil if raw is empty. The error is a
// [loaderr.OptionError].
func ReadTime(field string, raw json.RawMessage) (t *window.TimeValue, err error) {
	if len(raw) == 0 {
		return nil, nil
	}
	if json.Unmarshal(raw, &t) != nil {
		return nil, (&loaderr.OptionError{Field: field,
			Allowed: `a time like "2016-07-01T00:00:00Z", a date, a month, or an integer`}).WithJSON(raw)
	}
	return t, nil
}

// TimeBound converts a time bound to the unit of the time column c, rounded so that time ≥ t and
// time < t select the same rows. The error is a [loaderr.OptionError].
func TimeBound(c column.Column, field string, t window.TimeValue) (int64, error) {
	unit := ""
	if c.Kind == column.KindTime {
		unit = c.Unit
	}
	t, err := t.InZone(field, unit, timezone.OfColumn(c.Zone))
	var at int64
	if err == nil {
		at, err = t.In(field, unit)
	}
	return at, asOptionError(err)
}

// asOptionError converts the error of a bound to that of an option.
func asOptionError(err error) error {
	if e := (*window.SpecError)(nil); errors.As(err, &e) {
		return &loaderr.OptionError{Field: e.Field, Value: e.Value, Allowed: e.Allowed,
			Bare: json.Valid([]byte(e.Value))}
	}
	return err
}

// WithInstants returns the options with the times of where and fit_before as instants, given the
// unit and the zone of the time column; see [window.TimeValue.InZone]. Unit is "" for integers. The
// error is a [loaderr.OptionError].
func (o Options) WithInstants(unit, zone string) (Options, error) {
	convert := func(field string, raw json.RawMessage) (json.RawMessage, error) {
		t, err := ReadTime(field, raw)
		if t == nil || err != nil {
			return raw, err
		}
		at, err := t.InZone(field, unit, timezone.OfColumn(zone))
		if err != nil {
			return nil, asOptionError(err)
		}
		return json.Marshal(at)
	}
	var err error
	if o.FitBefore, err = convert("fit_before", o.FitBefore); err != nil || o.Where == nil {
		return o, err
	}
	where := &Where{Time: make([]json.RawMessage, len(o.Where.Time))}
	for i, raw := range o.Where.Time {
		if where.Time[i], err = convert("where", raw); err != nil {
			return o, err
		}
	}
	o.Where = where
	return o, nil
}

// Bounds returns the first and the last time of the rows that where selects, in the time column's
// unit. No row has both if last < first.
func (w *Where) Bounds(clock column.Column) (first, last int64, err error) {
	first, last = math.MinInt64, math.MaxInt64
	times, err := w.times()
	if err != nil {
		return 0, 0, err
	}
	if times[0] != nil {
		if first, err = TimeBound(clock, "where", *times[0]); err != nil {
			return 0, 0, err
		}
	}
	if times[1] != nil {
		end, err := TimeBound(clock, "where", *times[1])
		if err != nil {
			return 0, 0, err
		}
		if end == math.MinInt64 {
			return 0, -1, nil // no time is before that
		}
		last = end - 1
	}
	return first, last, nil
}

// canonicalRows brings the options that select rows or have times into a form that is the same for
// equal options.
func (o *Options) canonicalRows() error {
	if times, err := o.Where.times(); err != nil {
		return err
	} else if times[0] == nil && times[1] == nil {
		o.Where = nil
	} else {
		o.Where = &Where{Time: make([]json.RawMessage, 2)}
		for i, t := range times {
			if o.Where.Time[i], err = json.Marshal(t); err != nil {
				return err
			}
		}
	}
	if before, err := ReadTime("fit_before", o.FitBefore); err != nil {
		return err
	} else if before == nil {
		o.FitBefore = nil
	} else if o.FitBefore, err = json.Marshal(before); err != nil {
		return err
	}
	if step, err := o.RegridStep(); err != nil {
		return err
	} else if step != nil {
		if o.Regrid, err = json.Marshal(step); err != nil {
			return err
		}
	}
	if part, parts, err := ParseBucket(o.ItemBucket); err != nil {
		return err
	} else if parts == 1 {
		o.ItemBucket = ""
	} else if parts > 0 {
		o.ItemBucket = fmt.Sprintf("%d/%d", part, parts)
	}
	var names []json.RawMessage
	for _, raw := range o.Items {
		parts, err := ItemParts(raw, o.idColumns())
		if err != nil {
			return err
		}
		names = append(names, AppendParts(nil, parts))
	}
	slices.SortFunc(names, func(a, b json.RawMessage) int { return bytes.Compare(a, b) })
	o.Items = slices.CompactFunc(names,
		func(a, b json.RawMessage) bool { return bytes.Equal(a, b) })
	return nil
}

// Where selects the rows of a load.
type Where struct {
	// Time is [from, to): RFC 3339, a date, a month or an integer each, as the bounds of a window spec; null
	// is an open end.
	Time []json.RawMessage `json:"time,omitempty"`
}

// Filters reports whether an option selects rows.
func (o Options) Filters() bool { return o.Where != nil || o.Items != nil || o.ItemBucket != "" }
