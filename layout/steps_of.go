package layout

import (
	"encoding/json"
	"slices"
)

// StepsOf names the column whose steps the values of a column have, because a put sent the values of
// that column.
type StepsOf struct {
	Dataset string `json:"dataset"`
	Digest  string `json:"digest"` // of its generation
	Column  string `json:"column"`
	// Changed is true if the values are a part or a cast of those of the column. Their steps cannot
	// be undone then.
	Changed bool `json:"changed,omitempty"`
	// Fit are the options of the load that fitted the steps, see [Manifest.Fit]; nil if no step is
	// fitted.
	Fit map[string]json.RawMessage `json:"fit,omitempty"`
}

// PartOf names the column of a dataset of which the values of a column are a part or a cast.
type PartOf struct {
	Dataset string `json:"dataset"`
	Column  string `json:"column"`
}

// HasSteps reports whether a load changed the values of the column, of this dataset or another one.
func (c ManifestColumn) HasSteps() bool {
	return c.Prepared != nil || c.Scale != nil || c.StepsOf != nil
}

// NeedsSteps reports whether values of the column are unusable without their steps: inverse changes
// them, or a fit used other rows.
func (c ManifestColumn) NeedsSteps() bool {
	p := c.Prepared
	return c.Scale != nil || c.StepsOf != nil || p != nil && (p.Log1p || p.Diff || p.Winsorize != nil ||
		slices.Contains([]string{"mean", "backward", "linear"}, p.Fill))
}

// IsFitted reports whether a step of the column has numbers that a load found in the values.
func (c ManifestColumn) IsFitted() bool {
	return c.Scale != nil ||
		c.Prepared != nil && (c.Prepared.Winsorize != nil || c.Prepared.Fill == "mean")
}

// Fit returns the load options that say which rows the steps were fitted to: fit_rows, fit_before,
// fit_fraction, fit_sample and fit_seed. It is empty if all rows were used.
func (m *Manifest) Fit() map[string]json.RawMessage {
	var recipe map[string]json.RawMessage
	fit := map[string]json.RawMessage{}
	if json.Unmarshal(m.Recipe, &recipe) != nil {
		return fit // an earlier version wrote no recipe
	}
	for _, name := range []string{"fit_rows", "fit_before", "fit_fraction", "fit_sample", "fit_seed"} {
		if v, ok := recipe[name]; ok {
			fit[name] = v
		}
	}
	return fit
}
