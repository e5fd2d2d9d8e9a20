package layout

import (
	"encoding/json"
	"maps"
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
	// Fit says which rows the steps were fitted to, as [Manifest.Fit] of that generation returns it; nil
	// if no step is fitted.
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

// Fit returns the load options that say which rows the steps of a column were fitted to: fit_rows,
// fit_before, fit_fraction, fit_sample and fit_seed. They are those of this generation's load, or of the
// one that [StepsOf] names. Without one, all rows were used. If the column was scaled in a copy, they are
// those of the steps before the scaling, and part is the entry of [ScaledOf].
func (m *Manifest) Fit(column string) map[string]json.RawMessage {
	fit := map[string]json.RawMessage{}
	if c, err := m.Column(column); err == nil && c.StepsOf != nil {
		maps.Copy(fit, c.StepsOf.Fit)
	} else {
		copyFit(fit, m.Recipe)
	}
	if m.ScaledOf.Has(column) {
		fit["part"] = m.ScaledOf.Part
	}
	return fit
}

// copyFit copies the options about fit rows from a recipe. Earlier versions wrote no recipe.
func copyFit(to map[string]json.RawMessage, recipe json.RawMessage) {
	var options map[string]json.RawMessage
	if json.Unmarshal(recipe, &options) != nil {
		return
	}
	for _, name := range []string{"fit_rows", "fit_before", "fit_fraction", "fit_sample", "fit_seed"} {
		if v, ok := options[name]; ok {
			to[name] = v
		}
	}
}
