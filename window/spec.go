package window

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// ErrSpec is wrapped by every [SpecError].
var ErrSpec = errors.New("invalid window spec")

// SpecError is returned for an invalid spec, where or split. It names the field, its value, and
// what is allowed.
type SpecError struct {
	Field   string `json:"field"`
	Value   string `json:"value"` // as JSON, or a text; [Missing] or "" if there is none
	Allowed string `json:"allowed"`
}

// Missing is the Value of a [SpecError] for a required field that is not given.
const Missing = "(missing)"

func (e *SpecError) Error() string {
	if e.Value == Missing {
		return fmt.Sprintf("%s: missing, want %s", e.Field, e.Allowed)
	}
	if e.Value == "" {
		return fmt.Sprintf("%s: want %s", e.Field, e.Allowed)
	}
	return fmt.Sprintf("%s: got %s, want %s", e.Field, quoted(e.Value), e.Allowed)
}

// quoted returns a text in quotes. JSON, which may be cut off, stays as it is.
func quoted(value string) string {
	_, err := strconv.ParseFloat(value, 64)
	isJSON := err == nil || json.Valid([]byte(value)) || strings.Contains(`[{"`, value[:1])
	if isJSON && !strings.ContainsAny(value, "\n\r") {
		return value
	}
	return strconv.Quote(value)
}

// Unwrap makes errors.Is(err, ErrSpec) true.
func (e *SpecError) Unwrap() error { return ErrSpec }

// Values of Spec.Anchor. The zero value means AnchorStart.
const (
	AnchorStart = "start"
	AnchorEnd   = "end"
)

// Spec says which windows to use. In JSON it is one object. The zero value of a field is its
// default, except for ContextLength, which is required.
type Spec struct {
	ContextLength    int64 // context rows, at least 1
	PredictionLength int64 // rows to predict; 0 means windows that consist of a context alone
	Gap              int64 // rows between context and prediction rows
	Overlap          int64 // rows before the prediction rows that the target includes
	Stride           int64 // rows from the start of a window to the start of the next; 0 means 1
	Dilation         int64 // rows from a sample of a window to the next; 0 means 1
	Anchor           string
	MinContext       *int64      // least context rows without padding; nil means ContextLength
	Rows             *Bounds     // rows of each item that windows may use
	Time             *TimeBounds // the same by time; excludes Rows
	MaxStep          *Step       // largest step in time between neighbouring rows; nil allows any
	MaxMissing       MaxMissing  // largest share of missing cells
	CountFilled      bool        // filled values count as missing

	// Columns and the form in which batches have them. An Index does not use these fields.
	Columns        []string
	ContextColumns []string
	TargetColumns  []string
	KnownColumns   []string // "calendar" is all calendar columns, unless a column is named so
	StaticColumns  []string
	DType          DType
	MissingValue   *float64
	PadValue       float64 // value of padded samples of all parts but static; NaN for floats only
}

// DType is the name of the dtype of a batch's parts. The zero value means float32.
type DType string

// AsStored is the dtype of each column as it is stored. In JSON it is null.
const AsStored DType = "as stored"

// Name returns the name of the dtype, "float32" for the zero value and "" for AsStored.
func (d DType) Name() string {
	switch d {
	case "":
		return "float32"
	case AsStored:
		return ""
	}
	return string(d)
}

// MaxMissing is the largest share of missing cells that a window may have. The zero value admits no
// missing cells.
type MaxMissing struct {
	Share float64
	Any   bool // admit all windows; null in JSON
}

// maxLength is the largest length in rows. Sums of two lengths do not overflow int64.
const maxLength = 1 << 61

// Validate returns a *SpecError if the spec is invalid.
func (s Spec) Validate() error {
	if err := s.validateLengths(); err != nil {
		return err
	}
	switch {
	case s.Anchor != "" && s.Anchor != AnchorStart && s.Anchor != AnchorEnd:
		return &SpecError{"anchor", strconv.Quote(s.Anchor), `"start" or "end"`}
	case s.Rows != nil && s.Time != nil:
		return &SpecError{"time", s.Time.String(), "either rows or time, not both"}
	case !(s.MaxMissing.Share >= 0 && s.MaxMissing.Share <= 1):
		return &SpecError{"max_missing", fmt.Sprint(s.MaxMissing.Share),
			"a share from 0 to 1, or null for any"}
	case s.MissingValue != nil && math.IsInf(*s.MissingValue, 0):
		return &SpecError{"missing_value", fmt.Sprint(*s.MissingValue),
			"a finite number, or null for NaN"}
	case math.IsInf(s.PadValue, 0):
		return &SpecError{"pad_value", fmt.Sprint(s.PadValue), "a finite number, or null for NaN"}
	}
	if err := s.Rows.validate("rows"); err != nil {
		return err
	}
	if err := s.Time.validate("time"); err != nil {
		return err
	}
	if err := s.MaxStep.validate(); err != nil {
		return err
	}
	return s.validateColumns()
}

func (s Spec) validateLengths() error {
	num := func(field string, v, least int64) error {
		if v >= least && v <= maxLength {
			return nil
		}
		allowed := lengthAllowed(least)
		if v > maxLength {
			allowed += fmt.Sprintf(" to %d", int64(maxLength))
		}
		return &SpecError{field, strconv.FormatInt(v, 10), allowed}
	}
	for _, f := range []struct {
		name  string
		value int64
		least int64
	}{
		{"context_length", s.ContextLength, 1},
		{"prediction_length", s.PredictionLength, 0},
		{"gap", s.Gap, 0},
		{"overlap", s.Overlap, 0},
		{"stride", s.stride(), 1},
		{"dilation", s.dilation(), 1},
	} {
		if err := num(f.name, f.value, f.least); err != nil {
			return err
		}
	}
	if m := s.MinContext; m != nil && (*m < 0 || *m > s.ContextLength) {
		return &SpecError{"min_context", strconv.FormatInt(*m, 10),
			fmt.Sprintf("a whole number from 0 to context_length %d", s.ContextLength)}
	}
	if s.PredictionLength == 0 {
		for _, f := range []struct {
			name  string
			value int64
		}{{"gap", s.Gap}, {"overlap", s.Overlap}} {
			if f.value != 0 {
				return &SpecError{f.name, strconv.FormatInt(f.value, 10),
					"0, because prediction_length is 0"}
			}
		}
	}
	if most := s.ContextLength + s.Gap; s.Overlap > most { // both are at most maxLength
		return &SpecError{"overlap", strconv.FormatInt(s.Overlap, 10),
			fmt.Sprintf("at most context_length + gap = %d", most)}
	}
	total := s.ContextLength + s.Gap
	if total <= maxLength {
		total += s.PredictionLength
	}
	if total > maxLength {
		return &SpecError{"context_length", strconv.FormatInt(s.ContextLength, 10),
			fmt.Sprintf("context_length + gap + prediction_length of at most %d", int64(maxLength))}
	}
	if s.dilation() > maxLength/total {
		return &SpecError{"dilation", strconv.FormatInt(s.dilation(), 10),
			fmt.Sprintf("a window of at most %d rows: dilation of at most %d", int64(maxLength),
				int64(maxLength)/total)}
	}
	return nil
}

func lengthAllowed(least int64) string {
	return fmt.Sprintf("a whole number from %d", least)
}

func (s Spec) stride() int64   { return orOne(s.Stride) }
func (s Spec) dilation() int64 { return orOne(s.Dilation) }

func orOne(v int64) int64 {
	if v == 0 {
		return 1
	}
	return v
}

// validateColumns refuses columns that one role names twice, or that two roles name that exclude
// each other.
func (s Spec) validateColumns() error {
	known, static := role{"known_columns", s.KnownColumns}, role{"static_columns", s.StaticColumns}
	both, context, target := role{"columns", s.Columns}, role{"context_columns", s.ContextColumns},
		role{"target_columns", s.TargetColumns}
	for _, r := range []role{both, context, target, known, static} {
		seen := make(map[string]bool, len(r.names))
		for _, name := range r.names {
			if name == "" || seen[name] {
				return &SpecError{r.field, strconv.Quote(name),
					"names that are not empty, each once"}
			}
			seen[name] = true
		}
	}
	if s.PredictionLength == 0 && s.TargetColumns != nil {
		return &SpecError{target.field, mustJSON(s.TargetColumns),
			"none, because prediction_length is 0"}
	}
	if err := known.checkDisjoint(target); err != nil { // known columns are not predicted
		return err
	}
	for _, r := range []role{both, context, target, known} { // one value per item
		if err := static.checkDisjoint(r); err != nil {
			return err
		}
	}
	return nil
}

// role is a list of columns in a spec.
type role struct {
	field string
	names []string
}

// checkDisjoint refuses a column that another role names too.
func (r role) checkDisjoint(other role) error {
	if len(r.names) == 0 {
		return nil
	}
	others := make(map[string]bool, len(other.names))
	for _, name := range other.names {
		others[name] = true
	}
	for _, name := range r.names {
		if others[name] {
			return &SpecError{r.field, strconv.Quote(name),
				"columns that are not in " + other.field}
		}
	}
	return nil
}
