package layout

import (
	"encoding/json"
	"slices"
)

// ScaledOf says of which generation another one is a scaled copy. The steps of a column that is not
// in Columns, and its steps before the scaling if it is, are those of the load of that generation.
type ScaledOf struct {
	Dataset  string   `json:"dataset"`
	Digest   string   `json:"digest"` // of its generation
	Scale    string   `json:"scale"`  // standard, minmax, robust or maxabs
	ScalePer string   `json:"scale_per"`
	Columns  []string `json:"columns"` // those that were scaled
	// Part is what decides which rows belong to the windows that the scaling was fitted to: the
	// fields rows and time of their spec, and cuts.
	Part json.RawMessage `json:"part"`
	// FitRows lists the rows that the scaling was fitted to, as [MissingRows] of one cell.
	FitRows ListFile `json:"fit_rows"`
}

// IsOf reports whether it names a dataset. s may be nil.
func (s *ScaledOf) IsOf(dataset string) bool { return s != nil && s.Dataset == dataset }

// Has reports whether the copy scaled a column. s may be nil.
func (s *ScaledOf) Has(column string) bool {
	return s != nil && slices.Contains(s.Columns, column)
}
