package window

import (
	"encoding/json"
	"math"
	"strconv"
)

// ParseSpec reads a spec from JSON. It refuses unknown and repeated fields, and an invalid spec.
// The error is a *SpecError.
func ParseSpec(data []byte) (Spec, error) {
	var s Spec
	var length *int64
	fields := []objectField{
		into(&length, "context_length", orNull(readInt)),
		into(&s.PredictionLength, "prediction_length", readInt),
		into(&s.Gap, "gap", readInt),
		into(&s.Overlap, "overlap", readInt),
		into(&s.Stride, "stride", readPositive),
		into(&s.Dilation, "dilation", readPositive),
		into(&s.Anchor, "anchor", readAnchor),
		into(&s.MinContext, "min_context", orNull(readInt)),
		into(&s.Rows, "rows", orNull(readBounds)),
		into(&s.Time, "time", orNull(readTimeBounds)),
		into(&s.MaxStep, "max_step", orNull(readStep)),
		into(&s.MaxMissing, "max_missing", readMaxMissing),
		into(&s.CountFilled, "count_filled", readBool),
		into(&s.Columns, "columns", readNames),
		into(&s.ContextColumns, "context_columns", readNames),
		into(&s.TargetColumns, "target_columns", readNames),
		into(&s.KnownColumns, "known_columns", readNames),
		into(&s.StaticColumns, "static_columns", readNames),
		into(&s.DType, "dtype", readDType),
		into(&s.MissingValue, "missing_value", orNull(readFloat)),
		into(&s.PadValue, "pad_value", readPadValue),
	}
	if err := readObject(data, "spec", fields); err != nil {
		return Spec{}, err
	}
	if length == nil {
		return Spec{}, &SpecError{"context_length", Missing, lengthAllowed(1)}
	}
	s.ContextLength = *length
	if err := s.Validate(); err != nil {
		return Spec{}, err
	}
	return s, nil
}

// UnmarshalJSON is [ParseSpec], for specs inside other JSON objects.
func (s *Spec) UnmarshalJSON(data []byte) error {
	parsed, err := ParseSpec(data)
	if err == nil {
		*s = parsed
	}
	return err
}

// MarshalJSON writes the canonical form: fields in a fixed order, without defaults. Equal specs
// have equal bytes.
func (s Spec) MarshalJSON() ([]byte, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	var w objectWriter
	num := func(name string, v, byDefault int64) {
		if v != byDefault {
			w.put(name, strconv.FormatInt(v, 10))
		}
	}
	num("context_length", s.ContextLength, 0)
	num("prediction_length", s.PredictionLength, 0)
	num("gap", s.Gap, 0)
	num("overlap", s.Overlap, 0)
	num("stride", s.stride(), 1)
	num("dilation", s.dilation(), 1)
	if s.Anchor == AnchorEnd {
		w.put("anchor", `"end"`)
	}
	if s.MinContext != nil {
		num("min_context", *s.MinContext, s.ContextLength)
	}
	if !s.Rows.open() {
		w.marshal("rows", s.Rows)
	}
	if !s.Time.open() {
		w.marshal("time", s.Time)
	}
	if s.MaxStep != nil {
		w.marshal("max_step", s.MaxStep)
	}
	if s.MaxMissing != (MaxMissing{}) {
		w.marshal("max_missing", s.MaxMissing)
	}
	if s.CountFilled {
		w.put("count_filled", "true")
	}
	for _, list := range []struct {
		name  string
		names []string
		keep  bool // an empty list is not the default
	}{
		{"columns", s.Columns, true}, {"context_columns", s.ContextColumns, true},
		{"target_columns", s.TargetColumns, true},
		{"known_columns", s.KnownColumns, false}, {"static_columns", s.StaticColumns, false},
	} {
		if len(list.names) > 0 || list.keep && list.names != nil {
			w.marshal(list.name, list.names)
		}
	}
	switch s.DType {
	case "", "float32":
	case AsStored:
		w.put("dtype", "null")
	default:
		w.marshal("dtype", string(s.DType))
	}
	if s.MissingValue != nil && !math.IsNaN(*s.MissingValue) {
		w.marshal("missing_value", *s.MissingValue)
	}
	switch {
	case math.IsNaN(s.PadValue):
		w.put("pad_value", "null")
	case s.PadValue != 0:
		w.marshal("pad_value", s.PadValue)
	}
	return w.bytes()
}

// MarshalJSON writes the share, or null if Any is set.
func (m MaxMissing) MarshalJSON() ([]byte, error) {
	if m.Any {
		return []byte("null"), nil
	}
	return json.Marshal(m.Share)
}

func readPositive(field string, raw []byte) (int64, error) {
	v, err := readInt(field, raw)
	if err == nil && v < 1 {
		err = &SpecError{field, shorten(raw), "a whole number from 1"}
	}
	return v, err
}

func readAnchor(field string, raw []byte) (string, error) {
	v, err := readString(field, raw)
	if err == nil && v == "" {
		err = &SpecError{field, v, `"start" or "end"`}
	}
	return v, err
}

func readMaxMissing(field string, raw []byte) (MaxMissing, error) {
	if isNull(raw) {
		return MaxMissing{Any: true}, nil
	}
	v, err := readFloat(field, raw)
	if err != nil {
		return MaxMissing{}, &SpecError{field, shorten(raw), "a share from 0 to 1, or null for any"}
	}
	return MaxMissing{Share: v}, nil
}

func readPadValue(field string, raw []byte) (float64, error) {
	if isNull(raw) {
		return math.NaN(), nil
	}
	v, err := readFloat(field, raw)
	if err != nil {
		return 0, &SpecError{field, shorten(raw), "a number, or null for NaN"}
	}
	return v, nil
}

func readNames(field string, raw []byte) ([]string, error) {
	return readList(field, raw, readString)
}

func readDType(field string, raw []byte) (DType, error) {
	if isNull(raw) {
		return AsStored, nil
	}
	v, err := readString(field, raw)
	if err == nil && (v == "" || v == string(AsStored)) {
		err = &SpecError{field, v, "the name of a dtype, or null for as stored"}
	}
	return DType(v), err
}
