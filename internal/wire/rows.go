package wire

// Rows answers GET /v1/datasets/{name}/rows: the rows [From, To) of an item or of the dataset,
// which has Count rows. A value is a number, a boolean, a text or a time (RFC 3339); a list of them
// in a column of shape [rows, n]; and nil if it is missing. Infinite values are the texts
// "Infinity" and "-Infinity", because JSON has no numbers for them.
type Rows struct {
	Columns []string `json:"columns"`
	Rows    [][]any  `json:"rows"`
	From    int64    `json:"from"`
	To      int64    `json:"to"`
	Count   int64    `json:"count"`
}
