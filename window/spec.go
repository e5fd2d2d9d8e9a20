package window

import (
	"errors"
	"fmt"
	"math"
	"strconv"
)

// Errors of specs and cuts.
var (
	// ErrSpec is wrapped by every [SpecError]: a spec, where or split that cannot be.
	ErrSpec = errors.New("invalid window spec")
)

// SpecError names the field of a spec or cut that is refused, its value and what is allowed.
type SpecError struct {
	Field   string `json:"field"`
	Value   string `json:"value"` // [Missing] where there is none
	Allowed string `json:"allowed"`
}

// Missing is the value in a [SpecError] of a field that must be given and is not.
const Missing = "(missing)"

func (e *SpecError) Error() string {
	if e.Value == Missing {
		return fmt.Sprintf("%s: missing, want %s", e.Field, e.Allowed)
	}
	return fmt.Sprintf("%s: got %q, want %s", e.Field, e.Value, e.Allowed)
}

// Unwrap makes errors.Is(err, ErrSpec) true.
func (e *SpecError) Unwrap() error { return ErrSpec }

// Values of Spec.Anchor; "" is the start.
const (
	AnchorStart = "start"
	AnchorEnd   = "end"
)

// Spec says which windows are wanted; it is one JSON dictionary. The zero value of a field is its
// default, except ContextLength, which must be given.
type Spec struct {
	ContextLength    int64 // rows a window looks back over, at least 1
	PredictionLength int64 // rows to predict; 0 is a context-only window
	Gap              int64 // rows between the two
	Overlap          int64 // rows before the prediction rows that the target repeats
	Stride           int64 // rows between starts of neighbouring windows; 0 means 1
	Dilation         int64 // rows between samples inside a window; 0 means 1
	Anchor           string
	MinContext       *int64      // least real context rows; nil means ContextLength
	Rows             *Bounds     // rows of each item that may be used
	Time             *TimeBounds // the same by time; not together with Rows
	MaxStep          *Step       // largest step in time between neighbouring rows; nil means any
	MaxMissing       MaxMissing  // largest share of missing cells
	CountFilled      bool        // filled values count as missing

	// Column names and what is delivered: carried here, resolved elsewhere.
	Columns        []string
	ContextColumns []string
	TargetColumns  []string
	KnownColumns   []string
	StaticColumns  []string
	DType          DType
	MissingValue   *float64
}

// DType names the dtype a part is delivered in. The zero value means float32.
type DType string

// AsStored is dtype null: every part as it is stored.
const AsStored DType = "as stored"

// Name is the dtype with the default spelled out; "" when as stored.
func (d DType) Name() string {
	switch d {
	case "":
		return "float32"
	case AsStored:
		return ""
	}
	return string(d)
}

// MaxMissing is the largest share of missing cells a window may have. The zero value admits none.
type MaxMissing struct {
	Share float64
	Any   bool // admit all windows; null in JSON
}

// limit keeps every sum of two rows, spans or strides inside int64.
const maxLength = 1 << 61

// Validate says whether the spec can be; the error is a *SpecError.
func (s Spec) Validate() error {
	if err := s.validateLengths(); err != nil {
		return err
	}
	switch {
	case s.Anchor != "" && s.Anchor != AnchorStart && s.Anchor != AnchorEnd:
		return &SpecError{"anchor", s.Anchor, `"start" or "end"`}
	case s.Rows != nil && s.Time != nil:
		return &SpecError{"time", s.Time.String(), "either rows or time, not both"}
	case !(s.MaxMissing.Share >= 0 && s.MaxMissing.Share <= 1):
		return &SpecError{"max_missing", fmt.Sprint(s.MaxMissing.Share),
			"a share from 0 to 1, or null for any"}
	case s.MissingValue != nil && math.IsInf(*s.MissingValue, 0):
		return &SpecError{"missing_value", fmt.Sprint(*s.MissingValue),
			"a finite number, or null for NaN"}
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
		return &SpecError{field, strconv.FormatInt(v, 10), lengthAllowed(least)}
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
	if most := s.ContextLength + s.Gap; s.Overlap > most { // both are at most 2⁶¹
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
	return fmt.Sprintf("a whole number from %d to %d", least, int64(maxLength))
}

func (s Spec) stride() int64   { return orOne(s.Stride) }
func (s Spec) dilation() int64 { return orOne(s.Dilation) }

func orOne(v int64) int64 {
	if v == 0 {
		return 1
	}
	return v
}
