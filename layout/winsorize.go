package layout

// Winsorize are the fitted bounds that a load clipped a column's values at.
type Winsorize struct {
	// Quantiles are those of the bounds among the values in the fit rows, from 0 to 1.
	Quantiles [2]float64 `json:"quantiles"`
	Per       string     `json:"per"` // column: one bound per feature; item: per item and feature
	// Low and High are the bounds. They are NaN, in JSON null, for a fit without values: then
	// nothing was clipped.
	Low  Floats `json:"low"`
	High Floats `json:"high"`
}
