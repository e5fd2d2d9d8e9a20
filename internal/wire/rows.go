package wire

// Rows answers GET /v1/datasets/{name}/rows: the rows [From, To) of Count that the item, or the
// dataset, has. A value is a number, a boolean, a word or a time (RFC 3339), a list of them in
// a column of shape [rows, n], and nil where it is missing; what JSON has no number for is
// "Infinity" and "-Infinity".
type Rows struct {
	Columns []string `json:"columns"`
	Rows    [][]any  `json:"rows"`
	From    int64    `json:"from"`
	To      int64    `json:"to"`
	Count   int64    `json:"count"`
}
