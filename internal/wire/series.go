package wire

// Series answers GET /v1/datasets/{name}/series: the rows [From, To) of an item in as many buckets
// as points were asked for, or one for each row where these are fewer. Row is the first row of each
// bucket, Time its time as a number in Unit; without a time column there is neither.
type Series struct {
	Code   int64           `json:"code"`
	Item   any             `json:"item"`
	Rows   int64           `json:"rows"` // of the whole item
	From   int64           `json:"from"`
	To     int64           `json:"to"`
	Row    []int64         `json:"row"`
	Time   []int64         `json:"time,omitempty"`
	Unit   string          `json:"unit,omitempty"`
	Series []FeatureSeries `json:"series"`
}

// FeatureSeries is one feature. Of the values of a bucket, Min is the least, Max the greatest and
// Missing how many are missing; both are nil where all are. Booleans are 0 and 1, texts the
// codes of their words, times and durations numbers in their unit; infinities are as in [Rows].
type FeatureSeries struct {
	Column  string  `json:"column"` // as in Features: a column of shape [rows, n] is a[0], a[1], …
	Min     []any   `json:"min"`
	Max     []any   `json:"max"`
	Missing []int64 `json:"missing"`
}
